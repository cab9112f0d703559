import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import { expectedEvent, saidBy, useChain, type Chain } from '../../support/chain.js';
import { eventNumber } from '../../support/delivered.js';
import { openFeed } from '../../support/feed.js';
import { useRedis } from '../../support/redis.js';
import { differences, readEverything } from '../../support/api-state.js';

describe('nothing lost: from the read API to a signed webhook', () => {
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

  it('nothing lost: the changes of a record arrive as 1, 2, 3, each with its own id', async () => {
    const world = await chain();
    const sweepOnce = await open(world);
    await sweepOnce();
    const id = world.sandbox.life.createTodo();
    await sweepOnce();
    world.sandbox.life.completeTodo(id);
    await sweepOnce();
    world.sandbox.life.reopenTodo(id);
    await sweepOnce();

    const story = world.deliveries().filter(({ subject }: ChangeEvent) => subject === id);
    const clockless = story.filter(({ data }) => data.detectedBy !== 'clock');
    expect(clockless.map(({ type, data }) => [type, eventNumber(data.sequence), data.after?.['완료']])).toEqual([
      ['crm.todo.created', 1, false],
      ['crm.todo.updated', 2, true],
      ['crm.todo.completed', 2, true],
      ['crm.todo.updated', 3, false],
      ['crm.todo.reopened', 3, false],
    ]);
    expect(new Set(story.map(({ id: eventId }) => eventId)).size).toBe(story.length);
  });
});
