/**
 * Takes over the file of rules while the service runs: what a rule that came, changed or went needs is opened and closed, and nothing else notices.
 * Files are read, as mounted folders send no notifications; a change that nobody announces counts when two reads agree.
 */
import { problemsText } from '../config/report.js';
import { knownTo, parseRules, readOrNothing, type RulesFile } from '../config/rules.js';
import type { Config } from '../config/schema.js';
import type { Dispatcher } from '../delivery/dispatcher.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import { isoTime, withinTime } from '../kit/clock.js';
import type { Part } from '../kit/lifecycle.js';
import { runLoop } from '../kit/loop.js';
import { createSteps } from '../kit/steps.js';
import type { AppContext } from '../../workers/context.js';
import { createAbsence, type MissingRules } from './missing-rules.js';
import { logConfigWarnings, type ConfigWarning } from './config-warnings.js';

const READ_INTERVAL_MS = 400;
/** A handler that does not end may hold up the end of its rule for longer. */
const AWAITED_MS = 2_000;

interface RunningRulesDeps {
  dispatcher: Dispatcher;
  handlers: { add(subscription: Subscription): Promise<void>; remove(name: string): Promise<void> };
  /** What this process warns about. */
  about: () => readonly ConfigWarning['about'][];
}

export type RunningRules = ReturnType<typeof runningRules>;

export function runningRules(context: AppContext, deps: RunningRulesDeps) {
  const { config, watch, log, clock, loops } = context;
  const stopping = new AbortController();
  const steps = createSteps({ of: 'subscription', signal: stopping.signal, log, clock });
  const refusal = createRefusal(context);
  const absence = createAbsence(context);
  let previous = '';
  let running: Promise<void> | undefined;

  const takeOver = (file: RulesFile): void => {
    const readAtMs = clock.monotonic();
    const { rules: all, problems } = parseRules(file, knownTo(config));
    refusal.note(problems.length === 0 ? null : problemsText(file.source, problems));
    if (problems.length > 0) return;
    const { came, changed, went } = differences(config.rules?.all ?? [], all);
    context.setRules({ ...file, all });
    for (const name of went) steps.add(name, (signal) => replace(name, undefined, { ...deps, readAtMs, signal }));
    for (const one of [...came, ...changed])
      steps.add(one.name, (signal) => replace(one.name, one, { ...deps, readAtMs, signal }));
    const names = (some: readonly Subscription[]): string[] => some.map(({ name }) => name);
    log.info({ came: names(came), changed: names(changed), went }, 'the rules as they are now run');
    logConfigWarnings(log, { ...config, workspaces: [], subscriptions: [...came, ...changed] }, deps.about());
  };
  /** @param isAnnounced it was written whole, by this process */
  const look = async ({ isAnnounced }: { isAnnounced: boolean }): Promise<void> => {
    const file = readOrNothing(config);
    if (file === null) return;
    const isStable = isAnnounced || file.revision === previous;
    previous = file.revision;
    if (!isStable || (await absence.look(file)) !== null) return;
    if (file.revision !== config.rules?.revision) takeOver(file);
    else refusal.note(null);
  };
  const run = async (): Promise<number> => {
    await look({ isAnnounced: false });
    return READ_INTERVAL_MS;
  };
  return {
    name: 'rules',
    start(): Promise<void> {
      const ready = (signal: AbortSignal): Promise<void> => watch.untilUsable(signal);
      const { signal } = stopping;
      running = config.rules === null ? undefined : runLoop({ name: 'rules', run, ready, signal, log, clock, loops });
      return Promise.resolve();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([running, steps.all()]);
    },
    /** Why the file as it is now is not what runs, and since when; null where it is. */
    refused: (): Refused | null => refusal.now(),
    /** As it was seen last. */
    missing: (): MissingRules | null => absence.now(),
    /** As the file is now. */
    async missingNow(): Promise<MissingRules | null> {
      return await absence.look(readOrNothing(config));
    },
    /** The file was written: takes it over, and waits for a while until what it says runs. */
    async written(): Promise<void> {
      if (running === undefined || stopping.signal.aborted) return;
      await look({ isAnnounced: true });
      await withinTime(steps.all(), AWAITED_MS);
    },
    /** What was taken over of this subscription runs, or has ended. */
    settled: (name: string): Promise<void> => steps.of(name),
  } satisfies Part & Record<string, unknown>;
}

export interface Refused {
  error: string;
  since: string;
}

function createRefusal({ log, clock }: AppContext) {
  let refused: Refused | null = null;
  return {
    now: (): Refused | null => refused,
    note(error: string | null): void {
      if (error === refused?.error) return;
      if (error !== null) log.error({ error }, 'the rules are not valid and were not applied');
      refused = error === null ? null : { error, since: refused?.since ?? isoTime(clock.now()) };
    },
  };
}

interface Replacing extends RunningRulesDeps {
  readAtMs: number;
  signal: AbortSignal;
}

/** Its reader ends before its handler, and begins after it: as the parts of the service. */
async function replace(name: string, next: Subscription | undefined, deps: Replacing): Promise<void> {
  const { dispatcher, handlers, readAtMs, signal } = deps;
  await dispatcher.remove(name);
  await handlers.remove(name);
  if (next === undefined || signal.aborted) return;
  await handlers.add(next);
  await dispatcher.add(next, readAtMs);
}

type Rules = NonNullable<Config['rules']>['all'];

/** Of what runs. */
function differences(before: Rules, now: Rules) {
  const running = new Map(before.flatMap((one) => (one.enabled ? [[one.id, JSON.stringify(one.data)] as const] : [])));
  const wanted = now.filter(({ enabled }) => enabled);
  const came = wanted.filter(({ id }) => !running.has(id));
  const changed = wanted.filter(({ id, data }) => running.has(id) && running.get(id) !== JSON.stringify(data));
  const went = before.filter(({ id }) => running.has(id) && !wanted.some((one) => one.id === id));
  const subscriptions = (rules: Rules): Subscription[] => rules.map(({ subscription }) => subscription);
  return {
    came: subscriptions(came),
    changed: subscriptions(changed),
    went: went.map(({ subscription }) => subscription.name),
  };
}
