import { describe, expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.js';
import { handlerOf, type PageFeedOptions, personEvent, startPageFeed, TOKENS } from '../../../support/page-feed.js';
import { appendEvents } from '../../../support/events.js';
import { openFeed } from '../../../support/feed.js';
import { useRedis } from '../../../support/redis.js';

const READER = { authorization: `Bearer ${TOKENS.read}` };

describe('actions', () => {
  const redis = useRedis();
  const open = (options?: PageFeedOptions) => startPageFeed(redis, options);
  const eventOf = (record: string, fields: object = {}) =>
    personEvent(record, 1, { fields, changes: [{ field: '이름', before: 'old', after: 'new' }] });

  it('actions: who only reads can do none, but preview a rule and ask about records', async () => {
    const page = await open({ http: { tokens: TOKENS } });
    const { paths } = await page.get<{ paths: Record<string, object> }>('/api/openapi.json', READER);
    const actions = Object.keys(paths).filter((path) => 'post' in paths[path]!);
    const allowed: string[] = [];
    for (const path of actions) {
      const { status } = await page.act(path.replaceAll(/\{\w+\}/g, 'x'), {}, READER);
      if (status !== 403) allowed.push(path);
    }
    const questions = ['as-of', 'explain', 'find', 'history', 'related'].map(
      (name) => `/api/lists/{workspace}/{list}/${name}`,
    );
    expect(allowed.sort()).toEqual([...questions, '/api/rules/preview']);
    expect(actions.length).toBeGreaterThan(15);
  });

  it('actions: what cannot be done is refused, and a function gets a test event only on request', async () => {
    const handled: string[] = [];
    const page = await open({ subscriptions: [handlerOf('ops', () => null, handled)] });
    const refusals: [path: string, body: object, status: number][] = [
      ['subscriptions/unknown/pause', {}, 409],
      ['subscriptions/ops/replay', { from: 'beginning', where: { 이름: 1 } }, 409],
      ['subscriptions/ops/skip', { workspace: 'nowhere' }, 404],
      ['subscriptions/ops/forget', {}, 409],
      ['subscriptions/ops/test', { type: 'crm.todo.completed' }, 409],
      ['subscriptions/nobody/test', {}, 409],
      ['lists/nowhere/people/accept', {}, 404],
      ['lists/acme/nowhere/erase', { id: 'p1' }, 409],
      ['dead-letters/drop', {}, 400],
      ['dead-letters/drop', { subscriptions: 'ops', all: true }, 400],
    ];
    const answers: typeof refusals = [];
    for (const [path, body] of refusals) answers.push([path, body, (await page.act(`/api/${path}`, body)).status]);
    expect(answers).toEqual(refusals);
    expect((await page.act('/api/lists/acme/people/accept')).status).toBe(200);
    expect(handled).toEqual([]);
  });

  it('actions: an operator replays to a subscription by type and condition, and stops it', async () => {
    const handled: string[] = [];
    const page = await open({ subscriptions: [handlerOf('ops', () => null, handled)] });
    const act = async (path: string, body: object): Promise<{ id?: string }> =>
      (await (await page.act(`/api/subscriptions/ops/${path}`, body)).json()) as { id?: string };
    await appendEvents(redis, [eventOf('p1', { 이름: 'new' }), eventOf('p2', { 이름: 'other' })]);
    await eventually(() => expect(handled).toHaveLength(2));
    const range = { from: 'beginning', types: ['crm.person.*'], where: { 'after.이름': 'new' } };
    expect(await act('replay', { ...range, dryRun: true })).toMatchObject({ count: 1 });
    const { id } = await act('replay', range);
    await eventually(() => expect(handled).toEqual(['p1', 'p2', 'p1']));
    await eventually(async () => expect(await act('replay/stop', { id })).toEqual({ count: 0, dropped: 0 }));
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
});
