import { describe, expect, it, onTestFinished } from 'vitest';
import { defineHandler } from '../../src/index.js';
import { startSandbox } from '../../src/testing/index.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { useRedis } from '../support/redis.js';

describe('testing: startSandbox', () => {
  const redis = useRedis();

  it('testing: a feed polls the sandbox, and a handler gets the change', async () => {
    const crm = await startSandbox({ people: 5 });
    onTestFinished(() => crm.stop());
    const got: string[] = [];
    const handler = defineHandler({
      name: 'mine',
      on: ['crm.person.created'],
      handle: ({ subject }) => void got.push(subject),
    });
    const workspaces = [{ name: 'test', ...crm.workspace }];
    const feed = await openFeed(redis, { workspaces, subscriptions: [handler] });
    await feed.sweep();
    await feed.start();
    const id = crm.sandbox.life.createPerson();
    await eventually(() => expect(got).toEqual([id]));
  });
});
