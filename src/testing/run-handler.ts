/**
 * Runs a subscription over events as the service does: it selects, merges with `settle`, adds `include`, reshapes, calls the handler and decides
 * about what it throws. What the service does between attempts (waiting, dead letters, pausing) is only named.
 */
import { objectOf, workspaceOf } from '../events/envelope.js';
import { compileSelection, explainSelection, type RefusedBy } from '../events/pattern.js';
import type { ChangeEvent } from '../events/types.js';
import {
  attemptDelivery,
  callWithin,
  contextFor,
  resultIn,
  type AttemptResult,
  type ContextOptions,
} from '../delivery/run/attempt.js';
import { decideRetry } from '../delivery/failure.js';
import { isDisabling, retryAfterMsOf } from '../delivery/handlers/errors.js';
import type { DigestSummary, Subscription } from '../delivery/handlers/handler.js';
import { isOpen, mergeChanges } from '../delivery/run/merge-changes.js';
import { DigestSums } from '../delivery/handlers/summary.js';
import { usage } from '../kit/errors.js';
import { fakeSurroundings, type FakeContextOptions, type LogLine } from './fake-context.js';

/** Whether a subscription gets an event, and otherwise the option that leaves it out, and the condition of `where`. */
export type Selected = { selected: true } | ({ selected: false } & RefusedBy);

/** Whether the subscription gets the event, and otherwise what leaves it out. */
export function select(
  subscription: Subscription,
  event: ChangeEvent,
  { data = {} }: Pick<FakeContextOptions, 'data'> = {},
): Selected {
  const refused = explainSelection({ ...subscription, dataOf: () => data })(event);
  return refused === null ? { selected: true } : { selected: false, ...refused };
}

/** What became of a delivery. */
export type RunOutcome =
  | { outcome: 'delivered'; status?: number }
  /** By which option, or because the merged changes cancel each other out. */
  | { outcome: 'skipped'; because: string }
  /** `waitMs`: what a `RetryAfterError` asks for; null: by the subscription's `retry`. */
  | { outcome: 'retry'; error: Error; waitMs: number | null }
  | { outcome: 'dead'; error: Error; because: 'permanent' | 'exhausted' }
  /** A `DisableSubscriptionError`. */
  | { outcome: 'paused'; error: Error }
  /** Behind an event of its record that is retried, or that is dead with `whenDead: 'hold'`. */
  | { outcome: 'waiting' };

/** One call of the handler, and what follows. */
export type HandlerRun = RunOutcome & {
  /** The ids of the events that the delivery is made of: several with `settle`, and in a digest. */
  ids: readonly string[];
  /** The event as the handler got it; null where it got none, and for a digest. */
  event: ChangeEvent | null;
  /** The digest as the handler got it. */
  digest?: DigestSummary;
};

/** What `runHandler` gives. */
export interface HandlerRuns {
  /** In the order of the first event of each. */
  runs: readonly HandlerRun[];
  /** What the handler has logged. */
  lines: readonly LogLine[];
}

/**
 * @param events in the order of the log; with `settle`, those of a record count as one burst
 * @param options `attempt`: 1 for the first; the last one of the subscription's `retry` makes dead letters
 * @throws ChangefeedError `CF_USAGE` for a report, which gets no events
 */
export async function runHandler(
  asGiven: Subscription,
  events: ChangeEvent | readonly ChangeEvent[],
  options: FakeContextOptions = {},
): Promise<HandlerRuns> {
  const subscription: Subscription = { ...asGiven, dataOf: () => options.data ?? {} };
  if (subscription.report !== undefined)
    throw usage(`runHandler: "${subscription.name}" gets a report at its moments, and no events.`);
  const fake = fakeSurroundings(options);
  const given = [events].flat();
  const runs: HandlerRun[] = given.flatMap((event) => {
    const refused = explainSelection(subscription)(event);
    return refused === null
      ? []
      : [{ outcome: 'skipped' as const, because: refused.option, ids: [event.id], event: null }];
  });
  const selected = given.filter(compileSelection(subscription));
  if (subscription.digest !== undefined) {
    if (selected.length > 0) runs.push(await runDigest(subscription, selected, fake.optionsFor(subscription)));
  } else {
    const waiting = new Set<string>();
    for (const delivery of deliveriesOf(subscription, selected)) {
      const record = recordOf(delivery.of[0]);
      const run = waiting.has(record)
        ? withIds(delivery, { outcome: 'waiting' })
        : await runOne(subscription, delivery, fake);
      if (blocks(run, subscription)) waiting.add(record);
      runs.push(run);
    }
  }
  const at = new Map(given.map(({ id }, index) => [id, index]));
  const place = ({ ids: [first = ''] }: HandlerRun): number => at.get(first) ?? 0;
  return { runs: runs.toSorted((one, other) => place(one) - place(other)), lines: fake.lines };
}

interface Made {
  of: readonly [ChangeEvent, ...ChangeEvent[]];
  /** Null: the changes cancel each other out. */
  event: ChangeEvent | null;
}

