/** State that is read back damaged: any value of a workspace holds anything. What reads it gives a clear error that shows no contents, or goes on. */
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { ChangefeedError } from '../../src/kit/errors.js';
import { Keys } from '../../src/redis/keys.js';
import { openFeed } from '../support/feed.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';
import { torn } from './hostile.js';
import { runs } from './runs.js';

const redis = useRedis();

const LISTS = ['people', 'todo'] as const;
/** In every person and todo. */
const CONTENTS = 'contents-of-a-record';

const configFor = ({ url, token }: OtherCrm, keys: Keys) => ({
  redis: { prefix: keys.prefix },
  workspaces: [
    {
      ...{ name: 'acme', baseUrl: url, token, budget: { requests: 10_000, perSeconds: 1 } },
      lists: { organization: false, memo: false, history: false, activity: false },
    },
  ],
});

it('fuzz: whatever stands in Redis, each command ends, with an error that names the key and shows no contents', async () => {
  const crm = await startOtherCrm();
  for (const list of LISTS) for (const record of crm.lists[list]) Object.assign(record, { 메모: CONTENTS });
  const feed = await openFeed(redis, configFor(crm, redis.keys));
  await feed.sweep();
  Object.assign(crm.lists.people[0]!, { 이름: 'another', '수정 날짜': new Date().toISOString() });
  crm.lists.todo.splice(0, 2);
  await feed.sweep();
  await feed.stop();
  const stored = await valuesIn(redis.redis, redis.keys.prefix);
  expect(stored.length).toBeGreaterThan(50);
  let copies = 0;
  const damage = fc.nat(stored.length - 1).chain((at) =>
    fc.record({
      at: fc.constant(at),
      put: fc.oneof(
        torn(stored[at]!.value),
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
        fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
      ),
    }),
  );
  await fc.assert(
    fc.asyncProperty(damage, async ({ at, put }) => {
      const keys = new Keys(`${redis.keys.prefix}:${(copies += 1)}`);
      const { key, field } = stored[at]!;
      const names = await namesIn(redis.redis, redis.keys.prefix);
      const to = (name: string): string => name.replace(redis.keys.prefix, keys.prefix);
      await Promise.all(names.map((name) => redis.redis.copy(name, to(name))));
      if (field === null) await redis.redis.set(to(key), put, 'KEEPTTL');
      else await redis.redis.hset(to(key), field, put);
      const damaged = await openFeed(redis, configFor(crm, keys));
      const asks: (() => Promise<unknown>)[] = [
        () => damaged.status(),
        () => damaged.todos(),
        async () => expect(JSON.stringify(await damaged.sweep())).not.toContain(CONTENTS),
        ...LISTS.map((list) => () => damaged.lists.explain(list, crm.lists[list][0]!.id)),
        ...LISTS.map((list) => () => damaged.lists.schema(list)),
        ...LISTS.map((list) => () => damaged.lists.held(list)),
        async () => {
          for await (const entry of damaged.tail({ from: '0', follow: false }))
            expect(entry.logId).toMatch(/^\d+-\d+$/);
        },
        async () => expect(JSON.stringify(await damaged.status())).not.toContain(CONTENTS),
      ];
      for (const ask of asks) await ask().catch((error: unknown) => expectClear(error));
      await damaged.stop();
      await Promise.all((await namesIn(redis.redis, keys.prefix)).map((name) => redis.redis.unlink(name)));
    }),
    runs({ part: 0.5 }),
  );
});

function expectClear(error: unknown): void {
  expect(error).toBeInstanceOf(ChangefeedError);
  const { code, message } = error as ChangefeedError;
  expect(code).not.toBe('CF_INTERNAL');
  expect(message).not.toContain(CONTENTS);
}

interface StoredValue {
  key: string;
  /** Of a hash; null for a string. */
  field: Buffer | null;
  value: Buffer;
}

/** Strings and fields of hashes: only there is something of ours that is read back as more than a name. */
async function valuesIn(server: Redis, prefix: string): Promise<StoredValue[]> {
  const values: StoredValue[] = [];
  for (const key of await namesIn(server, prefix)) {
    const type = await server.type(key);
    if (type === 'string') values.push({ key, field: null, value: (await server.getBuffer(key))! });
    if (type !== 'hash') continue;
    for (const field of await server.hkeysBuffer(key))
      values.push({ key, field, value: (await server.hgetBuffer(key, field))! });
  }
  return values;
}

async function namesIn(server: Redis, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const found of server.scanStream({ match: `${prefix}:*`, count: 1_000 }))
    names.push(...(found as string[]));
  return names.filter((name) => name.slice(prefix.length).match(/^:\d+:/) === null).sort();
}
