/** A consumer that asks for its events: the real HTTP server, the real Redis. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import type { Config } from '../../src/config/schema.js';
import { createBatchStore } from '../../src/delivery/pull/batches.js';
import { createDoor } from '../../src/ops/server/http/door.js';
import { openWithBudgets } from '../../src/service/changefeed.js';
import { pull, type PullOptions } from '../../src/delivery/handlers/pull/pull.js';
import type { PulledBatch } from '../../src/delivery/pull/consumers.js';
import { createOffsetStore } from '../../src/delivery/offsets.js';
import { trimLog } from '../../src/delivery/run/retention.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { eventually } from '../support/eventually.js';
import { appendEvents, changeEvent, changesOf, firstChangesOf, WORKSPACE } from '../support/events.js';
import { handlerOf, startPageFeed, TOKENS, type PageFeedOptions } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const TOKEN = 'token-of-the-consumer-a-7305918264';
const OTHER = 'token-of-the-consumer-b-1846205937';
const OPERATE = { authorization: `Bearer ${TOKENS.operate}` };

interface Asked {
  status: number;
  batch: PulledBatch;
  message: string;
}

/** One consumer `a`, and whatever a test needs besides. */
async function start(options: Partial<PullOptions> = {}, more: PageFeedOptions = {}) {
  const a = pull({ name: 'a', token: TOKEN, start: 'beginning', visibility: '1s', ...options });
  const b = pull({ name: 'b', token: OTHER, start: 'beginning' });
  const page = await startPageFeed(redis, { http: { tokens: TOKENS }, subscriptions: [a, b], ...more });
  const offset = (): Promise<string | null> => createOffsetStore(redis.redis, redis.keys).get(WORKSPACE, 'a');
  await eventually(async () => expect(await offset()).not.toBeNull());
  const send = async (path: string, init: RequestInit = {}, token: string | null = TOKEN): Promise<Asked> => {
    const headers = { 'content-type': 'application/json', ...(token !== null && { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${page.url}/api/consumers/${path}`, { headers, ...init });
    const body = (await answer.json()) as PulledBatch & { error?: { message: string } };
    return { status: answer.status, batch: body, message: body.error?.message ?? '' };
  };
  const next = async (query: Record<string, string> = {}, token?: string | null): Promise<Asked> =>
    await send(`a/next?${new URLSearchParams({ wait: '0s', ...query }).toString()}`, {}, token);
  const ack = async (cursor: string | null, token?: string | null): Promise<Asked & { count?: number }> => {
    const asked = await send('a/acknowledge', { method: 'POST', body: JSON.stringify({ cursor }) }, token);
    return { ...asked, count: (asked.batch as unknown as { count: number }).count };
  };
  return { ...page, offset, send, next, ack };
}

function consumerConfig(): Config {
  const raw = {
    workspaces: [{ name: WORKSPACE, baseUrl: 'http://127.0.0.1:9/api', token: 'none' }],
    subscriptions: [pull({ name: 'a', token: TOKEN })],
    http: { port: 0, tokens: TOKENS },
    redis: { prefix: redis.keys.prefix },
  };
  return parseConfig(raw, { source: 'the test', redisUrl: redis.url });
}

const subjects = ({ batch: { events } }: Asked): string[] =>
  events.map(({ subject, data }) => `${subject}${data.sequence}`);
const NOTHING = { events: [], cursor: null, more: false, paused: null };

describe('pull', () => {
  it('pull: hands out the log in its order, so many at a time, and what was acknowledged never again', async () => {
    const { next, ack, offset, feed } = await start();
    const events = [1, 2].flatMap((sequence) => ['a', 'b', 'c'].map((record) => changeEvent({ record, sequence })));
    const ids = await appendEvents(redis, events);
    const first = await next({ max: '4' });
    expect(first.batch).toEqual({
      events: events.slice(0, 4),
      cursor: expect.any(String) as string,
      more: true,
      paused: null,
    });
    expect(await ack(first.batch.cursor)).toMatchObject({ status: 200, count: 4 });
    expect(await offset()).toBe(ids[3]);
    // In one round trip; and the same acknowledgement again changes nothing.
    const second = await next({ max: '4', ack: first.batch.cursor ?? '' });
    expect(second.batch).toMatchObject({ events: events.slice(4), more: false });
    const end = await next({ ack: second.batch.cursor ?? '' });
    expect(end.batch).toEqual(NOTHING);
    expect(await ack(second.batch.cursor)).toMatchObject({ status: 200, count: 0 });
    const rows = await feed.deliveries({ event: events[1]!.id, subscription: 'a' });
    expect(rows).toMatchObject([
      { outcome: 'delivered', attempt: 1, digest: { fromLogId: ids[0], toLogId: ids[3], events: 4 } },
    ]);
    expect(await feed.deliveries({ event: events[5]!.id })).toMatchObject([
      { subscription: 'b', outcome: 'pending' },
      { subscription: 'a', outcome: 'delivered', digest: { events: 2 } },
    ]);
  });

  it('pull: an answer that is waited for comes within a second of the event', async () => {
    const { next } = await start();
    const waiting = next({ wait: '30s' });
    await eventually(async () => expect(await redis.redis.hexists(redis.keys.pulled('a'), 'asked')).toBe(1));
    const [id = ''] = await appendEvents(redis, firstChangesOf('a'));
    const answer = await waiting;
    expect(subjects(answer)).toEqual(['a1']);
    expect(Date.now() - Number(id.split('-')[0])).toBeLessThan(1_000);
  });

  it('pull: one batch is under way, whoever asks; it comes again when its time is over, and a late acknowledgement counts until then', async () => {
    const { next, ack } = await start();
    await appendEvents(redis, firstChangesOf('a', 'b'));
    const [one, other] = await Promise.all([next({ max: '1' }), next({ max: '1' })]);
    expect([...subjects(one), ...subjects(other)]).toEqual(['a1']);
    const { cursor } = one.batch.cursor === null ? other.batch : one.batch;
    // It waits until the other one has acknowledged.
    const waiting = next({ max: '1', wait: '30s' });
    expect(await ack(cursor)).toMatchObject({ count: 1 });
    const second = await waiting;
    expect(subjects(second)).toEqual(['b1']);
    // Its time is over, and it was not handed out again.
    await eventually(async () => {
      const untilMs = await redis.redis.hget(redis.keys.pulled('a'), 'until');
      expect(Number(untilMs)).toBeLessThan(Date.now());
    });
    expect(await ack(second.batch.cursor)).toMatchObject({ status: 200, count: 1 });
    await appendEvents(redis, firstChangesOf('c'));
    const third = await next();
    const again = await next({ wait: '30s' });
    expect([subjects(third), subjects(again)]).toEqual([['c1'], ['c1']]);
    expect(await ack(third.batch.cursor)).toMatchObject({
      status: 409,
      message: expect.stringContaining('handed out again') as string,
    });
    expect(await ack(again.batch.cursor)).toMatchObject({ status: 200, count: 1 });
  });

  it('pull: an answer that was lost on its way is given again to who repeats the acknowledgement before it', async () => {
    const { next } = await start({ visibility: '1h' });
    await appendEvents(redis, changesOf('a', 1, 2, 3));
    const first = await next({ max: '1' });
    const lost = await next({ max: '1', ack: first.batch.cursor ?? '' });
    const repeated = await next({ max: '2', ack: first.batch.cursor ?? '' });
    expect([subjects(lost), subjects(repeated)]).toEqual([['a2'], ['a2', 'a3']]);
    // Who does not name it waits; but not for an end that only a clock which was set back can have.
    expect((await next()).batch).toEqual(NOTHING);
    await redis.redis.hset(redis.keys.pulled('a'), 'until', Date.now() + 7_200_000);
    expect(subjects(await next())).toEqual(['a2', 'a3']);
  });

  it.each([
    ['no text of ours', () => 'Robert"); DROP', 'not the cursor'],
    ['a long text', () => 'x'.repeat(199), 'not the cursor'],
    ['of another consumer', (cursor: string) => cursor.replace('a:', 'b:'), 'is of the consumer "b"'],
    ['never given', () => `a:${'A'.repeat(16)}`, 'not under way'],
  ])('pull: refuses a cursor that is %s, and nothing moves', async (_, of, said) => {
    const { next, ack, offset } = await start();
    await appendEvents(redis, firstChangesOf('a'));
    const before = await offset();
    const { cursor } = (await next()).batch;
    const refused = [await ack(of(cursor ?? '')), await next({ ack: of(cursor ?? '') })];
    expect(refused.map(({ status, message }) => [status, message.includes(said)])).toEqual([
      [409, true],
      [409, true],
    ]);
    expect(await offset()).toBe(before);
    expect(await ack(cursor)).toMatchObject({ count: 1 });
  });

  it('pull: what Redis has forgotten is handed out again, and its old cursor moves nothing', async () => {
    const { next, ack, offset } = await start();
    const { keys } = redis;
    await appendEvents(redis, changesOf('a', 1, 2));
    const offsets = await redis.redis.hgetall(keys.offsets('a'));
    const first = await next({ max: '1' });
    const second = await next({ max: '1', ack: first.batch.cursor ?? '' });
    expect(subjects(second)).toEqual(['a2']);
    // As after a failover to a replica that was behind.
    await redis.redis.multi().del(keys.pulled('a')).hset(keys.offsets('a'), offsets).exec();
    const before = await offset();
    expect((await ack(second.batch.cursor)).status).toBe(409);
    expect(await offset()).toBe(before);
    expect(subjects(await next())).toEqual(['a1', 'a2']);
  });

  it('pull: who may ask', async () => {
    const { next, ack, send, get, url } = await start();
    await appendEvents(redis, firstChangesOf('a'));
    const statusOf = async (asked: Promise<Asked>): Promise<number> => (await asked).status;
    const of = (token: string | null) =>
      Promise.all([statusOf(next({}, token)), statusOf(ack(`a:${'A'.repeat(16)}`, token))]);
    expect(await of(null)).toEqual([401, 401]);
    expect(await of('a-token-of-nobody-5501938264')).toEqual([401, 401]);
    expect(await of(OTHER)).toEqual([403, 403]);
    expect(await of(TOKENS.read)).toEqual([403, 403]);
    expect(await of(TOKENS.operate)).toEqual([200, 409]);
    // A session of a browser takes nothing out of the log: a link would.
    const signedIn = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-changefeed-action': '1' },
      body: JSON.stringify({ token: TOKENS.operate }),
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const get403 = await fetch(`${url}/api/consumers/a/next?wait=0s`, { headers: { cookie } });
    expect([signedIn.status, get403.status]).toEqual([200, 403]);
    // The token of a consumer opens nothing else, and no session.
    const own = { authorization: `Bearer ${TOKEN}` };
    const others = ['/api/status', '/events?follow=false', '/api/deliveries', '/metrics', '/api/consumers/b/next'];
    const statuses = await Promise.all(
      others.map(async (path) => (await fetch(`${url}${path}`, { headers: own })).status),
    );
    expect(statuses).toEqual([403, 403, 403, 403, 403]);
    expect(await get('/api/session', own)).toEqual({ caller: null });
    const session = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-changefeed-action': '1' },
      body: JSON.stringify({ token: TOKEN }),
    });
    expect(session.status).toBe(401);
    const paused = await fetch(`${url}/api/subscriptions/a/pause`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-changefeed-action': '1', ...own },
      body: '{}',
    });
    expect(paused.status).toBe(403);
    expect(await statusOf(send('nobody/next?wait=0s', {}, TOKENS.operate))).toBe(404);
    const head = await fetch(`${url}/api/consumers/a/next`, { method: 'HEAD', headers: OPERATE });
    expect(head.status).toBe(404);
    expect(await statusOf(next({ max: '1001' }))).toBe(400);
    expect(await statusOf(next({ wait: '61s' }))).toBe(400);
  });

  it('pull: gives what is selected, in the form that any handler gets, and passes over the rest', async () => {
    const { next, ack, feed, offset } = await start({
      where: ({ subject }: ChangeEvent) => subject !== 'b',
      transform: (event: ChangeEvent) => ({ ...event, data: { ...event.data, before: null } }),
    });
    const ids = await appendEvents(redis, firstChangesOf('b', 'a', 'b', 'b', 'c', 'b'));
    const { events, cursor } = (await next({ max: '1' })).batch;
    expect(events).toMatchObject([{ subject: 'a', data: { before: null } }]);
    expect(await ack(cursor)).toMatchObject({ count: 1 });
    const second = await next({ max: '5' });
    expect(subjects(second)).toEqual(['c1']);
    await ack(second.batch.cursor);
    // Nobody has to ask for what is not selected: it is not late.
    expect(await offset()).toBe(ids.at(-1));
    const more = await appendEvents(redis, firstChangesOf('b', 'b'));
    await eventually(async () => expect(await offset()).toBe(more.at(-1)));
    const { subscriptions } = await feed.status();
    expect(subscriptions[0]).toMatchObject({
      lagEvents: 0,
      consumer: { askedAt: expect.any(String) as string, underWay: 0 },
    });
    expect(await feed.try('a', { last: '1h' })).toMatchObject({ read: 8, selected: 2 });
  });

  it('pull: an event that cannot be reshaped ends the batch before it, and then is a failure of the subscription', async () => {
    let isCorrected = false;
    const failing = (event: ChangeEvent): ChangeEvent => {
      if (event.subject === 'b' && !isCorrected) throw new Error('no such field');
      return event;
    };
    const { next, feed } = await start({ transform: failing });
    await appendEvents(redis, firstChangesOf('a', 'b', 'c'));
    const first = await next();
    expect(first.batch).toMatchObject({ events: [{ subject: 'a' }], more: true });
    expect((await next({ ack: first.batch.cursor ?? '' })).status).toBe(500);
    const failed = async () => (await feed.status()).subscriptions[0];
    expect(await failed()).toMatchObject({
      failures: 1,
      lastError: { message: expect.stringContaining('Error with a message of 13 characters') as string },
    });
    isCorrected = true;
    expect(subjects(await next())).toEqual(['b1', 'c1']);
    expect(await failed()).toMatchObject({ failures: 0, lastError: null });
  });

  it('pull: pause, skip and replay; what cannot be done says why', async () => {
    const { next, ack, feed } = await start({ visibility: '1h' });
    const ids = await appendEvents(redis, changesOf('a', 1, 2, 3, 4));
    await feed.pause('a', 'tidying');
    expect((await next()).batch).toEqual({ ...NOTHING, paused: 'tidying' });
    const waiting = next({ max: '2', wait: '30s' });
    await feed.resume('a');
    const first = await waiting;
    expect(subjects(first)).toEqual(['a1', 'a2']);
    // While it is under way, a person sets it back: what is acknowledged does not move it again.
    await ack(first.batch.cursor);
    const second = await next();
    expect(await feed.replay({ subscription: 'a', from: ids[1] ?? '', dryRun: true })).toMatchObject({ events: 1 });
    expect(await feed.replay({ subscription: 'a', from: ids[1] ?? '' })).toMatchObject({
      events: 1,
      reached: { acme: ids[1] },
    });
    expect(await ack(second.batch.cursor)).toMatchObject({ count: 2 });
    const third = await next();
    expect(subjects(third)).toEqual(['a2', 'a3', 'a4']);
    await appendEvents(redis, changesOf('a', 5));
    expect(await feed.skip('a')).toMatchObject({ unread: 4 });
    await ack(third.batch.cursor);
    expect((await next()).batch).toEqual(NOTHING);
    for (const [call, said] of [
      [() => feed.replay({ subscription: 'a', from: 'beginning', record: 'a' }), /give only from and workspace/],
      [() => feed.snapshot('a'), /nothing is sent to it/],
      [() => feed.test('a'), /it asks for its events/],
      [() => feed.consumers.next('nobody'), /There is no subscription "nobody"/],
    ] as const)
      await expect(call()).rejects.toThrow(said);
  });

  it('pull: a consumer that does not ask is late, its events are kept, and what is sent to others is not waited for', async () => {
    const { feed, next } = await start({ lateAfter: '1s' }, { http: { tokens: TOKENS } });
    await appendEvents(redis, firstChangesOf('a'));
    await next();
    await eventually(async () => {
      const { problems } = await feed.status();
      const late = problems.find(({ subject }) => subject === 'subscription:a');
      expect(late?.message).toMatch(
        /^Consumer "a": its oldest event has waited since .* 1 of them were handed out and are not acknowledged\. It last asked at /,
      );
    });
    expect(await feed.waitUntilHandled({ timeoutMs: 1_000 })).toEqual({ outcome: 'handled' });
  });

  it('pull: a batch is taken only from where the offsets are, and nothing is passed over while one may be acknowledged', async () => {
    const batches = createBatchStore(redis.redis, redis.keys);
    const offsets = createOffsetStore(redis.redis, redis.keys);
    await offsets.begin(WORKSPACE, 'x', '5-0');
    const take = (id: string | null, from: string, to: string) => {
      const stretches = [{ workspace: WORKSPACE, from, to, first: id === null ? '' : to, events: Number(id !== null) }];
      return batches.take('x', { id, visibilityMs: id === null ? null : 1, after: '', stretches });
    };
    expect(await take('a', '4-0', '9-0')).toBe('moved');
    // The second time, the reply to the first was lost.
    expect([await take('a', '5-0', '9-0'), await take('a', '5-0', '9-0')]).toEqual(['taken', 'taken']);
    expect((await batches.read('x')).underWay).toMatchObject({ id: 'a', times: 1 });
    await eventually(async () => expect(await take('b', '4-0', '9-0')).toBe('moved'));
    expect(await take(null, '5-0', '7-0')).toBe('busy');
    expect(await batches.acknowledge('x', 'a', new Map([[WORKSPACE, undefined]]))).toBe('acknowledged');
    expect([await take(null, '5-0', '7-0'), await take(null, '9-0', '12-0')]).toEqual(['moved', 'taken']);
    expect(await offsets.get(WORKSPACE, 'x')).toBe('12-0');
  });

  it('pull: who waits is answered when the process stops, and keeps it from nothing', async () => {
    const config = consumerConfig();
    const door = createDoor();
    onTestFinished(() => door.close());
    const { feed } = await openWithBudgets({ config, http: true, door, temporary: true });
    await feed.start(['dispatch']);
    const waiting = fetch(`${feed.pageUrl ?? ''}/api/consumers/a/next?wait=60s`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    await eventually(async () => expect(await redis.redis.hexists(redis.keys.pulled('a'), 'asked')).toBe(1));
    const startedMs = performance.now();
    const [answer] = await Promise.all([waiting, feed.stop()]);
    expect(await answer.json()).toEqual(NOTHING);
    expect(performance.now() - startedMs).toBeLessThan(1_800);
  });

  it('pull: the log keeps what is not acknowledged, however old', async () => {
    const { next, ack } = await start({}, { subscriptions: [pull({ name: 'a', token: TOKEN, start: 'beginning' })] });
    const ids = await appendEvents(redis, changesOf('a', 1, 2));
    const trimmed = async (): Promise<string[]> => {
      const retention = { ageMs: 0, events: 1 };
      const options = { workspace: WORKSPACE, retention, readers: ['a'], paused: [], nowMs: Date.now() + 60_000 };
      await trimLog(redis.redis, redis.keys, options);
      return (await redis.redis.xrange(redis.keys.log(WORKSPACE), '-', '+')).map(([id]) => id);
    };
    const { cursor } = (await next()).batch;
    expect(await trimmed()).toEqual(ids);
    await ack(cursor);
    expect(await trimmed()).toEqual(ids.slice(1));
  });

  it('pull: an erased record is not handed out', async () => {
    const { next, act } = await start();
    await appendEvents(redis, firstChangesOf('a', 'b'));
    const erased = await act('/api/lists/acme/people/erase', { id: 'a' }, OPERATE);
    expect(erased.status).toBe(200);
    expect(subjects(await next())).toEqual(['b1']);
  });

  it('pull: another handler beside it is not disturbed, and no worker runs for it', async () => {
    const handled: string[] = [];
    const { next } = await start(
      {},
      { subscriptions: [pull({ name: 'a', token: TOKEN, start: 'beginning' }), handlerOf('h', () => null, handled)] },
    );
    await appendEvents(redis, firstChangesOf('a'));
    await eventually(() => expect(handled).toEqual(['a']));
    expect(subjects(await next())).toEqual(['a1']);
    expect(await redis.redis.exists(`${redis.keys.subscriptionQueuePrefix('a')}:a:stalled-check`)).toBe(0);
  });
});
