/**
 * Two pipelines without anything of ours: parse, stable-stringify, sha256, compare with the hash in Redis. `naive` is the usual first
 * implementation, with one awaited round trip per record and operation. `batched` does the same with one read and one write per page.
 * Both keep hash and image of each record and append an event for each change. They know no removals, no schema and no leases.
 */
import { createHash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import type { Redis } from 'ioredis';
import { Pool } from 'undici';
import type { Contestant } from './turns.js';

export interface NaiveOptions {
  url: string;
  redis: Redis;
}

type Person = { id: string } & Record<string, unknown>;
interface Body {
  data: { peopleList: Person[]; nextCursor: string | null };
}

interface Hashed {
  record: Person;
  text: string;
  hash: string;
}

export function naive({ url, redis }: NaiveOptions): Contestant {
  const write = async ({ record, text, hash }: Hashed): Promise<void> => {
    const before = await redis.hget('naive:image', record.id);
    await redis.hset('naive:hash', record.id, hash);
    await redis.hset('naive:image', record.id, text);
    await redis.xadd('naive:log', '*', 'event', JSON.stringify({ before, after: record }));
  };
  return {
    name: 'naive',
    sweep: () =>
      walk(url, async (records) => {
        for (const record of records) {
          const hashed = hash(record);
          if ((await redis.hget('naive:hash', record.id)) !== hashed.hash) await write(hashed);
        }
      }),
  };
}

export function batched({ url, redis }: NaiveOptions): Contestant {
  const write = async (changed: readonly Hashed[]): Promise<void> => {
    const images = await redis.hmget('batched:image', ...changed.map(({ record }) => record.id));
    const pipeline = redis.pipeline();
    pipeline.hset('batched:hash', ...changed.flatMap(({ record, hash: digest }) => [record.id, digest]));
    pipeline.hset('batched:image', ...changed.flatMap(({ record, text }) => [record.id, text]));
    changed.forEach(({ record }, nth) => {
      pipeline.xadd('batched:log', '*', 'event', JSON.stringify({ before: images[nth], after: record }));
    });
    await pipeline.exec();
  };
  return {
    name: 'batched',
    sweep: () =>
      walk(url, async (records) => {
        const hashed = records.map(hash);
        const known = await redis.hmget('batched:hash', ...records.map(({ id }) => id));
        const changed = hashed.filter((one, nth) => one.hash !== known[nth]);
        if (changed.length > 0) await write(changed);
      }),
  };
}

function hash(record: Person): Hashed {
  const text = stringify(record);
  return { record, text, hash: createHash('sha256').update(text).digest('hex') };
}

/** Page by page along the cursors; returns the number of records. */
async function walk(url: string, take: (records: Person[]) => Promise<void>): Promise<number> {
  const pool = new Pool(url, { connections: 1 });
  let seen = 0;
  let cursor: string | null = null;
  do {
    const path: string = cursor === null ? '/v2/people' : `/v2/people?cursor=${cursor}`;
    const { data } = (await (await pool.request({ path, method: 'GET' })).body.json()) as Body;
    await take(data.peopleList);
    seen += data.peopleList.length;
    cursor = data.nextCursor;
  } while (cursor !== null);
  await pool.close();
  return seen;
}
