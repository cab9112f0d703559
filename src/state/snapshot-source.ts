/** The detector's memory, step by step, for subscriptions that begin with a snapshot. Only looks. */
import type { Redis } from 'ioredis';
import type { ListReadiness, Scan, ScanPosition, SnapshotSource } from '../dispatch/ports.js';
import type { UncheckedRecord } from '../crm/record.js';
import type { Rules } from '../detect/rules.js';
import { snapshotEvent } from '../detect/snapshot.js';
import { BEFORE_ALL } from '../events/log-id.js';
import type { ListName } from '../events/lists.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import type { Keys } from './keys.js';
import { unpackRecord } from './packing.js';
import { loadScript } from './scripts.js';
import { readSummary } from './sweep-memory.js';

const scanImages = loadScript('scan-images');

/** Records of one step, roughly: what a process holds of a list of millions. */
const STEP = 250;
const BEGINNING = '0';

export interface SnapshotSourceDeps {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  /** What the configuration says of a list. */
  list: (workspace: string, list: ListName) => { enabled: boolean; images: boolean; rules: Rules };
}

export function createSnapshotSource({ redis, keys, clock, list: configured }: SnapshotSourceDeps): SnapshotSource {
  const readiness = async (workspace: string, list: ListName): Promise<ListReadiness> => {
    const { enabled, images } = configured(workspace, list);
    if (!enabled) return 'off';
    if (!images) return 'imageless';
    return (await redis.hexists(keys.sweep(workspace, list), 'baselineAt')) === 1 ? 'ready' : 'waiting';
  };
  return {
    async readiness(workspace, lists) {
      return new Map(await Promise.all(lists.map(async (list) => [list, await readiness(workspace, list)] as const)));
    },
    async scan(workspace, list, from) {
      const look = await lookAt({ redis, keys }, { workspace, list, from });
      const { rules } = configured(workspace, list);
      const observation = { workspace, sweep: look.sweep, previousSweep: null, observedAt: isoTime(clock.now()) };
      const records: Scan['records'][number][] = [];
      let withoutImage = 0;
      for (const [key, packed] of look.records) {
        const { image, gone, sequence } = unpackRecord(packed);
        if (image !== null) {
          const record = JSON.parse(image) as UncheckedRecord;
          records.push({ key, event: snapshotEvent({ key, record, rules, observation }, sequence) });
        } else if (gone !== undefined) records.push({ key, event: null });
        else withoutImage += 1;
      }
      return { next: look.next, tail: look.tail, records, withoutImage };
    },
  };
}

interface Look extends Pick<Scan, 'next' | 'tail'> {
  records: [key: string, packed: Buffer][];
  /** The sweep that last saw all of the list. */
  sweep: string;
}

async function lookAt(
  { redis, keys }: Pick<SnapshotSourceDeps, 'redis' | 'keys'>,
  { workspace, list, from }: { workspace: string; list: ListName; from: ScanPosition | null },
): Promise<Look> {
  const touched = [keys.records(workspace, list), keys.log(workspace), keys.sweep(workspace, list)];
  const place = from ?? { cursor: BEGINNING, server: '' };
  const [cursor, flat, tail, lastSweep, server] = (await scanImages.runBuffer(redis, touched, [
    place.cursor,
    STEP,
    place.server,
  ])) as [Buffer, Buffer[], Buffer, Buffer, Buffer];
  const records: Look['records'] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [key, packed] = [flat[at], flat[at + 1]];
    if (key !== undefined && packed !== undefined) records.push([key.toString(), packed]);
  }
  const summary = readSummary(lastSweep.toString() || null);
  const [at, end] = [cursor.toString(), tail.toString()];
  return {
    next: at === BEGINNING ? null : { cursor: at, server: server.toString() },
    tail: end === '' ? BEFORE_ALL : end,
    records,
    sweep: summary?.sweepId ?? '',
  };
}
