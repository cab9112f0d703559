/**
 * A stretch of the log, sent to one subscription again. Its events are jobs of their own, at the end of their records'
 * lanes: among themselves they keep the order of the log, and run beside nothing else of their record.
 *
 * The jobs are added first, parked, and enter their lanes then: killed in between, a lane never waits for a job that is
 * not there; the parked jobs enter by themselves when they wake. What was not sent yet is not; it can be sent anew.
 */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import { ChangefeedError } from '../errors.js';
import { compareLogIds, parseBeginning } from '../events/log-id.js';
import type { LoggedEvent } from '../events/types.js';
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { compileSelection, readsWorkspace } from './match.js';
import { promoteParked } from './parking.js';
import type { Delivery, LogReader, PlaceStore, RecordGate } from './ports.js';
import { entryOf, jobIdOf, jobOptions, laneOf } from './queue-layout.js';

export interface ReplayCall {
  subscription: string;
  /** `beginning`, a log id (that event first), or a time in ISO 8601 (what was logged from then on). */
  from: string;
  /** A log id, that event last. @defaultValue as far as the subscription has read; the rest it gets anyway */
  to?: string | undefined;
  /** @defaultValue all */
  workspace?: string | undefined;
  /** Ends it between two batches. */
  signal?: AbortSignal | undefined;
}

export interface Replayed {
  /** Events sent. What the subscription does not select is not counted. */
  events: number;
  /** The log id of the last one looked at, per workspace: where to go on after an interruption. */
  reached: Readonly<Record<string, string>>;
  /** Ended by the signal. */
  interrupted: boolean;
}

export interface ReplayDeps {
  queue: Queue<Delivery>;
  subscription: Subscription;
  workspaces: readonly string[];
  log: LogReader;
  places: PlaceStore;
  gate: RecordGate;
  clock?: Clock;
  /** Pending events above which it waits. @defaultValue 5000 */
  highWater?: number;
}

const BATCH = 250;
const FULL_WAIT_MS = 100;
const HIGH_WATER = 5_000;

/** @throws ChangefeedError CF_USAGE when `from` or `to` is no place in a log */
export async function replay(call: ReplayCall, deps: ReplayDeps): Promise<Replayed> {
  const { from, to, workspace: only, signal } = call;
  const after = parseBeginning(from);
  if (after === undefined) throw noPlace('from', from, `"beginning", a time (2026-03-01T09:00:00Z) or a log id`);
  if (to !== undefined && !/^\d+-\d+$/.test(to)) throw noPlace('to', to, 'a log id');
  const id = `r${randomBytes(5).toString('hex')}`;
  const workspaces = deps.workspaces.filter((name) => readsWorkspace(deps.subscription, name));
  const reached: Record<string, string> = {};
  let events = 0;
  for (const workspace of workspaces.filter((name) => only === undefined || name === only)) {
    for await (const batch of stretch({ workspace, after, to, signal }, deps)) {
      events += await sendAgain({ batch, workspace, id }, deps);
      reached[workspace] = batch.at(-1)?.logId ?? after;
    }
  }
  return { events, reached, interrupted: signal?.aborted === true };
}

interface Stretch {
  workspace: string;
  after: string;
  to: string | undefined;
  signal: AbortSignal | undefined;
}

async function* stretch(
  { workspace, after, to, signal }: Stretch,
  { subscription, log, places, gate, clock = systemClock, highWater = HIGH_WATER }: ReplayDeps,
): AsyncGenerator<LoggedEvent[], void, undefined> {
  const read = await places.get(workspace, subscription.name);
  // One that has not begun will begin where its `start` says.
  if (read === null) return;
  const last = to !== undefined && compareLogIds(to, read) < 0 ? to : read;
  let place = after;
  while (signal?.aborted !== true) {
    if ((await gate.pending(subscription.name, workspace)).events >= highWater) {
      await clock.sleep(FULL_WAIT_MS);
      continue;
    }
    const batch = await log.read(workspace, place, BATCH);
    const wanted = batch.filter(({ logId }) => compareLogIds(logId, last) <= 0);
    if (wanted.length > 0) yield wanted;
    if (batch.length < BATCH || wanted.length < batch.length) return;
    place = wanted.at(-1)?.logId ?? place;
  }
}

interface Again {
  batch: readonly LoggedEvent[];
  workspace: string;
  id: string;
}

async function sendAgain({ batch, workspace, id }: Again, { queue, subscription, gate }: ReplayDeps): Promise<number> {
  const selects = compileSelection(subscription);
  const deliveries = batch
    .filter(({ event }) => selects(event))
    .map(({ event, logId }): Delivery => {
      return { event, workspace, logId, lane: laneOf({ workspace, event }, subscription), replay: id };
    });
  if (deliveries.length === 0) return 0;
  await queue.addBulk(
    deliveries.map((data) => ({ name: data.event.type, data, opts: jobOptions(jobIdOf(data), { parked: true }) })),
  );
  const standings = await gate.enterAgain(subscription.name, deliveries.map(entryOf));
  const heads = deliveries.filter((_, index) => standings[index] === 'head');
  await Promise.all(heads.map((head) => promoteParked(queue, jobIdOf(head))));
  return deliveries.length;
}

function noPlace(option: string, found: string, allowed: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message: `replay, ${option}: found "${found}"; allowed: ${allowed}.` });
}
