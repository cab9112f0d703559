/**
 * What a history costs: bytes of a change, the time of a sweep in which everything or nothing changed with and without it, and a list as of a time:
 * `npm run bench -- history --records 100000 --with changes=10`. The changes are written into Redis as commits would have; the export runs in a process
 * of its own, which shows its memory.
 */
import type { Redis } from 'ioredis';
import { packPast } from '../src/feed/store/history-packing.js';
import { packRecord } from '../src/feed/store/packing.js';
import { eventId } from '../src/events/envelope.js';
import type { ChangeEvent } from '../src/events/types.js';
import { Keys, recordField } from '../src/redis/keys.js';
import { atMost, type Bench } from './support/bench.js';
import { exportApart } from './support/exporter.js';
import { ours } from './support/ours.js';
import { person } from './support/person.js';
import { withPages, withRedis } from './support/stage.js';
import { inTurns, median, rounded, type Timed } from './support/turns.js';

const SWEPT = 20_000;
const WORKSPACE = 'bench';
const LIST = 'people';
const BEGIN = Date.UTC(2026, 8, 1);
/** Records of a page. */
const ROWS = 100;
/** All records change once in it. */
const ROUND_MS = 3_600_000;

export const history: Bench = {
  name: 'history',
  does: 'bytes of a change, sweeps with and without a history, and a list as of a time',
  records: [100_000],
  run: async ({ records: [records = 0], turns, more }) => {
    const rounds = Number(more['changes'] ?? 10);
    const asOf = await withRedis(async (redis, url) => {
      const bytes = await writeHistory(redis, records, rounds);
      return {
        ...bytes,
        ...(await exportApart({ url, prefix: WORKSPACE, workspace: WORKSPACE, list: LIST, atMs: BEGIN })),
      };
    });
    const sweeps = await compareSweeps(turns);
    const ratios = {
      'bytes of a change': asOf.bytesPerChange,
      'changed: with to without': sweeps.changed,
      'unchanged: with to without': sweeps.unchanged,
      'first rows, ms': asOf.firstMs,
      'all rows, ms': asOf.ms,
    };
    const goals = {
      'bytes of a change': atMost(120),
      'changed: with to without': atMost(1.1),
      'first rows, ms': atMost(1_000),
      'all rows, ms': atMost(20_000),
    };
    return {
      median: asOf.bytesPerChange,
      unit: 'bytes',
      ratios,
      goals,
      facts: { records, changes: records * rounds, ...asOf },
    };
  },
};

/** Changes of a reference and a text, with the time of change of the record. */
function pastOf(id: string, sequence: number, atMs: number): Buffer {
  const at = new Date(atMs).toISOString();
  const data = { changes: [], class: 'edited', sequence } as unknown as ChangeEvent['data'];
  const event = { id: eventId([id, at]), type: 'crm.person.updated', time: at, data } as unknown as ChangeEvent;
  const fields = {
    담당자: { id: `5b0e0c52-0000-4000-8000-${String(sequence).padStart(12, '0')}`, name: `담당${sequence}` },
    단계: sequence % 2 === 0 ? '제안' : '계약',
    '수정 날짜': new Date(atMs - ROUND_MS).toISOString(),
  };
  return packPast({ past: { at, undo: { was: 'other', fields } }, event, sequence });
}

async function writeHistory(redis: Redis, records: number, rounds: number) {
  const keys = new Keys(WORKSPACE);
  const [of, at] = [
    (key: (workspace: string, list: string) => string) => key(WORKSPACE, LIST),
    new Map<number, Buffer>(),
  ];
  await redis.hset(of(keys.sweep), 'historySince', BEGIN, 'baselineAt', new Date(BEGIN).toISOString());
  for (let round = 0; round < rounds; round += 1) {
    for (let from = 0; from < records; from += 1_000) {
      const pipeline = redis.pipeline();
      for (let index = from; index < Math.min(records, from + 1_000); index += 1) {
        const record = person(index);
        // What one page has changed is committed in the same moment, one after the other.
        const [page, serial] = [Math.floor(index / ROWS), index % ROWS];
        const ms = BEGIN + (round + 1) * ROUND_MS + Math.floor(((page * ROWS) / records) * ROUND_MS);
        const place = Buffer.alloc(10);
        place.writeUIntBE(ms, 0, 6);
        place.writeUInt32BE(serial, 6);
        const packed = Buffer.concat([pastOf(record.id, round + 1, ms), at.get(index) ?? Buffer.alloc(10)]);
        pipeline.xadd(of(keys.history), `${ms}-${serial}`, '', packed);
        at.set(index, place);
        if (round > 0) continue;
        const image = JSON.stringify(record);
        const stored = packRecord(record.id, { digest: '0123456789abcdef', sequence: rounds, image });
        pipeline.hset(of(keys.records), recordField(record.id), stored);
      }
      await pipeline.exec();
    }
  }
  for (let index = 0; index < records; index += 1)
    await redis.hset(of(keys.changed), recordField(person(index).id), at.get(index) ?? '');
  const used = async (key: string): Promise<number> => (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
  const [bytes, heads] = [await used(of(keys.history)), await used(of(keys.changed))];
  return { bytesPerChange: rounded(bytes / (records * rounds), 1), bytesPerRecord: rounded(heads / records, 1) };
}

async function compareSweeps(turns: number): Promise<{ changed: number; unchanged: number }> {
  return await withRedis(
    async (redis) =>
      await withPages(SWEPT, async ({ url, change }) => {
        const kept = { keepMs: 90 * 86_400_000, changes: 200_000 };
        const both = [
          { ...ours({ url, redis, workspace: 'with', history: kept }), name: 'with' },
          { ...ours({ url, redis, workspace: 'without' }), name: 'without' },
        ];
        for (let sweep = 0; sweep < 3; sweep += 1) for (const one of both) await one.sweep();
        const cpuOf = (times: ReadonlyMap<string, Timed[]>, name: string): number =>
          median((times.get(name) ?? []).map(({ cpuMs }) => cpuMs));
        const ratio = (times: ReadonlyMap<string, Timed[]>): number =>
          rounded(cpuOf(times, 'with') / cpuOf(times, 'without'));
        const unchanged = ratio(await inTurns(both, { turns, records: SWEPT }));
        const before = async (): Promise<void> => {
          await change('all', 1);
        };
        const changed = ratio(await inTurns(both, { turns, records: SWEPT, before }));
        for (const one of both) await one.close();
        return { changed, unchanged };
      }),
  );
}
