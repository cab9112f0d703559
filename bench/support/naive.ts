/** The usual first implementation: parse, stable-stringify, sha256, and one awaited round trip per record and operation. */
import { createHash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import type { Redis } from 'ioredis';

interface Body {
  data: { peopleList: ({ id: string } & Record<string, unknown>)[]; nextCursor: string | null };
}

export async function naiveSweep({ baseUrl, redis }: { baseUrl: string; redis: Redis }): Promise<number> {
  let seen = 0;
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `?cursor=${cursor}`;
    const { data } = (await (await fetch(`${baseUrl}/v2/people${query}`)).json()) as Body;
    for (const record of data.peopleList) {
      const text = stringify(record);
      const hash = createHash('sha256').update(text).digest('hex');
      const known = await redis.hget('naive:hash', record.id);
      if (known !== hash) {
        const before = await redis.hget('naive:image', record.id);
        await redis.hset('naive:hash', record.id, hash);
        await redis.hset('naive:image', record.id, text);
        await redis.xadd('naive:log', '*', 'event', JSON.stringify({ before, after: record }));
      }
      seen += 1;
    }
    cursor = data.nextCursor;
  } while (cursor !== null);
  return seen;
}
