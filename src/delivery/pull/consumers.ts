/**
 * Consumers ask for events (`pull`). The subscription's offset in each log is the book: what lies behind it is handed out, and it moves when the
 * consumer acknowledges. One batch is under way at a time, so that the order holds and only what was not acknowledged comes again.
 *
 *   nothing under way ──next──> under way until its visibility ends ──acknowledge──> nothing under way, the offsets are at its end
 *                                  │ visibility ends                     ▲ late
 *                                  ▼                                     │
 *                               over ────────────────────────────────────┘ ──next──> another one is under way, from the same offsets
 *
 * Reading changes nothing: a process that is killed before it hands out, or a connection that breaks after it, loses nothing.
 */
import { randomBytes } from 'node:crypto';
import { readsWorkspace } from '../../events/pattern.js';
import type { ChangeEvent } from '../../events/types.js';
import { isAborted, sleepUntilAborted } from '../../kit/clock.js';
import { ChangefeedError, usage } from '../../kit/errors.js';
import { printable, shorten } from '../../kit/printable.js';
import { partsOf } from '../handlers/errors.js';
import type { Subscription } from '../handlers/handler.js';
import { noteEnd, type Noting } from '../receipts/note.js';
import { subscriptionNamed } from '../receipts/find-deliveries.js';
import type { DeliveryStores } from '../stores.js';
import type { Stretch, UnderWay } from './batches.js';
import { readBatch, type ReadDeps } from './read-batch.js';

/** What a consumer asks for. */
export interface NextCall {
  /** At most so many events, 1 to 1,000. @defaultValue 100 */
  max?: number | undefined;
  /** How long to wait for the first one; ms. @defaultValue 0 */
  waitMs?: number | undefined;
  /** Acknowledges this cursor first. Repeated with the same one, it gets again what it has not got. @defaultValue nothing */
  acknowledge?: string | undefined;
  /** Ends the wait: the answer has no events. */
  signal?: AbortSignal | undefined;
}

/** What a consumer gets. */
export interface PulledBatch {
  /** In the order of the log; of several workspaces by when they were logged. */
  events: ChangeEvent[];
  /** Acknowledges exactly these events; null without any. */
  cursor: string | null;
  /** More are there already. */
  more: boolean;
  /** Why nothing is handed out; null where the subscription is not paused. */
  paused: string | null;
}

/** Asks for the events of subscriptions with `handler: 'pull'`, within this process. */
export interface Consumers {
  /**
   * @throws ChangefeedError CF_USAGE when there is no such consumer, or the cursor cannot be acknowledged; CF_HANDLER_FAILED when `where` or
   * `transform` throws on the next event
   */
  next(consumer: string, call?: NextCall): Promise<PulledBatch>;
  /**
   * @param cursor of the batch under way, also after its `visibility`, until its events were handed out again
   * @returns how many events; 0: it was acknowledged before
   * @throws ChangefeedError CF_USAGE
   */
  acknowledge(consumer: string, cursor: string): Promise<{ count: number }>;
}

export interface ConsumerDeps
  extends ReadDeps, Pick<DeliveryStores, 'offsets' | 'batches' | 'health'>, Omit<Noting, 'subscription'> {
  subscriptions: readonly Subscription[];
  workspaces: readonly string[];
}

const MOST = 1_000;
/** How often it looks for more while it waits: also for an end of a pause, and of what is under way. */
const LOOK_MS = 400;
const NEVER = new AbortController().signal;
/** As receipts name it; no event has this type. */
const BATCH_TYPE = 'changefeed.batch';
const LONGEST_REASON = 500;

type Consumer = Subscription & { pull: NonNullable<Subscription['pull']> };

export function createConsumers(deps: ConsumerDeps): Consumers {
  return {
    async next(name, { max = 100, waitMs = 0, acknowledge, signal = NEVER } = {}) {
      const consumer = consumerNamed(name, deps);
      if (!Number.isInteger(max) || max < 1 || max > MOST)
        throw usage(`next, max: found ${max}; allowed: a whole number from 1 to ${MOST}.`);
      const after = acknowledge === undefined ? '' : (await acknowledged(acknowledge, consumer, deps)).id;
      const { clock, batches } = deps;
      await batches.asked(name, clock.now());
      const untilMs = clock.monotonic() + waitMs;
      for (;;) {
        const answer = isAborted(signal) ? NOTHING : await lookOnce(consumer, { max, after }, deps);
        const leftMs = untilMs - clock.monotonic();
        if (answer !== 'again' && (answer.cursor !== null || leftMs <= 0 || isAborted(signal))) return answer;
        if (answer !== 'again') await sleepUntilAborted(clock, Math.min(LOOK_MS, leftMs), signal);
      }
    },
    async acknowledge(name, cursor) {
      const { count } = await acknowledged(cursor, consumerNamed(name, deps), deps);
      return { count };
    },
  };
}

/** @throws ChangefeedError `CF_USAGE` */
export function consumerNamed(name: string, { subscriptions }: Pick<ConsumerDeps, 'subscriptions'>): Consumer {
  const found = subscriptionNamed(name, subscriptions);
  if (found.pull !== undefined) return found as Consumer;
  throw usage(
    `"${name}" (${found.handler}) is no consumer: its events are sent to it. A consumer has handler: 'pull'.`,
  );
}

