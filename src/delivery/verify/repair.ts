/**
 * Sends records again: their present state, or that they are gone. In order with their changes: a record that has a change on its way is left
 * out, and a step is entered only while the log was not read on since its records were read. There is no task: after a crash the rest is not
 * sent, and the next comparison finds it.
 */
import { randomBytes } from 'node:crypto';
import { enqueueEvents } from '../deliveries.js';
import { FULL_WAIT_MS, mostSentAgain } from '../act/replay.js';
import type { SubscriptionContext } from '../stores.js';
import type { UnderWay } from './under-way.js';

/** A record that a copy has wrong. */
export interface WrongRecord {
  list: string;
  id: string;
  /** The sequence of the copy; null: it does not have it. */
  held: number | null;
}

interface RepairCall {
  workspace: string;
  records: readonly WrongRecord[];
  underWay: UnderWay;
  signal?: AbortSignal | undefined;
}

const STEP = 250;

/** @returns how many are sent */
export async function repairRecords(
  { workspace, records, underWay, signal }: RepairCall,
  deps: SubscriptionContext,
): Promise<number> {
  const { subscription, gate, clock } = deps;
  const origin = `s${randomBytes(5).toString('hex')}`;
  let sent = 0;
  for (let at = 0; at < records.length;) {
    signal?.throwIfAborted();
    const { events: pending } = await gate.pending(subscription.name, workspace);
    const count = Math.min(STEP, mostSentAgain(subscription) - pending);
    const entered =
      count <= 0
        ? null
        : await enterStep({ workspace, records: records.slice(at, at + count), underWay, origin, from: at }, deps);
    if (entered === null) {
      await clock.sleep(FULL_WAIT_MS, signal);
      continue;
    }
    sent += entered;
    at += count;
  }
  return sent;
}

/** Null: the log was read on meanwhile, and nothing was entered. */
async function enterStep(
  step: { workspace: string; records: readonly WrongRecord[]; underWay: UnderWay; origin: string; from: number },
  deps: SubscriptionContext,
): Promise<number | null> {
  const { workspace, records, underWay, origin, from } = step;
  const { subscription, offsets, states } = deps;
  const offset = await offsets.get(workspace, subscription.name);
  if (offset === null) return 0;
  const events = await states.present(workspace, records);
  await underWay.goOn();
  const sent = events.flatMap((event, index) => {
    const { list = '', id = '' } = records[index] ?? {};
    if (event === null || underWay.has(list, id)) return [];
    return [{ event, logId: offset === '0' ? '0-0' : offset, serial: `${from + index + 1}-0`, stored: { event } }];
  });
  if (sent.length === 0) return 0;
  const entered = await enqueueEvents(sent, { ...deps, workspace, origin, readAt: { offset } }, deps);
  const last = sent.at(-1)?.serial;
  // A step that was not entered has no serial.
  const isIn =
    entered !== undefined && (await deps.gate.lastEntered(subscription.name, `${origin}:${workspace}`)) === last;
  return isIn ? sent.length : null;
}
