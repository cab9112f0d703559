/** Keys of ours that hold a value of another Redis type. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openConnections } from '../../src/redis/connections.js';
import { typeOfKey, wrongType } from '../../src/state/key-types.js';
import { Keys } from '../../src/state/keys.js';
import { RedisOffsetStore } from '../../src/state/offsets.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import { useRedis } from '../support/redis.js';

/** The type of each key as its comment in keys.ts says. */
function documentedTypes(): [method: string, type: string][] {
  const source = readFileSync(new URL('../../src/state/keys.ts', import.meta.url), 'utf8');
  const names: Readonly<Record<string, string>> = { 'sorted set': 'zset', counter: 'string' };
  return [
    ...source.matchAll(/\/\*\*\s*(?:\* )?(sorted set|string|counter|hash|list|set|stream)\b[^/]*?\*\/\s+(\w+) =/gu),
  ]
    .map(([, type = '', method = '']): [string, string] => [method, names[type] ?? type])
    .filter(([method]) => method !== 'jobLock');
}

describe('wrong type', () => {
  const test = useRedis();

  const connection = () => {
    const connections = openConnections({ url: test.url, onWrongType: (found) => wrongType(test.keys, found) });
    onTestFinished(() => connections.cut());
    return connections.general();
  };
  const refusal = (key: string, says: RegExp): unknown =>
    expect.objectContaining({
      code: 'CF_STATE_UNREADABLE',
      message: expect.stringMatching(says) as string,
      facts: expect.objectContaining({ key }) as unknown,
    });

  it('unreadable: the type of every key is known', () => {
    const keys = new Keys('any');
    const documented = documentedTypes();
    expect(documented.length).toBeGreaterThan(25);
    for (const [method, type] of documented) {
      const key = keys[method as 'once']('one', 'two', 'three');
      expect([key, typeOfKey(keys, key)]).toEqual([key, type]);
    }
    expect(typeOfKey(keys, 'any:sub:{ops}:ops:wait')).toBeUndefined();
    expect(typeOfKey(keys, 'other:{acme}:log')).toBeUndefined();
  });

  it('unreadable: a command on a key of another type names the key', async () => {
    const key = test.keys.offsets('acme');
    await test.redis.set(key, 'secret contents');
    const error: unknown = await new RedisOffsetStore(connection(), test.keys)
      .get('acme', 'ops')
      .catch((thrown: unknown) => thrown);
    expect(error).toEqual(refusal(key, /expected a hash, found a string .*RENAME/));
    expect(String(error)).not.toContain('secret contents');
  });

  it('unreadable: a script names the one of its keys that has another type', async () => {
    const key = test.keys.lease('acme', 'people');
    await test.redis.rpush(key, 'one');
    const store = createSweepStore(connection(), test.keys, 'acme');
    const error: unknown = await store.abandon('people', '1').catch((thrown: unknown) => thrown);
    expect(error).toEqual(refusal(key, /expected a string, found a list/));
  });

  it('unreadable: in a pipeline only the command on that key fails', async () => {
    const key = test.keys.health('ops');
    await test.redis.set(key, '1');
    const results = await connection().pipeline().hgetall(key).get(test.keys.state('acme')).exec();
    expect(results).toEqual([[refusal(key, /expected a hash/)], [null, null]]);
  });

  it('unreadable: keys of others keep the error of Redis', async () => {
    const key = `${test.keys.prefix}:sub:{ops}:ops:meta`;
    await test.redis.set(key, '1');
    await expect(connection().hgetall(key)).rejects.toThrow(/^WRONGTYPE/);
  });
});
