/** Keys that hold a value of another Redis type. */
import { expect, it, onTestFinished } from 'vitest';
import { openConnections } from '../../src/redis/connections.js';
import { createSweepStore } from '../../src/feed/store/sweep-store.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const connection = () => {
  const connections = openConnections({ url: test.url });
  onTestFinished(() => connections.cut());
  return connections.general();
};
const refusal = (says: RegExp): unknown =>
  expect.objectContaining({ code: 'CF_STATE_UNREADABLE', message: expect.stringMatching(says) as string });

it('unreadable: a command on a key of another type names the key; the others of its pipeline succeed', async () => {
  await test.redis.set(test.keys.health('ops'), 'secret contents');
  const results = await connection().pipeline().hgetall(test.keys.health('ops')).get(test.keys.state('acme')).exec();
  expect(results).toEqual([[refusal(/^Redis key "test-.+:health" has another type.* RENAME /)], [null, null]]);
});

it('unreadable: a script names its keys', async () => {
  await test.redis.rpush(test.keys.lease('acme', 'people'), 'one');
  const store = createSweepStore(connection(), test.keys, 'acme');
  await expect(store.abandon('people', '1')).rejects.toEqual(
    refusal(/^One of the Redis keys ".+lease:people", ".+" has/),
  );
});