function deliveriesOf(subscription: Subscription, events: readonly ChangeEvent[]): Made[] {
  if (subscription.settle === undefined || subscription.order === 'none')
    return events.map((event) => ({ of: [event], event }));
  const byRecord = new Map<string, ChangeEvent[]>();
  for (const event of events) {
    const record = recordOf(event);
    byRecord.set(record, [...(byRecord.get(record) ?? []), event]);
  }
  return [...byRecord.values()].flatMap((of) => [...merged(of)]);
}

function recordOf({ source, subject, type }: ChangeEvent): string {
  return `${source} ${objectOf({ type })} ${subject}`;
}

function* merged(events: readonly ChangeEvent[]): Generator<Made> {
  let rest = events;
  for (;;) {
    const [first, ...others] = rest;
    if (first === undefined) return;
    const { taken, event } = isOpen(first) ? mergeChanges([first, ...others]) : { taken: 1, event: first };
    yield { of: [first, ...others.slice(0, taken - 1)], event };
    rest = rest.slice(taken);
  }
}

async function runOne(
  subscription: Subscription,
  made: Made,
  fake: ReturnType<typeof fakeSurroundings>,
): Promise<HandlerRun> {
  const { of, event } = made;
  if (event === null) return withIds(made, { outcome: 'skipped', because: 'cancelled-out' });
  const refused = explainSelection(subscription)(event);
  if (refused !== null) return withIds(made, { outcome: 'skipped', because: refused.option });
  let handled: ChangeEvent | null = null;
  const seen: Subscription = {
    ...subscription,
    handle: (given, context) => subscription.handle((handled = given), context),
  };
  const options = fake.optionsFor(seen);
  const [{ id }] = of;
  const delivery = { id: `${event.id}.0-1`, logId: '0-1', workspace: workspaceOf(event), event };
  const outcome = await outcomeOf(options, async () => {
    const answer = await attemptDelivery({ ...options, delivery });
    return runOutcomeOf(answer);
  });
  return { ...outcome, ids: of.length === 1 ? [id] : of.map((one) => one.id), event: handled };
}

async function runDigest(
  subscription: Subscription,
  events: readonly ChangeEvent[],
  options: ContextOptions,
): Promise<HandlerRun> {
  const sums = new DigestSums();
  events.forEach((event, index) => sums.add({ logId: `${Date.parse(event.data.observedAt)}-${index}`, event }));
  const workspace = events[0] === undefined ? '' : workspaceOf(events[0]);
  const digest = sums.summary({ workspace, events: () => each(events) });
  const about = { workspace, effectsOf: digest.id, facts: { digest: digest.id } };
  const outcome = await outcomeOf(options, async () => {
    return runOutcomeOf(
      resultIn(await callWithin(() => subscription.handleDigest?.(digest, contextFor(options, about)), options)),
    );
  });
  return { ...outcome, ids: events.map(({ id }) => id), event: null, digest };
}

/** One report of a subscription that gets no events, with the text of an event's record in it. */
export async function runReport(
  subscription: Subscription,
  event: ChangeEvent,
  options: FakeContextOptions,
): Promise<RunOutcome & Pick<HandlerRuns, 'lines'>> {
  const { lines, optionsFor } = fakeSurroundings(options);
  const made = optionsFor(subscription);
  const report = { at: event.time, refused: String(event.data.after?.['이름']) };
  const about = { workspace: workspaceOf(event), effectsOf: event.id, facts: {} };
  const call = (): unknown => subscription.report?.handle(report, contextFor(made, about));
  return { ...(await outcomeOf(made, async () => runOutcomeOf(resultIn(await callWithin(call, made))))), lines };
}

function runOutcomeOf(answer: AttemptResult): RunOutcome {
  if (answer.outcome === 'skipped') return { outcome: 'skipped', because: answer.why };
  return { outcome: 'delivered', ...(answer.status !== undefined && { status: answer.status }) };
}

// eslint-disable-next-line @typescript-eslint/require-await -- as the events of the log, which are awaited
async function* each(events: readonly ChangeEvent[]): AsyncGenerator<ChangeEvent> {
  yield* events;
}

async function outcomeOf(
  { subscription: { retry }, attempt }: ContextOptions,
  call: () => Promise<RunOutcome>,
): Promise<RunOutcome> {
  try {
    return await call();
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    if (isDisabling(thrown)) return { outcome: 'paused', error };
    const decided = decideRetry(thrown, { attempt, retry, random: 0 });
    if (decided.outcome === 'dead') return { outcome: 'dead', error, because: decided.because };
    return { outcome: 'retry', error, waitMs: retryAfterMsOf(thrown) ?? null };
  }
}

function withIds({ of }: Made, outcome: RunOutcome): HandlerRun {
  return { ...outcome, ids: of.map(({ id }) => id), event: null };
}

function blocks({ outcome }: HandlerRun, { order, whenDead }: Subscription): boolean {
  if (order === 'none') return false;
  return outcome === 'retry' || outcome === 'waiting' || (outcome === 'dead' && whenDead === 'hold');
}
