/** Reads what is stored of the records of a list, for the comparison with a receiver's copy. Changes nothing. */
import { diffRecords } from '../../crm/canonical.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { titleOfRecord } from '../../events/describe.js';
import { firstSequenceOf } from '../../events/envelope.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import { readState } from '../../log/state-guard.js';
import { snapshotEvent, withId } from '../detect/build-event.js';
import { heldOf } from '../detect/held.js';
import { isDiscarded, isInList, stateOf } from '../detect/record-state.js';
import { removalEvent } from '../detect/removal.js';
import type { Keys, WorkspaceRedis } from '../../redis/keys.js';
import type { Redis } from '../../redis/client.js';
import { readSummary } from './checkpoint.js';
import { privacyStore } from './privacy.js';
import type { SnapshotSourceDeps } from './snapshot-source.js';
import { everyDigest, inChunks, readRecordHeads, readRecords, type RecordHead } from './stored-records.js';
import type { SerialisedRecord } from './sweep-state.js';

interface ListStatesDeps extends Pick<SnapshotSourceDeps, 'list'> {
  redis: Redis;
  keys: Keys;
  clock: Clock;
}

/** The stored state of one record. */
export interface RecordState {
  is: ReturnType<typeof stateOf>;
  /** A person has kept its last change from the receivers. */
  isDiscarded: boolean;
  sequence: number;
  /** The event of the last decision that yielded one. */
  eventId: string | undefined;
  image: string | null;
}

export type ListStates = ReturnType<typeof createListStates>;

export function createListStates({ redis, keys, clock, list: configured }: ListStatesDeps) {
  const rulesOf = (workspace: string, list: ListName) => configured(workspace, list)?.rules;
  const { read, heads } = statesReader({ redis, keys });
  return {
    /** `ready`: swept completely. `rows`: its rows are events, not records. `waiting`: will be swept. `off`: is not polled. */
    async about(workspace: string, list: ListName) {
      const options = configured(workspace, list);
      const json = await redis.hget(keys.sweep(workspace, list), 'lastSweep');
      const { held, unreadable = [] } = readSummary(json, { keys, workspace }, list) ?? {};
      const is: 'off' | 'rows' | 'waiting' | 'ready' =
        options?.enabled !== true
          ? 'off'
          : options.rules.list.recognisedOnly
            ? 'rows'
            : json === null
              ? 'waiting'
              : 'ready';
      return {
        is,
        heldRemovals: heldOf(held, 'removals')?.count ?? 0,
        heldCreations: heldOf(held, 'creations')?.count ?? 0,
        /** Null: a record without a readable id. */
        unreadable: new Set(unreadable.map(({ id }) => id)),
        isErased: await privacyStore({ redis, keys, workspace }).erased(list),
      };
    },
    read,
    heads,
    /** The ids of all records of the list, in steps. One may come twice. */
    async *ids(workspace: string, list: ListName): AsyncGenerator<string[]> {
      for await (const step of everyDigest({ redis, keys, workspace }, list))
        yield step.flatMap(([id, digest]) => (isInList(digest) ? [id] : []));
    },
    /** Whether a receiver's contents mean the same as the stored ones. False where no image is stored. */
    isSame({ workspace, list, id }: { workspace: string; list: ListName; id: string }, image: string, data: object) {
      const rules = rulesOf(workspace, list);
      const stored = withId(JSON.parse(image) as UncheckedRecord, id);
      return rules !== undefined && diffRecords(stored, withId(data as UncheckedRecord, id), rules).length === 0;
    },
    /**
     * Events that tell a receiver the present state of records, or that they are gone. The sequence is above the receiver's, where that is higher
     * than the stored one: an epoch has begun since. Null: no image is stored, or the list is not swept.
     */
    async present(workspace: string, records: readonly { list: ListName; id: string; held: number | null }[]) {
      const least = firstSequenceOf((await readState(redis, keys, workspace))?.epoch ?? 0) - 1;
      const observedAt = isoTime(clock.now());
      return await Promise.all(
        records.map(async ({ list, id: key, held }) => {
          const rules = rulesOf(workspace, list);
          if (rules === undefined) return null;
          const [state = null] = await read(workspace, list, [key]);
          const [stored, has] = [state?.sequence ?? 0, held ?? -1];
          const sequence = has < stored ? stored : Math.max(has, least);
          const observation = { workspace, observedAt, sweep: '' };
          if (state === null || state.is === 'gone' || state.is === 'discarded') {
            const removal = { key, record: null, sequence: has < sequence ? sequence : has + 1 };
            return removalEvent(removal, { rules, observation });
          }
          if (state.image === null) return null;
          const record = JSON.parse(state.image) as UncheckedRecord;
          return snapshotEvent({ key, record, rules, observation }, sequence);
        }),
      );
    },
    titleOf: (image: string | null): string | null =>
      image === null ? null : titleOfRecord(JSON.parse(image) as UncheckedRecord),
  };
}

function statesReader({ redis, keys }: Pick<ListStatesDeps, 'redis' | 'keys'>) {
  const areMissing = async (workspace: string, list: ListName, ids: readonly string[]): Promise<boolean[]> => {
    const key = keys.missing(workspace, list);
    // Mostly there are none.
    if ((await redis.hlen(key)) === 0) return ids.map(() => false);
    return (await redis.hmget(key, ...ids)).map((since) => since !== null);
  };
  const readWith = async <Stored, State>(
    { workspace, list, ids }: { workspace: string; list: ListName; ids: readonly string[] },
    read: (scope: WorkspaceRedis, list: ListName, ids: readonly string[]) => Promise<(Stored | null)[]>,
    stateIn: (stored: Stored, isMissing: boolean) => State,
  ): Promise<(State | null)[]> =>
    await inChunks(ids, async (chunk) => {
      const [stored, missing] = await Promise.all([
        read({ redis, keys, workspace }, list, chunk),
        areMissing(workspace, list, chunk),
      ]);
      return stored.map((one, index) => one && stateIn(one, missing[index] === true));
    });
  return {
    read: async (workspace: string, list: ListName, ids: readonly string[]) =>
      await readWith({ workspace, list, ids }, readRecords, storedState),
    /** Reads what tells whether a record differs, without the contents. */
    heads: async (workspace: string, list: ListName, ids: readonly string[]) =>
      await readWith({ workspace, list, ids }, readRecordHeads, headState),
  };
}

function headState({ digest, sequence }: RecordHead, isMissing: boolean): Pick<RecordState, 'is' | 'sequence'> {
  return { is: stateOf(digest, isMissing), sequence };
}

function storedState(record: SerialisedRecord, isMissing: boolean): RecordState {
  const { digest, sequence, decisions = [], image } = record;
  const eventId = decisions.findLast(({ event }) => event !== undefined)?.event;
  return { is: stateOf(digest, isMissing), isDiscarded: isDiscarded(record), sequence, eventId, image };
}