const NOTHING: PulledBatch = { events: [], cursor: null, more: false, paused: null };

interface Wanted {
  max: number;
  after: string;
}

/** `again`: what is not selected was passed over, or another process was faster. */
async function lookOnce(
  consumer: Consumer,
  { max, after }: Wanted,
  deps: ConsumerDeps,
): Promise<PulledBatch | 'again'> {
  const { name, pull } = consumer;
  const { batches, health, log } = deps;
  const [{ paused, failingSinceMs }, { underWay }, nowMs] = await Promise.all([
    health.read(name),
    batches.read(name),
    log.serverMs(),
  ]);
  if (paused !== null) return { ...NOTHING, paused: paused.reason };
  // What the script decides; most of the time it need not be asked, and nothing be read for it.
  if (underWay !== null && isWaitedFor(underWay, { nowMs, after, ...pull })) return NOTHING;
  const offsets = await offsetsOf(consumer, deps);
  if (offsets.size === 0) return NOTHING;
  const { events, stretches, more } = await readNoting(
    consumer,
    { offsets, max, hasFailed: failingSinceMs !== null },
    deps,
  );
  if (stretches.length === 0) return NOTHING;
  const id = events.length === 0 ? null : randomBytes(12).toString('base64url');
  const taken = await batches.take(name, { id, visibilityMs: pull.visibilityMs, after, stretches });
  if (taken === 'moved') return 'again';
  if (taken === 'busy') return NOTHING;
  if (id === null) return more ? 'again' : NOTHING;
  return { events, cursor: `${name}:${id}`, more, paused: null };
}

function isWaitedFor(
  { untilMs, after: before }: UnderWay,
  { nowMs, after, visibilityMs }: { nowMs: number; after: string; visibilityMs: number },
): boolean {
  const leftMs = untilMs - nowMs;
  return leftMs > 0 && leftMs <= visibilityMs && (after === '' || before !== after);
}

/** A workspace in which it has not begun is left out: a process with the role `dispatch` decides where it begins. */
async function offsetsOf(consumer: Consumer, { offsets, workspaces }: ConsumerDeps): Promise<Map<string, string>> {
  const names = workspaces.filter((workspace) => readsWorkspace(consumer, workspace));
  const found = await Promise.all(names.map((workspace) => offsets.get(workspace, consumer.name)));
  return new Map(names.flatMap((workspace, at) => (found[at] == null ? [] : [[workspace, found[at]]])));
}

/** What fails in `where` or `transform` fails for whoever asks, until a person corrects it or skips: the status says so, as of an attempt. */
async function readNoting(
  consumer: Consumer,
  { hasFailed, ...options }: Parameters<typeof readBatch>[1] & { hasFailed: boolean },
  deps: ConsumerDeps,
) {
  const { health, clock } = deps;
  const { name } = consumer;
  try {
    const read = await readBatch(consumer, options, deps);
    if (hasFailed) await health.succeeded(name);
    return read;
  } catch (cause) {
    const { known } = partsOf(cause);
    const [workspace = ''] = options.offsets.keys();
    const error = { workspace, message: shorten(known, LONGEST_REASON) };
    await health.failed(name, { nowMs: clock.now(), disableAfterMs: 0, reason: '', error });
    const message = `The next event of the consumer "${name}" cannot be handed out: where or transform failed (${known}). Correct it, or drop what waits: changefeed skip ${name}.`;
    throw new ChangefeedError('CF_HANDLER_FAILED', { consumer: name, message, cause });
  }
}

async function acknowledged(cursor: string, consumer: Consumer, deps: ConsumerDeps) {
  const { name } = consumer;
  const [, owner = '', id] = /^([\w.-]{1,64}):([\w-]{16})$/u.exec(cursor) ?? [];
  if (id === undefined) throw usage('acknowledge: this is not the cursor of an answer. Send "cursor" as it was.');
  if (owner !== name) throw usage(`acknowledge: this cursor is of the consumer "${owner}", not of "${name}".`);
  const { underWay } = await deps.batches.read(name);
  const own = underWay?.id === id ? underWay : null;
  const noted = new Map((own?.stretches ?? []).map((one) => [one.workspace, notedOf(one, own, consumer, deps)]));
  const outcome = await deps.batches.acknowledge(name, id, noted);
  if (outcome === 'other')
    throw usage(
      `acknowledge: the batch of this cursor is not under way to "${printable(name)}": its events were handed out again after its visibility, or it was acknowledged before another one. Ask for the next events.`,
    );
  const count = outcome === 'before' ? 0 : (own?.stretches ?? []).reduce((sum, { events }) => sum + events, 0);
  return { id, count };
}

/** One receipt for the events of a workspace, as of a digest. */
function notedOf(
  { workspace, to, first, events }: Stretch,
  batch: UnderWay | null,
  consumer: Consumer,
  deps: ConsumerDeps,
) {
  if (batch === null || events === 0) return undefined;
  const about = { id: batch.id, type: BATCH_TYPE, subject: '' };
  const noted = { id: batch.id, workspace, logId: to, event: about, digest: { fromLogId: first, count: events } };
  const ms = Math.max(0, deps.clock.now() - batch.takenMs);
  const ended = { outcome: 'delivered', attempt: batch.times, ms, status: undefined } as const;
  return noteEnd([noted], ended, { ...deps, subscription: consumer });
}
