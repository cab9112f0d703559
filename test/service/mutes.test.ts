import { expect, it } from 'vitest';
import { createMutes } from '../../src/delivery/mutes.js';
import { message } from '../../src/delivery/handlers/message/message.js';
import { openQueues } from '../../src/delivery/queues.js';
import { silentLog } from '../../src/kit/log.js';
import { eventually } from '../support/eventually.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { startPageFeed } from '../support/page-feed.js';
import { bringForward } from '../support/scheduled.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const startReceiver = useReceivers();

it('mute: a shorter one ends no longer one, what is over is muted no more, and names are kept apart', async () => {
  const mutes = createMutes({ ...redis, workspace: 'acme' });
  const record = { subscription: 'a', list: 'people', id: 'p 1' } as const;
  expect(await mutes.mute(record, 2_000, 1_000)).toEqual({ changed: true, untilMs: 2_000 });
  expect([await mutes.isMuted(record, 1_999), await mutes.isMuted(record, 2_000)]).toEqual([true, false]);
  expect(await mutes.mute(record, 1_500, 1_000)).toEqual({ changed: false, untilMs: 2_000 });
  expect(await mutes.mute(record, null, 1_000)).toEqual({ changed: true, untilMs: null });
  expect(await mutes.mute(record, 9_000, 1_000)).toEqual({ changed: false, untilMs: null });
  expect(await mutes.isMuted({ ...record, subscription: 'b' }, 1_000)).toBe(false);
  expect(await mutes.isMuted({ ...record, list: 'todo' }, 1_000)).toBe(false);
  expect(await mutes.all(1_000)).toEqual([{ ...record, untilMs: null }]);
  expect([await mutes.unmute(record), await mutes.unmute(record)]).toEqual([true, false]);
});

it('mute: a digest says nothing of a muted record, and an erased record is muted for nobody', async () => {
  const receiver = await startReceiver();
  const options = { url: receiver.url, allowHosts: ['127.0.0.1'], on: ['crm.*'], digest: { at: '09:00' } } as const;
  const subscription = message({ name: 'sales', ...options });
  const page = await startPageFeed(redis, { subscriptions: [subscription] });
  const mute = async (id: string, more: object = {}): Promise<unknown> =>
    (await page.act('/api/subscriptions/sales/mute', { list: 'people', id, ...more })).json();
  expect(await mute('p1', { until: '1d' })).toMatchObject({ workspace: 'acme', list: 'people', id: 'p1', count: 1 });
  expect(await mute('p2')).toMatchObject({ id: 'p2', until: null, count: 1 });
  expect(await mute('p3', { until: 'soon' })).toMatchObject({
    error: { message: expect.stringContaining('soon') as string },
  });
  await appendEvents(
    redis,
    ['p1', 'p2', 'p3', 'p4'].map((record) => changeEvent({ record, sequence: 1, fields: { 이름: `이름 ${record}` } })),
  );
  const queues = openQueues({
    ...redis,
    connect: () => redis.connect({ maxRetriesPerRequest: null }),
    subscriptions: [subscription],
    logger: silentLog,
  });
  await eventually(() => bringForward(queues.of('sales')));
  await eventually(() => expect(receiver.received).toHaveLength(1));
  await queues.close();
  const { text } = JSON.parse(receiver.received[0]?.body ?? '') as { text: string };
  expect(text).toMatch(/2 changes.*이름 p3.*이름 p4/s);
  expect(text).not.toMatch(/이름 p[12]/);

  const erased = await page.act('/api/lists/acme/people/erase', { id: 'p1' });
  expect(erased.status).toBe(200);
  const { muted } = await page.get<{ muted: { id: string }[] }>('/api/subscriptions/sales/muted');
  expect(muted.map(({ id }) => id)).toEqual(['p2']);
});
