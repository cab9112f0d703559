/** Sends one example event to a handler, as a test: it is in no log, and no receipt is kept of it. */
import { randomUUID } from 'node:crypto';
import { listsOf } from '../config/lists.js';
import type { Config } from '../config/schema.js';
import { digestOfOne } from '../delivery/summary.js';
import { messageOf, usage } from '../kit/errors.js';
import { NOTICE_TYPES, typesOf } from '../events/catalogue.js';
import { listOf } from '../events/envelope.js';
import { exampleEvent } from '../events/example.js';
import { compileSelection, readsWorkspace } from '../events/pattern.js';
import type { ChangeEvent } from '../events/types.js';
import type { HandlerContext, Subscription, TestOutcome } from '../delivery/handlers/handler.js';
import { isoTime, systemClock } from '../kit/clock.js';
import { silentLog } from '../kit/log.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';

/** What is sent as a test. */
export interface TestCall {
  /** The event type. @defaultValue the first one that the subscription selects; webhook: `changefeed.test`, which is no event of the CRM */
  type?: string | undefined;
  /** A handler written in code is run only with this: it may do anything. @defaultValue false */
  run?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

const NEVER = new AbortController().signal;

/** @throws ChangefeedError CF_USAGE */
export async function sendTest(name: string, call: TestCall, config: Config): Promise<TestOutcome> {
  const subscription = config.subscriptions.find((one) => one.name === name);
  const names = config.subscriptions.map((one) => one.name);
  if (subscription === undefined)
    throw usage(`There is no subscription "${name}"${didYouMean(name, names)}. Known: ${names.join(', ') || 'none'}.`);
  const { ping, report, handler } = subscription;
  const { type: asked, run = false, signal = NEVER } = call;
  if (ping !== undefined && asked === undefined) return await ping({ signal });
  if (report !== undefined) throw usage(`test: "${name}" sends reports and gets no events.`);
  if (handler === 'custom' && !run)
    throw usage(
      `test: "${name}" is a function, which may do anything with the event. Confirm that it is to run: --yes (in code and in the API: run: true).`,
    );
  const event = exampleFor(subscription, asked, config);
  return await deliverTest(subscription, event, config, signal);
}

/** Sends an event to a handler, as a test: a webhook gets it as it is. */
export async function deliverTest(
  subscription: Subscription,
  event: ChangeEvent,
  config: Config,
  signal: AbortSignal,
): Promise<TestOutcome> {
  const { ping, timeoutMs } = subscription;
  if (ping !== undefined) return await ping({ signal, event });
  return await handled(subscription, event, config, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
}

function exampleFor(subscription: Subscription, asked: string | undefined, { workspaces }: Config): ChangeEvent {
  const lists = listsOf(workspaces);
  const workspace = workspaces.find(({ name }) => readsWorkspace(subscription, name))?.name ?? '';
  const build = (type: string): ChangeEvent =>
    exampleEvent(type, {
      id: `evt_${randomUUID().replaceAll('-', '')}`,
      workspace,
      at: isoTime(systemClock.now()),
      lists,
    });
  const types: string[] = [...lists.all.flatMap(typesOf), ...NOTICE_TYPES];
  const selects = compileSelection({ on: subscription.on, lists: subscription.lists, catalogue: lists });
  const type = asked ?? types.find((one) => selects(build(one))) ?? '';
  if (types.includes(type)) return build(type);
  throw usage(
    `test, type: found "${type}"${didYouMean(type, types)}; allowed: an event type such as crm.todo.completed.`,
  );
}

async function handled(
  subscription: Subscription,
  given: ChangeEvent,
  config: Config,
  signal: AbortSignal,
): Promise<TestOutcome> {
  const { name, handler, transform, handle, handleDigest, digest, digestOnly } = subscription;
  const context = contextOf(subscription, given, config, signal);
  const beganMs = systemClock.monotonic();
  const problem = await Promise.resolve(transform?.(given) ?? given)
    .then(async (event) => {
      const one = { workspace: context.workspace, logId: '0-0', event };
      await (digestOnly === true || digest !== undefined
        ? handleDigest?.(digestOfOne(one), context)
        : handle(event, context));
      return null;
    })
    .catch(messageOf);
  const { id, type } = given;
  const ms = systemClock.monotonic() - beganMs;
  const outcome = problem === null ? 'accepted' : 'refused';
  return { subscription: name, place: handler, id, type, signatures: [], outcome, status: null, ms, body: '', problem };
}

function contextOf(
  { name, language, catalogue }: Subscription,
  event: ChangeEvent,
  { workspaces }: Config,
  signal: AbortSignal,
): HandlerContext {
  const workspace = workspaces.find((one) => event.source.endsWith(`/${one.name}`));
  return {
    log: silentLog,
    signal,
    attempt: 1,
    subscription: name,
    workspace: workspace?.name ?? '',
    list: listOf(event, catalogue) ?? null,
    language: language ?? workspace?.language ?? 'en',
    timeZone: workspace?.timeZone ?? 'UTC',
    records: { get: () => Promise.resolve(null) },
    replay: false,
    test: true,
    once: async (_key, effect) => {
      await effect();
      return 'ran';
    },
  };
}
