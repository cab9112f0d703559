/** Reads stored records step by step, for subscriptions that start with a snapshot. Changes nothing. */
import type { ListName } from '../../crm/lists/lists.js';
import type { UncheckedRecord } from '../../crm/record.js';
import type { Rules } from '../detect/rules.js';
import { snapshotEvent } from '../detect/build-event.js';
import { BEFORE_ALL } from '../../events/log-id.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Redis } from '../../redis/client.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import { isInFuture } from '../../kit/stored-time.js';
import { readSummary } from './checkpoint.js';
import type { Keys } from '../../redis/keys.js';
import { loadScript } from '../../redis/scripts.js';
import { recordsIn, unpackAll } from './stored-records.js';

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
  list: (workspace: string, list: ListName) => { enabled: boolean; images: boolean; rules: Rules } | null;
}

export type SnapshotSource = ReturnType<typeof createSnapshotSource>;

export function createSnapshotSource(deps: SnapshotSourceDeps) {
  const { redis, keys, clock, list: configured } = deps;
  /** `ready`: complete baseline. A `since` in the future is none: the snapshot would wait for it. `waiting`: will have one. `off`: not swept. `imageless`: cannot be shown. */
  const readiness = async (workspace: string, list: ListName, since = '') => {
    const options = configured(workspace, list);
    if (options?.enabled !== true) return 'off';
    if (!options.images) return 'imageless';
    const [baselineAt, lastSweep] = await redis.hmget(keys.sweep(workspace, list), 'baselineAt', 'lastSweep');
    const { startedAt = '' } = readSummary(lastSweep ?? null, { keys, workspace }, list) ?? {};
    const isSince = startedAt >= since || isInFuture(Date.parse(since), clock.now());
    return baselineAt != null && isSince ? 'ready' : 'waiting';
  };
  return {
    /** @param since `waiting` until a sweep that began later is complete; ISO 8601. @defaultValue any sweep will do */
    async readiness(workspace: string, lists: readonly ListName[], since?: string) {
      const each = lists.map(async (list) => [list, await readiness(workspace, list, since)] as const);
      return new Map(await Promise.all(each));
    },
    /** Over all steps, each record comes at least once. @param least events have at least this sequence */
    async scan(workspace: string, list: ListName, from: ScanPosition | null, least = 0) {
      const options = configured(workspace, list);
      if (options === null) return { next: null, tail: BEFORE_ALL, records: [], withoutImage: 0 };
      const { rules } = options;
      const scanned = await scan(deps, { workspace, list, from });
      const { sweep, next, tail } = scanned;
      const observation = { workspace, sweep, observedAt: isoTime(clock.now()) };
      /** `event` is null where the record is deleted. Records without an image are only counted. */
      const records: { key: string; event: ChangeEvent | null }[] = [];
      let withoutImage = 0;
      const stored = unpackAll({ redis, keys, workspace }, list, scanned.records);
      for (const [key, { image, gone, sequence }] of stored) {
        if (image !== null) {
          const record = JSON.parse(image) as UncheckedRecord;
          records.push({ key, event: snapshotEvent({ key, record, rules, observation }, Math.max(sequence, least)) });
        } else if (gone !== undefined) records.push({ key, event: null });
        else withoutImage += 1;
      }
      return { next, tail, records, withoutImage };
    },
  };
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
