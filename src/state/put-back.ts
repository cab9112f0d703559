/**
 * After Redis went back to an earlier state, puts back the steps that this process committed lately and that Redis has lost: the stored records
 * with their sequences, and the events, under new log ids, so that receivers see repetitions. A step is in Redis whole or not at all.
 *
 * Meanwhile this process holds the leases of these lists, whoever held them. Their pages are recognised no longer, because they were stored
 * with the records of the earlier state. Ids that come back count as created since the last walk began, so the next walk must show them.
 *
 * Of several processes that put back steps of a list, one waits until the others have put back what came before: sequences have no gaps, so it can
 * see that an earlier change of a record is missing. What a sweep of the new epoch has found again by then is not put back.
 */
import type { ListName } from '../crm/lists/lists.js';
import { epochOfSequence, firstSequenceOf } from '../events/epoch.js';
import { compareLogIds } from '../events/log-id.js';
import type { Clock } from '../runtime/clock.js';
import { eventsOf } from '../events/envelope.js';
import type { RecordWrite } from '../sweep/store.js';
import { commit } from './commit.js';
import type { WorkspaceRedis } from './keys.js';
import type { KeptStep, LogMark } from './log-mark.js';
import { recognisedRows } from './rows.js';
import { loadScript } from './scripts.js';
import { readRecords } from './stored-records.js';

const extendLease = loadScript('extend-lease');

/** For the steps of other processes. A process notices within seconds that Redis went back, or it is gone. */
const WAITS_MS = 10_000;
const LOOKS_MS = 50;
/** Long enough for what a process keeps. */
const LEASE_MS = 15_000;
const READ_AT_ONCE = 500;

/** The steps whose events are not in the log, oldest first, without those that the retention has dropped. */
export async function lostSteps(
  { redis, keys, workspace }: WorkspaceRedis,
  steps: readonly KeptStep[],
): Promise<KeptStep[]> {
  const log = keys.log(workspace);
  const [first] = await redis.xrange(log, '-', '+', 'COUNT', 1);
  const kept = steps.filter(({ logId }) => first === undefined || compareLogIds(logId, first[0]) > 0);
  const lost: KeptStep[] = [];
  for (let at = 0; at < kept.length; at += READ_AT_ONCE) {
    const chunk = kept.slice(at, at + READ_AT_ONCE);
    const found = await Promise.all(chunk.map(({ logId }) => redis.xrange(log, logId, logId)));
    lost.push(...chunk.filter((_step, index) => found[index]?.length === 0));
  }
  return lost;
}

interface PutBackOptions {
  /** Of the log as it is now. */
  mark: LogMark;
  token: string;
  clock: Clock;
}

/**
 * Puts steps back, oldest first.
 * @returns the number of events; null when Redis went back once more
 */
export async function putBack(
  scope: WorkspaceRedis,
  lost: readonly KeptStep[],
  options: PutBackOptions,
): Promise<number | null> {
  const { redis, keys, workspace } = scope;
  const { token, clock } = options;
  const waitsUntilMs = clock.now() + WAITS_MS;
  let events = 0;
  for (const list of listsOf(lost)) {
    await redis.set(keys.lease(workspace, list), token, 'PX', LEASE_MS);
    await redis.unlink(keys.pages(workspace, list), keys.walkPages(workspace, list));
  }
  for (const kept of lost) {
    const result = await putOneBack(scope, kept, { ...options, waitsUntilMs });
    if (result === null) return null;
    events += result;
  }
  for (const list of listsOf(lost)) await extendLease.run(redis, [keys.lease(workspace, list)], [token, 0]);
  return events;
}

async function putOneBack(
  scope: WorkspaceRedis,
  { list, step }: KeptStep,
  { mark, token, clock, waitsUntilMs }: PutBackOptions & { waitsUntilMs: number },
): Promise<number | null> {
  const { redis, keys, workspace } = scope;
  const changes = step.writes.filter(({ event }) => event !== null);
  for (;;) {
    // Another process may put back its own steps at the same time, and take the lease for each of them.
    await redis.set(keys.lease(workspace, list), token, 'PX', LEASE_MS);
    const found = await storedSequences(scope, list, changes);
    const stored = new Map(changes.map(({ key }, index) => [key, found[index] ?? null]));
    if (changes.some((write) => lacksEarlier(write, stored)) && clock.now() < waitsUntilMs) {
      await clock.sleep(LOOKS_MS);
      continue;
    }
    const writes = changes.filter((write) => !isFoundAgain(write, stored));
    const lower = writes.filter(({ key, state }) => (stored.get(key) ?? -1) < (state?.sequence ?? 0));
    const others = writes.filter((write) => !lower.includes(write));
    const result = await commit(
      scope,
      list,
      {
        ...step,
        token,
        writes: lower,
        events: [...eventsOf({ writes: others }), ...(step.events ?? [])],
        // The sweep that has found some of it again has counted all of its rows.
        schema:
          writes.length === changes.length ? (step.schema ?? new Map<string, number>()) : new Map<string, number>(),
        created: writes.filter(({ key }) => stored.get(key) === null).map(({ key }) => key),
      },
      { mark },
    );
    if (result.outcome === 'committed') return result.events;
    if (result.outcome !== 'fenced') return null;
  }
}

type Sequences = ReadonlyMap<string, number | null>;

function lacksEarlier({ key, state }: RecordWrite, stored: Sequences): boolean {
  if (state === null || state.sequence === firstSequenceOf(epochOfSequence(state.sequence))) return false;
  return (stored.get(key) ?? 0) < state.sequence - 1;
}

/** Its event has a sequence of a later epoch, and says what has changed since the state that Redis went back to. */
function isFoundAgain({ key, state }: RecordWrite, stored: Sequences): boolean {
  return state !== null && epochOfSequence(stored.get(key) ?? 0) > epochOfSequence(state.sequence);
}

/** Of each record the stored sequence, null where none is stored. Of a row that is only recognised: 0 when it is. */
async function storedSequences(
  scope: WorkspaceRedis,
  list: ListName,
  writes: readonly RecordWrite[],
): Promise<(number | null)[]> {
  const wanted = writes.map(({ key }) => key);
  if (writes.every(({ state }) => state === null))
    return (await recognisedRows(scope, list, wanted)).map((isKnown) => (isKnown ? 0 : null));
  return (await readRecords(scope, list, wanted)).map((record) => record?.sequence ?? null);
}

function listsOf(steps: readonly KeptStep[]): Set<ListName> {
  return new Set(steps.map(({ list }) => list));
}
