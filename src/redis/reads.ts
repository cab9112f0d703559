/** Reads that are asked for in the same turn of the event loop, as one call: the status reads thousands of keys. */
import { gatherEach } from '../kit/gather.js';
import { Cluster, type Redis } from './client.js';
import { wrongType } from './errors.js';
import { loadScript } from './scripts.js';

const readTogether = loadScript('read-together', import.meta.url);

/** Redis does nothing else meanwhile: some 0.1 ms. */
const MOST_AT_ONCE = 100;

type Read = readonly [
  command: 'exists' | 'get' | 'hget' | 'hgetall' | 'hlen' | 'hmget' | 'pttl' | 'xlen' | 'zcard' | 'zrange',
  key: string,
  ...args: (string | number)[],
];

/** @returns a read by its command, answered as by ioredis; `hgetall` as names and values in turns */
export function createReads(redis: Redis) {
  const each = gatherEach(async (_slot, reads: readonly Read[]) => {
    const keys = reads.map(([, key]) => key);
    const args = reads.flatMap(([command, , ...more]) => [command, more.length, ...more]);
    return (await readTogether.run(redis, keys, args)) as unknown[];
  }, MOST_AT_ONCE);
  return async (...read: Read): Promise<unknown> => {
    const [, key] = read;
    // In a Redis Cluster, a call has keys of one hash tag.
    const answer = await each(redis instanceof Cluster ? key.replace(/^.*?\{(.*?)\}.*$/, '$1') : '', read);
    if (answer instanceof Error) throw /\bWRONGTYPE\b/.test(answer.message) ? wrongType([key]) : answer;
    return answer;
  };
}

export type Reads = ReturnType<typeof createReads>;
