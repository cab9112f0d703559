import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import { keyOfField, NO_RECORD, recordField } from '../../src/state/record-key.js';
import { learnShape, NO_SHAPES, packShapes, unpackShapes, withNames, withoutNames } from '../../src/state/shapes.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import { noCounts } from '../../src/sweep/counts.js';
import type { RecordWrite, SweepStore } from '../../src/sweep/store.js';
import { useRedis } from '../support/redis.js';

const shapesOf = (...records: readonly object[]) =>
  records.reduce<typeof NO_SHAPES>((shapes, record) => learnShape(shapes, Object.keys(record)), NO_SHAPES);

describe('shapes', () => {
  it('shape: the texts between names are put together again, exactly as they were, whatever the names and values contain', () => {
    const name = fc.oneof(fc.constantFrom('id', '이름', '__proto__', 'a","b":', '\\', '7', ''), fc.string());
    const record = fc.dictionary(name, fc.jsonValue(), { minKeys: 1, maxKeys: 8 });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 4 }), record, (learned, other) => {
        const shapes = shapesOf(...learned);
        for (const one of [...learned, other]) {
          const text = JSON.stringify(one);
          const without = withoutNames(shapes, text);
          if (without !== null) expect(withNames(shapes, without.shape, without.pieces)).toBe(text);
        }
      }),
    );
  });

  it('shape: a record gets the shape with the most names, not the newest', () => {
    const shapes = shapesOf({ id: 1, 이름: 1, 이메일: 1 }, { id: 1, 이메일: 1 });
    expect(withoutNames(shapes, '{"id":"a","이름":"b","이메일":"c"}')).toEqual({ shape: 0, pieces: '"a"\n"b"\n"c"' });
    expect(withoutNames(shapes, '{"id":"a","이메일":"c"}')).toEqual({ shape: 1, pieces: '"a"\n"c"' });
    expect(withoutNames(shapes, '{"이름":"b"}')).toBeNull();
  });

  it('shape: no more than 32 are kept', () => {
    const shapes = shapesOf(...Array.from({ length: 40 }, (_, n) => ({ id: 1, [`필드 ${n}`]: 1 })));
    expect(shapes.shapes).toHaveLength(32);
    expect(unpackShapes(packShapes(shapes), 'k')).toEqual(shapes);
  });

  it('record key: every key is read as it was written, and no two keys share a field', () => {
    const uuid = fc.uuid();
    const hex = fc.string({
      unit: fc.constantFrom(...Array.from({ length: 16 }, (_, n) => n.toString(16))),
      minLength: 24,
      maxLength: 24,
    });
    const odd = fc.constantFrom(
      '',
      '\x00',
      '\x01abcdefghijkl',
      '\x02',
      '\x03',
      '\x03a',
      'ABCDEF0123456789ABCDEF01',
      '가',
    );
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(uuid, hex, odd, fc.string({ unit: 'grapheme' }))), (keys) => {
        const fields = keys.map(recordField);
        expect(fields.map(keyOfField)).toEqual(keys);
        expect(new Set(fields.map((field) => field.toString('hex'))).size).toBe(keys.length);
      }),
    );
    expect(keyOfField(NO_RECORD)).toBeNull();
  });
});

describe('shapes in Redis', () => {
  const test = useRedis();
  const list: BuiltInList = 'people';
  const open = (redis = test.redis): SweepStore => createSweepStore(redis, test.keys, 'acme');
  const record = (id: string, name = '이름'): RecordWrite => ({
    key: id,
    state: { digest: '0123456789abcdef', sequence: 0, image: JSON.stringify({ id, [name]: '가상인' }) },
    event: null,
  });
  const commit = async (store: SweepStore, writes: readonly RecordWrite[]) => {
    const lease = await store.acquire(list, 60_000);
    const token = lease.outcome === 'held' ? lease.holder : lease.token;
    const checkpoint = {
      ...{ sweepId: 's', startedAt: '2026-03-01T00:00:00.000Z', mode: 'changes' as const, cursor: 'c', pages: 1 },
      ...{ counts: noCounts(), firstPage: null },
    };
    return await store.commit(list, { token, checkpoint, summary: null, writes });
  };
  const names = (from: number): RecordWrite[] =>
    Array.from({ length: 12 }, (_, n) => record(`p${from + n}`, `필드 ${from}`));

  it('shape: two processes that add shapes in turns read all records', async () => {
    const other = test.redis.duplicate();
    const [one, two] = [open(), open(other)];
    for (let from = 0; from < 60; from += 12) await commit(from % 24 === 0 ? one : two, names(from));
    const keys = Array.from({ length: 60 }, (_, n) => `p${n}`);
    for (const store of [one, two]) {
      const read = await store.records(list, keys);
      expect(read.map((state) => state?.image)).toEqual(keys.map((_, n) => names(n - (n % 12))[n % 12]?.state.image));
    }
    other.disconnect();
  });

  it('shape: after the records were lost, no record is read or written with a shape of the time before', async () => {
    const [store, reader] = [open(), open(test.redis.duplicate())];
    await commit(store, names(0));
    await reader.records(list, ['p0']);
    await test.redis.del(test.keys.records('acme', list), test.keys.sweep('acme', list));
    const other = test.redis.duplicate();
    await commit(open(other), names(100));
    await commit(store, names(200));
    for (const one of [store, reader]) {
      const read = await one.records(list, ['p100', 'p200']);
      expect(read.map((state) => state?.image)).toEqual([names(100)[0]?.state.image, names(200)[0]?.state.image]);
    }
    other.disconnect();
  });
});
