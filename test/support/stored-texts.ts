/** Every value in Redis as it can be read: as it is, and what the product packs also unpacked. For tests about what must not be stored. */
import { inflateRawSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { unpackRecord } from '../../src/feed/store/packing.js';
import { historyStore } from '../../src/feed/store/history.js';
import { keyOfField, Keys } from '../../src/redis/keys.js';

/** Key → all its fields and values, one after the other. */
export async function storedTexts(redis: Redis, prefix: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for await (const found of redis.scanStream({ match: `${prefix}*`, count: 1_000 }))
    for (const key of found as string[]) {
      const values = flat(await valueOf(redis, key));
      const packed = /:(walk-)?members:/u.test(key) ? values.flatMap(inflated) : [];
      const records = key.includes(':records:') ? recordsIn(key, values) : [];
      const pasts = key.includes(':history:') ? await pastsIn(redis, key) : [];
      texts.set(key, [...values.map((one) => one.toString()), ...packed, ...records, ...pasts].join('\n'));
    }
  return texts;
}

/** The keys in which one of the words can be read, each with the word. */
export async function keysThatSay(redis: Redis, prefix: string, words: readonly string[]): Promise<string[]> {
  const texts = await storedTexts(redis, prefix);
  return [...texts].flatMap(([key, text]) =>
    words.filter((word) => text.includes(word)).map((word) => `${key} ${word}`),
  );
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'hash':
      return await redis.callBuffer('HGETALL', key);
    case 'list':
      return await redis.lrangeBuffer(key, 0, -1);
    case 'set':
      return await redis.smembersBuffer(key);
    case 'zset':
      return await redis.zrangeBuffer(key, '0', '-1');
    case 'stream':
      return await redis.xrangeBuffer(key, '-', '+');
    default:
      return await redis.getBuffer(key);
  }
}

function flat(value: unknown): Buffer[] {
  if (Buffer.isBuffer(value)) return [value];
  return Array.isArray(value) ? value.flatMap(flat) : [];
}

function inflated(value: Buffer): string[] {
  try {
    return [inflateRawSync(value).toString()];
  } catch {
    // The number of a page.
    return [];
  }
}

/** Every entry belongs to a record that has a history: another one could be read by nobody, and not be erased. */
async function pastsIn(redis: Redis, stream: string): Promise<string[]> {
  const [prefix = '', workspace = '', list = ''] = /^(.*):\{(.*)\}:history:(.*)$/u.exec(stream)?.slice(1) ?? [];
  const store = historyStore({ redis, keys: new Keys(prefix), workspace });
  const changed = await redis.callBuffer('HGETALL', stream.replace(':history:', ':changed:'));
  const texts: string[] = [];
  for (const [at, field] of (changed as Buffer[]).entries()) {
    if (at % 2 === 1) continue;
    const { record } = await store.pastOf(list, keyOfField(field));
    for await (const past of record.pasts) texts.push(JSON.stringify(past));
  }
  if (texts.length !== (await redis.xlen(stream))) throw new Error(`${stream} has entries of no record.`);
  return texts;
}

function recordsIn(hash: string, fields: readonly Buffer[]): string[] {
  return fields.flatMap((field, at) => {
    const value = fields[at + 1];
    if (at % 2 === 1 || value === undefined) return [];
    return [JSON.stringify(unpackRecord(value, { hash, key: keyOfField(field) }))];
  });
}
