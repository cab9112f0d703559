import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import { keyOfField, recordField } from '../../src/state/keys.js';
import { columnsOf, fieldNames, textOf, withFurtherNames, type FieldNames } from '../../src/state/field-names.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import { noCounts } from '../../src/sweep/counts.js';
import type { RecordWrite, SweepStore } from '../../src/sweep/store.js';
import { useRedis } from '../support/redis.js';

describe('field names', () => {
  it('field names: a table has those of the one before and the further ones, and is named by them', () => {
    const first = withFurtherNames([], ['id', '이름']);
    expect(first).toEqual(fieldNames(['id', '이름']));
    expect(withFurtherNames([first], ['id'])).toBe(first);
    const second = withFurtherNames([first], ['이메일', 'id']);
    expect(second).toEqual(fieldNames(['이메일', 'id', '이름']));
    expect(withFurtherNames([second, first], ['이름', '이메일'])).toBe(second);
    expect(second.id).not.toBe(first.id);
  });

  it('field names: a text without them is put together again exactly, whatever the names and values contain', () => {
    const name = fc.oneof(fc.constantFrom('id', '이름', '__proto__', 'a","b":', '\\', '7', ''), fc.string());
    const record = fc.dictionary(name, fc.jsonValue(), { maxKeys: 8 });
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 6 }), record, (names, one) => {
        const text = JSON.stringify(one);
        for (const table of [fieldNames(names), fieldNames(Object.keys(one))]) {
          const columns = columnsOf(table, text);
          if (columns !== null) expect(textOf(table, columns)).toBe(text);
        }
      }),
    );
  });

  it('field names: absent and further ones cost a record little', () => {
    const table = fieldNames(['id', '이름', '이메일']);
    expect(columnsOf(table, '{"id":"a","이름":"b","이메일":"c"}')).toBe('\n"a"\n"b"\n"c"');
    expect(columnsOf(table, '{"id":"a","이메일":"c"}')).toBe('\n"a"\n\n"c"');
    expect(columnsOf(table, '{"new":1,"id":"a","other":{}}')).toBe(',"new":1\n"a","other":{}\n\n');
    expect(columnsOf(table, '{ "id": 1 }')).toBe(', "id": 1 \n\n\n');
    expect(columnsOf(table, '{"id":\n1}')).toBeNull();
  });

  it('field names: rows with other names from row to row make few tables', () => {
    const known: FieldNames[] = [];
    for (let row = 0; row < 40; row += 1) {
      const next = withFurtherNames(known, ['id', `필드 ${row}`]);
      if (!known.includes(next)) known.push(next);
    }
    expect(known.map(({ names }) => names.length)).toEqual(Array.from({ length: 16 }, (_, n) => n + 2));
    expect(
      withFurtherNames(
        [],
        Array.from({ length: 700 }, (_, n) => `f${n}`),
      ).names,
    ).toHaveLength(500);
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
  });
});

describe('field names in Redis', () => {
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
    const result = await store.commit(list, { token, checkpoint, summary: null, writes });
    await store.release(list, token);
    return result;
  };
  const names = (from: number): RecordWrite[] =>
    Array.from({ length: 12 }, (_, n) => record(`p${from + n}`, `필드 ${from}`));

  it('field names: two processes that add names in turns read all records', async () => {
    const other = test.redis.duplicate();
    const [one, two] = [open(), open(other)];
    for (let from = 0; from < 60; from += 12) await commit(from % 24 === 0 ? one : two, names(from));
    const keys = Array.from({ length: 60 }, (_, n) => `p${n}`);
    for (const store of [one, two]) {
      const read = await store.records(list, keys);
      expect(read.map((state) => state?.image)).toEqual(keys.map((_, n) => names(n - (n % 12))[n % 12]?.state?.image));
    }
    other.disconnect();
  });

  it('field names: a record whose names were deleted is refused', async () => {
    const store = open();
    await commit(store, names(0));
    await test.redis.del(test.keys.names('acme', list));
    await expect(store.records(list, ['p0'])).rejects.toMatchObject({
      code: 'CF_STATE_UNREADABLE',
      message: expect.stringMatching(
        /names:people", "[0-9a-f]{8}": expected the field names of records of list "people", found nothing\. .*DEL .*records:people/,
      ) as string,
    });
    await commit(store, names(0));
    expect((await store.records(list, ['p0']))[0]?.image).toBe(names(0)[0]?.state?.image);
  });
});
