import { expect, it } from 'vitest';
import { expectedEvent, saidBy, useChain, type Chain } from '../../support/chain.js';
import { eventNumber } from '../../support/delivered.js';
import { openFeed } from '../../support/feed.js';
import { useRedis } from '../../support/redis.js';
import { differences, readEverything } from '../../support/api-state.js';

const redis = useRedis();
const chain = useChain();

async function open(world: Chain) {
  const feed = await openFeed(redis, world.config('1h', redis.keys.prefix));
  await feed.start(['dispatch', 'handle']);
  return async (): Promise<void> => {
    const sweeps = await feed.sweep();
    expect(sweeps.map(({ outcome }) => outcome)).toEqual(Array(6).fill('complete'));
    expect(await feed.waitUntilHandled({ timeoutMs: 20_000 })).toEqual({ outcome: 'handled' });
  };
}

it('nothing lost: every change arrives once with before and after, and unchanged sweeps are silent', async () => {
  const world = await chain();
  const sweepOnce = await open(world);
  const before = await readEverything(world);
  await sweepOnce();
  expect(world.deliveries()).toEqual([]);

  const { life } = world.sandbox;
  life.createPerson();
  life.createOrganization();
  life.createMemo();
  life.createTodo();
  life.addHistory();
  life.addActivity();
  life.editPerson();
  life.assignPerson();
  life.editOrganization();
  life.editMemo();
  life.completeTodo();
  const truth = differences(before, await readEverything(world));
  await sweepOnce();

  const events = world.changes();
  const byRecord = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  expect(events.map(saidBy).sort(byRecord)).toEqual(truth.map(expectedEvent).sort(byRecord));
  expect(new Set(events.map(({ data }) => eventNumber(data.sequence)))).toEqual(new Set([1]));
  expect([...new Set(events.map(({ type }) => type))].sort()).toEqual([
    'crm.deal_history.created',
    'crm.memo.created',
    'crm.memo.updated',
    'crm.organization.created',
    'crm.organization.updated',
    'crm.person.created',
    'crm.person.updated',
    'crm.person_activity.created',
    'crm.todo.created',
    'crm.todo.updated',
  ]);

  const delivered = world.deliveries().length;
  await sweepOnce();
  expect(world.deliveries()).toHaveLength(delivered);
});
