/** For tests of what is built with Changefeed. Without Redis, but for `startSandbox`. */
export { eventOf } from './event-of.js';
export type { EventParts } from './event-of.js';
export { fakeContext } from './fake-context.js';
export type { EffectState, FakeContext, FakeContextOptions, LogLine } from './fake-context.js';
export { runHandler, select } from './run-handler.js';
export type { HandlerRun, HandlerRuns, RunOutcome, Selected } from './run-handler.js';
export { startSandbox } from './start-sandbox.js';
export type { RunningSandbox } from './start-sandbox.js';
