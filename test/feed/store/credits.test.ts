import { expect, it } from 'vitest';
import { descriptorOf } from '../../../src/crm/lists/lists.js';
import type { Credit } from '../../../src/feed/detect/actor.js';
import { createCreditStore } from '../../../src/feed/store/credits.js';
import { useRedis } from '../../support/redis.js';

const people = descriptorOf('people');
const credit = (row: string): Credit => ({ row, field: 'f', value: null, at: '2026-03-02T10:00:00.000Z', actor: null });
const HOUR_MS = 3_600_000;

const redis = useRedis();
const store = () => createCreditStore({ redis: redis.redis, keys: redis.keys, workspace: 'acme' });
const add = (record: string, rows: readonly string[], nowMs = 0) =>
  store().add(
    rows.map((row) => ({ list: people, id: record, credit: credit(row) })),
    nowMs,
  );
const rowsOf = async (...records: string[]) =>
  (await store().of('people', records)).map((credits) => credits.map(({ row }) => row));

it('credits: are kept by record, in the order in which they were added', async () => {
  await add('a', ['1', '2']);
  await add('b', ['3']);
  await add('a', ['4']);
  expect(await rowsOf('a', 'none', 'b')).toEqual([['1', '2', '4'], [], ['3']]);
  expect(await store().of('memo', ['a'])).toEqual([[]]);
});

it('credits: of a record, the last 32 rows are kept', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => String(index));
  await add('a', rows);
  expect(await rowsOf('a')).toEqual([rows.slice(8)]);
});

it('credits: a record without a new row is dropped after an hour, and both keys have an end', async () => {
  await add('a', ['1'], 0);
  await add('b', ['2'], HOUR_MS / 2);
  await add('c', ['3'], HOUR_MS + 1);
  expect(await rowsOf('a', 'b', 'c')).toEqual([[], ['2'], ['3']]);
  for (const key of [redis.keys.credits('acme'), redis.keys.credited('acme')]) {
    const ttl = await redis.redis.pttl(key);
    expect(ttl > HOUR_MS / 2 && ttl <= HOUR_MS).toBe(true);
  }
});

it('credits: the last 20,000 records are kept', async () => {
  const of = (record: number) => ({ list: people, id: String(record), credit: credit('1') });
  for (let from = 0; from < 20_010; from += 1_000) {
    const records = Array.from({ length: Math.min(1_000, 20_010 - from) }, (_, index) => of(from + index));
    await store().add(records, from);
  }
  expect(await redis.redis.hlen(redis.keys.credits('acme'))).toBe(20_000);
  expect(await rowsOf('20009')).toEqual([['1']]);
});
