/** Keys that hold a value of another Redis type. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { openConnections } from '../../src/redis/connections.js';
import { wrongType } from '../../src/redis/errors.js';
import { createOffsetStore } from '../../src/state/offsets.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import { useRedis } from '../support/redis.js';

describe('wrong type', () => {
  const test = useRedis();

  const connection = () => {
    const connections = openConnections({ url: test.url });
    onTestFinished(() => connections.cut());
    return connections.general();
  };
  const refusal = (says: RegExp): unknown =>
    expect.objectContaining({ code: 'CF_STATE_UNREADABLE', message: expect.stringMatching(says) as string });

  it('unreadable: a command on a key of another type names the key', async () => {
    const key = test.keys.offsets('ops');
    await test.redis.set(key, 'secret contents');
    const error: unknown = await createOffsetStore(connection(), test.keys)
      .get('acme', 'ops')
      .catch((thrown: unknown) => thrown);
    expect(error).toEqual(refusal(/:offsets" has another type than expected, it is a string: .*RENAME "/));
    expect(String(error)).not.toContain('secret contents');
  });

  it('unreadable: a script names its keys and their types', async () => {
    const key = test.keys.lease('acme', 'people');
    await test.redis.rpush(key, 'one');
    const store = createSweepStore(connection(), test.keys, 'acme');
    const error: unknown = await store.abandon('people', '1').catch((thrown: unknown) => thrown);
    expect(error).toEqual(refusal(/lease:people" .*list/));
  });

  it('unreadable: in a pipeline only the command on that key fails', async () => {
    await test.redis.set(test.keys.health('ops'), '1');
    const results = await connection().pipeline().hgetall(test.keys.health('ops')).get(test.keys.state('acme')).exec();
    expect(results).toEqual([[refusal(/it is a string/)], [null, null]]);
  });

  it('unreadable: a key of BullMQ is named by what its keys begin with', () => {
    const prefix = `${test.keys.prefix}:sub:{ops}:ops:`;
    expect(wrongType([{ key: prefix, type: 'none' }]).message).toContain(`that begins with "${prefix}"`);
  });
});
