/** Reads stored records step by step, for snapshots, and says whether they are what the CRM shows. Changes nothing. */
import type { ListName } from '../../crm/lists/lists.js';
import type { UncheckedRecord } from '../../crm/record.js';
import type { Rules } from '../detect/rules.js';
import { snapshotEvent, type Observation } from '../detect/build-event.js';
import { isStored } from '../detect/record-state.js';
import { removalEvent } from '../detect/removal.js';
import { BEFORE_ALL } from '../../events/log-id.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Redis } from '../../redis/client.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import { readSummary } from './checkpoint.js';
import type { Keys } from '../../redis/keys.js';
import { loadScript } from '../../redis/scripts.js';
import { HELD_KINDS } from '../detect/held.js';
import { decisionField, SNAPSHOTS_FIELD } from './sweep-state.js';
import { recordsIn, unpackAll } from './stored-records.js';
import type { SerialisedRecord } from './sweep-state.js';

const scanImages = loadScript('scan-images', import.meta.url);

/** Records per step, roughly. It limits the memory of a process that reads a list of millions. */
const STEP = 250;
const FIRST_CURSOR = '0';

/** Valid until the Redis server restarts, which loses its cursors. */
interface ScanPosition {
  cursor: string;
  server: string;
}

export interface SnapshotSourceDeps {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  /** The options of a list; null where the workspace has no such list. */
  list: (workspace: string, list: ListName) => { enabled: boolean; rules: Rules } | null;
}

export type SnapshotSource = ReturnType<typeof createSnapshotSource>;

/** Whether the stored records of a list are what the CRM shows. */
export interface ListCondition {
  /** `ready`: complete baseline. `waiting`: will have one. `off`: not swept. */
  readiness: 'ready' | 'waiting' | 'off';
  /** How many records the last complete sweep held. */
  held: number;
  /** The records that it could not read: the first few. */
  unreadable: readonly (string | null)[];
  /** It changes with each decision after which records are stored without an event, and when one enters or leaves the list so. */
  decided: string;
}

/** Nothing that the CRM shows is missing among the stored records. */
export function isWhole({ readiness, held, unreadable }: ListCondition): boolean {
  return readiness === 'ready' && held === 0 && unreadable.length === 0;
}

export function createSnapshotSource(deps: SnapshotSourceDeps) {
  const { redis, keys, clock, list: configured } = deps;
  const condition = async (workspace: string, list: ListName, least = 0): Promise<ListCondition> => {
    const options = configured(workspace, list);
    const hash = keys.sweep(workspace, list);
    const discarded = HELD_KINDS.map((what) => decisionField('discardedAt', what));
    const fields = ['baselineAt', ...discarded, 'quietly'];
    const [lastSweep = null, ...decided] = await redis.hmget(hash, 'lastSweep', ...fields);
    const [baselineAt = null] = decided;
    const summary = readSummary(lastSweep, { keys, workspace }, list);
    const { epoch = 0, held = [], unreadable = [] } = summary ?? {};
    // Compares epochs, not times: a clock may have been set back since an earlier sweep.
    const stored = baselineAt !== null && epoch >= least ? 'ready' : 'waiting';
    return {
      readiness: options?.enabled === true ? stored : 'off',
      held: held.reduce((sum, { count }) => sum + count, 0),
      unreadable: unreadable.map(({ id }) => id),
      decided: decided.join(' '),
    };
  };
  return {
    /** Before its condition is asked for: what was discarded by now is gone for the receivers of the snapshot once it is complete. */
    async begin(workspace: string, list: ListName): Promise<void> {
      await redis.hincrby(keys.sweep(workspace, list), SNAPSHOTS_FIELD, 1);
    },
    /** @param least `waiting` until a sweep that began in this epoch, or a later one, is complete. @defaultValue any sweep will do */
    condition,
    /**
     * Over all steps, each record comes at least once.
     * @param least events have at least this sequence, and records that were deleted at a higher one are shown as deleted. @defaultValue deleted records are left out
     */
    async scan(workspace: string, list: ListName, from: ScanPosition | null, least?: number) {
      const options = configured(workspace, list);
      if (options === null) return { next: null, tail: BEFORE_ALL, records: [] };
      const { rules } = options;
      const scanned = await scan(deps, { workspace, list, from });
      const { sweep, next, tail } = scanned;
      const observation = { workspace, sweep, observedAt: isoTime(clock.now()) };
      const stored = unpackAll({ redis, keys, workspace }, list, scanned.records);
      const records = stored.map(([key, record]) => ({ key, ...shownAs({ key, record, rules, observation, least }) }));
      return { next, tail, records };
    },
  };
}

/** A stored record as a receiver gets it. `left out`: it is not in the list, and a receiver that has it has an older sequence. */
type ShownRecord = { as: 'listed' | 'gone'; event: ChangeEvent } | { as: 'left out'; event: null };

interface StoredInput {
  key: string;
  record: SerialisedRecord;
  rules: Rules;
  observation: Observation;
  least: number | undefined;
}

function shownAs({ key, record: stored, rules, observation, least }: StoredInput): ShownRecord {
  const { image, gone, sequence } = stored;
  if (isStored(stored) && image !== null) {
    const record = JSON.parse(image) as UncheckedRecord;
    const event = snapshotEvent({ key, record, rules, observation }, Math.max(sequence, least ?? 0));
    return { as: 'listed', event };
  }
  // A person keeps the removal from the receivers.
  if (gone === undefined) return { as: 'left out', event: null };
  // A record that was dropped without an event has the sequence of its last event.
  if (least === undefined || sequence <= least || gone.dropped === true) return { as: 'left out', event: null };
  // It has the id and the sequence of the event that reported the removal: a receiver that had that one ignores this one.
  const event = removalEvent(
    { key, record: null, sequence },
    { rules, observation: { ...observation, observedAt: gone.at } },
  );
  return { as: 'gone', event };
}

interface Scanned {
  next: ScanPosition | null;
  tail: string;
  records: [key: string, packed: Buffer][];
  sweep: string;
}

async function scan(
  { redis, keys }: Pick<SnapshotSourceDeps, 'redis' | 'keys'>,
  { workspace, list, from }: { workspace: string; list: ListName; from: ScanPosition | null },
): Promise<Scanned> {
  const touched = [keys.records(workspace, list), keys.log(workspace), keys.sweep(workspace, list)];
  const position = from ?? { cursor: FIRST_CURSOR, server: '' };
  const args = [position.cursor, STEP, position.server];
  const answer = await scanImages.runBuffer(redis, touched, args);
  const [cursor, flat, tail, lastSweep, server] = answer as [Buffer, Buffer[], Buffer, Buffer, Buffer];
  const summary = readSummary(lastSweep.toString() || null, { keys, workspace }, list);
  const [at, end] = [cursor.toString(), tail.toString()];
  return {
    next: at === FIRST_CURSOR ? null : { cursor: at, server: server.toString() },
    tail: end === '' ? BEFORE_ALL : end,
    records: recordsIn(flat),
    sweep: summary?.sweepId ?? '',
  };
}
