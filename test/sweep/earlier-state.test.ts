import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { listedApi } from '../support/listed.js';
import { people } from '../support/people-rows.js';
import { useRedis, type TestRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

type Hash = Record<string, string | { base64: string }>;

/** What an earlier release left, byte for byte: 30 people, after a drift of one field and in the midst of another's. */
async function restore({ redis, keys }: TestRedis, fixture: string): Promise<void> {
  const url = new URL(`../fixtures/state/${fixture}.json`, import.meta.url);
  const stored = JSON.parse(await readFile(url, 'utf8')) as Record<
    'sweep' | 'walk' | 'members' | 'digests' | 'records',
    Hash
  >;
  for (const kind of ['sweep', 'walk', 'members', 'digests', 'records'] as const) {
    const bytes = Object.entries(stored[kind]).flatMap(([field, value]) => [
      field,
      typeof value === 'string' ? value : Buffer.from(value.base64, 'base64'),
    ]);
    await redis.hset(keys[kind]('acme', 'people'), ...bytes);
  }
  // The sweep under way began a moment ago: it would be taken up again.
  const checkpoint = JSON.parse((await redis.hget(keys.sweep('acme', 'people'), 'checkpoint')) ?? '') as object;
  const begun = { ...checkpoint, startedAt: new Date().toISOString() };
  await redis.hset(keys.sweep('acme', 'people'), 'checkpoint', JSON.stringify(begun));
}

const redis = useRedis();

it('goes on from what an earlier release left in the midst of a change of the schema, and loses and invents nothing', async () => {
  await restore(redis, 'mid-drift-form-1');
  const now = (index: number): object => ({ 등급: ['A'], ...(index === 25 ? {} : { 출처: 'web' }) });
  const { sweep, told, events } = sweptList(redis, listedApi(people(30, now)));
  expect(await sweep()).toMatchObject({ counts: { seen: 30, edited: 1 }, muted: { schema: 29 } });
  expect((await sweep()).counts).toMatchObject({ seen: 30, unchanged: 30 });
  expect(await told()).toEqual(['schema_changed schema:등급 1', 'updated p025 1']);
  const [, edit] = await events();
  expect(edit?.data.changes).toEqual([{ field: '출처', before: 'web', after: null }]);
});
