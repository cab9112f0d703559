/** Reads what is next for a consumer: the events that its subscription selects, in the order of the log, as any handler gets them. */
import { compileSelection, compileTypes } from '../../events/pattern.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Position } from '../../events/position.js';
import type { Clock } from '../../kit/clock.js';
import type { EventLog } from '../../log/event-log.js';
import { shapeEvent, type SurroundingsOf } from '../run/attempt.js';
import type { Subscription } from '../handlers/handler.js';
import type { Stretch } from './batches.js';

/** An answer ends after so many bytes of the log, with the event that passes them: a memo may have 1 MB. */
const MOST_BYTES = 8_000_000;
/** Where nearly nothing is selected, the offsets move on after this time, and the next read goes on from there. */
const LONGEST_READ_MS = 2_000;

export interface ReadDeps {
  log: EventLog;
  surroundingsOf: SurroundingsOf;
  clock: Clock;
}

interface ReadOptions {
  offsets: Position;
  /** How many events at most. */
  max: number;
}

export interface Read {
  events: ChangeEvent[];
  /** Of each workspace of which something was read. */
  stretches: Stretch[];
  /** The log goes on after them. */
  more: boolean;
}

interface Found {
  workspace: string;
  logId: string;
  /** Null: `where` does not select it. */
  shaped: Promise<ChangeEvent | null>;
}

/** @throws what `where` or `transform` throws on the first event; one that fails later ends the batch before it */
export async function readBatch(subscription: Subscription, options: ReadOptions, deps: ReadDeps): Promise<Read> {
  const { found, reached, more } = await find(subscription, options, deps);
  const settled = await Promise.allSettled(found.map(({ shaped }) => shaped));
  const failedAt = settled.findIndex(({ status }) => status === 'rejected');
  if (failedAt === 0) await found[0]?.shaped;
  const sent = failedAt < 0 ? found : found.slice(0, failedAt);
  const ends = failedAt < 0 ? reached : new Map(sent.map(({ workspace, logId }) => [workspace, logId]));
  const events = settled.slice(0, sent.length).map((one) => (one as PromiseFulfilledResult<ChangeEvent | null>).value);
  const wanted = sent.filter((_, at) => events[at] !== null);
  const stretches = [...ends].map(([workspace, to]): Stretch => {
    const own = wanted.filter((one) => one.workspace === workspace);
    const from = options.offsets.get(workspace) ?? '';
    return { workspace, from, to, first: own[0]?.logId ?? '', events: own.length };
  });
  return { events: events.filter((event) => event !== null), stretches, more: more || failedAt > 0 };
}

async function find(
  subscription: Subscription,
  { offsets, max }: ReadOptions,
  { log, clock, surroundingsOf }: ReadDeps,
) {
  const [isType, selects] = [compileTypes(subscription), compileSelection(subscription)];
  // An own function, so that what it throws at once is a rejection too.
  const shape = async (event: ChangeEvent, workspace: string): Promise<ChangeEvent | null> => {
    return await shapeEvent(event, workspace, { subscription, attempt: 1, surroundingsOf });
  };
  const startedMs = clock.monotonic();
  const found: Found[] = [];
  const reached = new Map<string, string>();
  let bytes = 0;
  for await (const entries of log.query({ workspaces: [...offsets.keys()], order: 'oldest', from: offsets })) {
    for (const entry of entries) {
      const { workspace, logId } = entry;
      const event = isType(entry.type) ? entry.parse() : null;
      if (event !== null && selects(event)) {
        if (found.length === max || bytes > MOST_BYTES) return { found, reached, more: true };
        const shaped = shape(event, workspace);
        // It is waited for below, after what is read in between.
        shaped.catch(() => undefined);
        found.push({ workspace, logId, shaped });
        bytes += entry.bytes.length;
      }
      reached.set(workspace, logId);
    }
    if (clock.monotonic() - startedMs > LONGEST_READ_MS) return { found, reached, more: true };
  }
  return { found, reached, more: false };
}
