/** Reads of one turn of the event loop, with a real Redis. */
import { expect, it } from 'vitest';
import { createReads } from '../../src/redis/reads.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();

it('reads: those of one turn are answered as by their commands, and a key of another type fails its own read only', async () => {
  const { redis, keys } = test;
  const [text, hash, none] = [keys.state('acme'), keys.sweep('acme', 'people'), keys.state('none')];
  await redis.set(text, 'one');
  await redis.hset(hash, { a: '1', b: '2' });
  await redis.zadd(keys.pending('ops', 'acme'), 3, 'first', 4, 'second');
  const reads = createReads(redis);
  const more = Array.from({ length: 150 }, () => reads('hget', hash, 'a'));
  const answers = await Promise.allSettled([
    reads('get', text),
    reads('get', none),
    reads('hmget', hash, 'b', 'c'),
    reads('hgetall', hash),
    reads('exists', hash),
    reads('zrange', keys.pending('ops', 'acme'), 0, 0, 'WITHSCORES'),
    reads('get', hash),
  ]);
  expect(answers.slice(0, -1).map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))).toEqual([
    ...['one', null, ['2', null], ['a', '1', 'b', '2'], 1],
    ['first', '3'],
  ]);
  expect(answers.at(-1)).toMatchObject({ reason: { code: 'CF_STATE_UNREADABLE', facts: { keys: [hash] } } });
  expect(await Promise.all(more)).toEqual(more.map(() => '1'));
});
