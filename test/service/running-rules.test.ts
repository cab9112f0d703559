/** What becomes of a rule that is saved while the service runs, and what else of the service notices: nothing. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { testFolder } from '../support/folder.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { startPageFeed, type PageFeedOptions } from '../support/page-feed.js';
import { startRedisProxy } from '../support/redis-proxy.js';
import { useRedis } from '../support/redis.js';

const RULE = { on: ['crm.person.updated'], to: 'chat', template: '{{id}}', mostPerMinute: false };

const ALL_ROLES: NonNullable<PageFeedOptions['roles']> = ['poll', 'dispatch', 'handle'];

describe('a rule that is saved while the service runs', () => {
  const redis = useRedis();
  const startReceiver = useReceivers();

  const open = async ({ redisUrl = redis.url, roles = ALL_ROLES } = {}) => {
    const answers = { always: true };
    const receiver = await startReceiver(() => (answers.always ? { status: 200 } : 'silence'));
    const file = join(testFolder(), 'changefeed.rules.json');
    const chat = (path: string) => {
      const rate = { requests: 10_000, perSeconds: 1 };
      return { handler: 'message' as const, url: `${receiver.url}/${path}`, allowHosts: ['127.0.0.1'], rate };
    };
    const handled: string[] = [];
    const plain = defineHandler({ name: 'plain', handle: ({ id }) => void handled.push(id) });
    const destinations = { chat: chat('chat'), other: chat('other') };
    const options = { subscriptions: [plain], destinations, rules: file, roles };
    const page = await startPageFeed({ ...redis, url: redisUrl, keys: redis.keys }, options);
    const save = async (id: string, rule: object) => {
      const { revision } = await page.get<{ revision: string }>('/api/rules');
      const answer = await page.act(`/api/rules/${id}`, { revision, rule: { ...RULE, ...rule } });
      expect(await answer.json()).toMatchObject({ outcome: 'saved' });
    };
    const remove = async (id: string) => {
      const { revision } = await page.get<{ revision: string }>('/api/rules');
      await page.act(`/api/rules/${id}/remove`, { revision });
    };
    const received = (path: string): string[] =>
      receiver.received.flatMap((one) =>
        one.path === `/${path}` ? [(JSON.parse(one.body) as { text: string }).text.trim()] : [],
      );
    /** Written whole, as by a person: by another name first. */
    const write = (rules: readonly object[]): void => {
      writeFileSync(`${file}.new`, JSON.stringify({ rules }));
      renameSync(`${file}.new`, file);
    };
    return { ...page, config: { destinations, rules: file }, file, answers, handled, save, remove, write, received };
  };
  const log = (record: string, sequence = 1) => appendEvents(redis, [changeEvent({ record, sequence })]);
  const namesIn = async (feed: Changefeed) => (await feed.status()).subscriptions.map(({ name }) => name);

  it('rules: one that is added, changed, switched and removed runs so at once, and nothing begins anew', async () => {
    const { feed, save, remove, received, handled } = await open();
    const { processes } = await feed.status();
    await log('before');
    await save('a', {});
    expect(await namesIn(feed)).toEqual(['plain', 'rule-a']);
    await log('p1');
    await eventually(() => expect(received('chat')).toHaveLength(1));
    await save('a', { to: 'other', on: ['crm.person.*'] });
    await log('p2');
    await eventually(() => expect(received('other')).toHaveLength(1));
    await save('a', { to: 'other', enabled: false });
    await log('p3');
    await save('a', { to: 'other' });
    await log('p4');
    await eventually(() => expect(received('other')).toHaveLength(2));
    await eventually(() => expect(handled).toHaveLength(5));
    expect(received('chat')).toHaveLength(1);
    await remove('a');

    const now = await feed.status();
    expect(now.subscriptions.map(({ name }) => name)).toEqual(['plain']);
    expect(now.unconfigured).toEqual([]);
    expect(now.processes.map(({ id }) => id)).toEqual(processes.map(({ id }) => id));
  });

  it('rules: one that is written by hand runs within a second, and in each process that has its role', async () => {
    const { feed, write, received, config } = await open({ roles: ['dispatch'] });
    const handling = await openFeed(redis, {
      ...config,
      workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:9', token: 'none' }],
    });
    await handling.start(['handle']);
    write([{ ...RULE, id: 'a' }]);
    await eventually(async () => expect(await namesIn(feed)).toEqual(['plain', 'rule-a']));
    await log('p1');
    await eventually(() => expect(received('chat')).toHaveLength(1));
    expect(await namesIn(handling)).toEqual(['rule-a']);
  });

  it('rules: what one was sending when it was switched off is not sent when it is switched on again', async () => {
    const { save, answers, received } = await open();
    await save('a', {});
    answers.always = false;
    await log('sent when it was switched off');
    await eventually(() => expect(received('chat')).toHaveLength(1));
    await save('a', { enabled: false });
    answers.always = true;
    await save('a', {});
    await log('new');
    await eventually(() => expect(received('chat')).toHaveLength(2));
    expect(new Set(received('chat')).size).toBe(2);
  });

  it('rules: a file that is not valid changes nothing, and one that is written while Redis is away runs when it is back', async () => {
    const proxy = await startRedisProxy(redis.url);
    const { feed, file, write, received } = await open({ redisUrl: proxy.url });
    write([{ ...RULE, id: 'a' }]);
    await eventually(async () => expect(await namesIn(feed)).toEqual(['plain', 'rule-a']));
    writeFileSync(file, '{ "rules": [');
    await log('p1');
    await eventually(() => expect(received('chat')).toHaveLength(1));
    proxy.leadTo('redis://127.0.0.1:1');
    write([
      { ...RULE, id: 'a' },
      { ...RULE, id: 'b', to: 'other' },
    ]);
    proxy.leadTo(redis.url);
    await eventually(async () => expect(await namesIn(feed)).toEqual(['plain', 'rule-a', 'rule-b']));
    await log('p2');
    await eventually(() => expect([received('chat').length, received('other').length]).toEqual([2, 1]));
  });
});
