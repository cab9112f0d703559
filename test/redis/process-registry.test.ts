import { expect, it } from 'vitest';
import { createProcessRegistry } from '../../src/redis/process-registry.js';
import { process as aProcess } from '../support/statuses.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();

it('process: what another version reports of itself is another version, and no error', async () => {
  const registry = createProcessRegistry(test.redis, test.keys);
  const own = aProcess(['poll'], { id: 'own', host: 'elsewhere' });
  await registry.beat(own, 60_000);
  const newer = { ...own, id: 'newer', version: '9.0.0', token: 'x', stalled: 'of another form', late: { people: 1 } };
  await test.redis.set(test.keys.process('newer'), JSON.stringify(newer));
  await test.redis.set(test.keys.process('strange'), 'no report');
  await test.redis.sadd(test.keys.processes(), 'newer', 'strange');
  const found = (await registry.list()).map(({ id, version, roles }) => [id, version, roles]);
  expect(found.toSorted()).toEqual([
    ['newer', '9.0.0', ['poll']],
    ['own', own.version, ['poll']],
  ]);
});

it('process: to read the reports writes nothing; a process that reports itself forgets those that have ended', async () => {
  const registry = createProcessRegistry(test.redis, test.keys);
  await test.redis.sadd(test.keys.processes(), 'ended');
  expect(await registry.list()).toEqual([]);
  expect(await test.redis.smembers(test.keys.processes())).toEqual(['ended']);
  await registry.beat(aProcess(['poll'], { id: 'own' }), 60_000);
  expect(await test.redis.smembers(test.keys.processes())).toEqual(['own']);
});
