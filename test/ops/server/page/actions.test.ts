import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type * as answers from '../../../../src/ops/server/page/answers.js';
import { eventually } from '../../../support/eventually.js';
import { handlerOf, personEvent, startPageFeed, type PageFeedOptions } from '../../../support/page-feed.js';
import { appendEvents } from '../../../support/events.js';
import { openFeed } from '../../../support/feed.js';
import { useRedis } from '../../../support/redis.js';

const TOKENS = { read: 'read-token-0123456789', operate: 'operate-token-0123456789' };
const BROKEN = 'the receiver is broken';
const readBearer = { authorization: `Bearer ${TOKENS.read}` };

describe('actions', () => {
  const redis = useRedis();
  const open = (options?: PageFeedOptions) => startPageFeed(redis, options);
  const eventOf = (record: string, fields: object = {}) =>
    personEvent(record, 1, { fields, changes: [{ field: '이름', before: 'old', after: 'new' }] });

  it('actions: an operator replays to a subscription by type and condition, stops it, and drops what waits', async () => {
    const handled: string[] = [];
    const page = await open({ http: { tokens: TOKENS }, subscriptions: [handlerOf('ops', () => null, handled)] });
    const operate = { authorization: `Bearer ${TOKENS.operate}` };
    const act = async <Answer>(path: string, body: object): Promise<Answer> =>
      (await (await page.act(`/api/subscriptions/ops/${path}`, body, operate)).json()) as Answer;
    await appendEvents(redis, [eventOf('p1', { 이름: 'new' }), eventOf('p2', { 이름: 'other' })]);
    await eventually(() => expect(handled).toHaveLength(2));
    const range = { from: 'beginning', types: ['crm.person.*'], where: { 'after.이름': 'new' } };
    expect((await page.act('/api/subscriptions/ops/replay', range, readBearer)).status).toBe(403);
    expect(await act('replay', { ...range, dryRun: true })).toMatchObject({ count: 1 });
    expect(await act('replay', { ...range, where: { 이름: 1 } })).toMatchObject({ error: { status: 409 } });
    expect(handled).toHaveLength(2);
    const { id } = await act<{ id: string }>('replay', range);
    await eventually(() => expect(handled).toEqual(['p1', 'p2', 'p1']));
    await eventually(async () => expect(await act('replay/stop', { id })).toEqual({ count: 0 }));
    await act('pause', {});
    await appendEvents(redis, [eventOf('p3')]);
    await eventually(async () => expect((await page.feed.status()).subscriptions[0]?.waiting).toBe(1));
    expect((await page.act('/api/subscriptions/ops/skip', {}, readBearer)).status).toBe(403);
    expect(await act('skip', { dryRun: true })).toEqual({ count: 1, unread: 0, queued: 1, running: 0 });
    expect(await act('skip', {})).toEqual({ count: 1, unread: 0, queued: 1, running: 0 });
    await act('resume', {});
    expect(await act('skip', { workspace: 'nowhere' })).toMatchObject({ error: { status: 404 } });
    expect(handled).toHaveLength(3);
  });

  it('actions: an event that another process has erased cannot be read, although this one has handled it', async () => {
    const handled: string[] = [];
    const page = await open({
      subscriptions: [handlerOf('ops', () => null, handled)],
      roles: ['poll', 'dispatch', 'handle'],
    });
    // From the first one on, a process that handles events keeps what it reads.
    await appendEvents(redis, [eventOf('p0')]);
    await eventually(() => expect(handled).toEqual(['p0']));
    const [logId] = await appendEvents(redis, [eventOf('p1')]);
    await eventually(() => expect(handled).toEqual(['p0', 'p1']));
    const { url: baseUrl, token } = page.crm;
    const other = await openFeed(redis, { workspaces: [{ name: 'acme', baseUrl, token }] });
    expect(await page.get(`/api/events/acme/${logId}`)).toMatchObject({ event: { subject: 'p1' } });
    expect(await other.erase({ workspace: 'acme', list: 'people', id: 'p1' })).toMatchObject({ events: 1 });
    await expect(page.get(`/api/events/acme/${logId}`)).rejects.toThrow('404');
  });

  it('actions: an operator forgets and renames what a former configuration has left behind', async () => {
    const former = await open({ subscriptions: [handlerOf('former', () => BROKEN), handlerOf('gone', () => BROKEN)] });
    await appendEvents(redis, [eventOf('p1')]);
    await eventually(async () => expect(await former.feed.deadLetters.count()).toBe(2));
    await former.feed.stop();
    const page = await open({ subscriptions: [handlerOf('renamed')] });
    const left = await page.get('/api/subscriptions/left-behind');
    expect(left).toMatchObject({
      subscriptions: [
        { subscription: 'former', dead: 1 },
        { subscription: 'gone', dead: 1 },
      ],
    });
    const forgotten = await page.act('/api/subscriptions/gone/forget');
    expect(await forgotten.json()).toMatchObject({ subscription: 'gone', dead: 1 });
    expect((await page.act('/api/subscriptions/renamed/forget')).status).toBe(409);
    const renamed = await page.act('/api/subscriptions/former/rename', { to: 'renamed' });
    // A process handles it: the feed refuses, and says what to do.
    expect(await renamed.json()).toMatchObject({
      error: { status: 409, message: expect.stringContaining('Stop it') as unknown },
    });
    expect(await page.get('/api/subscriptions/left-behind')).toMatchObject({
      subscriptions: [{ subscription: 'former' }],
    });
  });

  it('actions: an operator discards what a list holds, and sees what it is', async () => {
    const page = await open({ roles: ['poll', 'dispatch', 'handle'] });
    const people = page.crm.lists.people;
    const held = async () => await page.get<z.infer<typeof answers.heldRecords>>('/api/held');
    expect(await held()).toEqual({ held: [] });
    people.splice(0, people.length);
    await eventually(async () => expect((await held()).held).not.toEqual([]), { timeoutMs: 120_000 });
    const [one] = (await held()).held;
    expect(one).toMatchObject({ workspace: 'acme', list: 'people', what: 'removals' });
    expect(one?.examples[0]?.title).toEqual(expect.any(String));
    expect(await (await page.act('/api/lists/acme/people/discard')).json()).toEqual({ count: one?.count });
    await eventually(async () => expect(await held()).toEqual({ held: [] }), { timeoutMs: 120_000 });
    expect((await page.act('/api/lists/acme/people/accept')).status).toBe(200);
    expect((await page.act('/api/lists/nowhere/people/accept')).status).toBe(404);
  });

  it('actions: an operator sends a test event of a type to a handler, to a function only on request', async () => {
    const handled: string[] = [];
    const page = await open({ subscriptions: [handlerOf('ops', () => null, handled)] });
    expect((await page.act('/api/subscriptions/ops/test', { type: 'crm.todo.completed' })).status).toBe(409);
    const tested = await page.act('/api/subscriptions/ops/test', { type: 'crm.todo.completed', run: true });
    expect(await tested.json()).toMatchObject({ outcome: 'accepted', type: 'crm.todo.completed', place: 'custom' });
    expect(handled).toEqual(['test']);
    expect((await page.act('/api/subscriptions/nobody/test')).status).toBe(409);
  });
});
