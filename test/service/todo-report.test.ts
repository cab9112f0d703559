import { expect, it, onTestFinished } from 'vitest';
import { momentBefore, nextMoment } from '../../src/delivery/moments.js';
import { openQueues } from '../../src/delivery/queues.js';
import { scheduledJob } from '../../src/delivery/scheduled-job.js';
import { configWarnings } from '../../src/service/config-warnings.js';
import { parseConfig } from '../../src/config/parse.js';
import { isoTime, systemClock } from '../../src/kit/clock.js';
import { silentLog } from '../../src/kit/log.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { useRedis } from '../support/redis.js';
import { bringForward } from '../support/scheduled.js';
import { served } from '../support/sandbox.js';

const test = useRedis();
const startReceiver = useReceivers();
const SCHEDULE = { when: { at: '09:00' }, days: [1, 2, 3, 4, 5, 6, 7] };

/** Two processes of the product with one report, brought forward. */
async function reported(more: { lists?: object; language?: 'ko'; per?: 'team' } = {}) {
  const { language, per, lists = {} } = more;
  const { sandbox, target } = await served();
  for (let done = 0; done < 3; done += 1) sandbox.life.completeTodo();
  const receiver = await startReceiver();
  const raw = {
    workspaces: [{ name: 'acme', baseUrl: target.url, token: target.token, lists, ...(language && { language }) }],
    subscriptions: [
      {
        ...{ handler: 'todoReport', name: 'morning', at: '09:00', days: 'daily', ...(per && { per }) },
        ...{ url: receiver.url, allowHosts: ['127.0.0.1'] },
      },
    ],
  };
  const feed = await openFeed(test, raw);
  await feed.sweep({ lists: ['todo'] }).catch(() => undefined);
  await feed.start(['dispatch', 'handle']);
  const other = await openFeed(test, raw);
  await other.start(['dispatch', 'handle']);
  const queues = openQueues({
    ...{ connect: () => test.connect({ maxRetriesPerRequest: null }), keys: test.keys },
    ...{ subscriptions: [{ name: 'morning' }], logger: silentLog },
  });
  onTestFinished(() => queues.close());
  await eventually(() => bringForward(queues.of('morning')));
  const text = await eventually(() => {
    expect(receiver.received).toHaveLength(1);
    return (JSON.parse(receiver.received[0]?.body ?? '') as { text: string }).text;
  });
  const atMs = momentBefore(SCHEDULE, systemClock.now(), 'Asia/Seoul');
  const since = isoTime(atMs - 86_400_000);
  const { total } = (await feed.todos({ since }).catch(() => null))?.workspaces[0] ?? {};
  return { text, total, receiver, feed, queues };
}

it('report: says once, whatever the number of processes, what the command todos counts', async () => {
  const { text, total, receiver, feed, queues } = await reported();
  expect(text.split('\n')[0]).toMatch(
    new RegExp(
      `^\\*Todos in acme: ${total?.completed} completed since .*09:00, ${total?.overdue} overdue, ${total?.dueToday} due today, ${total?.open} open\\*$`,
    ),
  );
  expect(text.split('\n')[1]).toMatch(/^• .+: \d+ completed, \d+ overdue, \d+ due today, \d+ open$/);
  // Its job is gone. One for the next morning may be there by now.
  const nextMs = nextMoment(SCHEDULE, systemClock.now(), 'Asia/Seoul');
  await eventually(async () =>
    expect((await scheduledJob(queues.of('morning'), 'acme'))?.data.atMs ?? nextMs).toBe(nextMs),
  );
  const [status] = (await feed.status()).subscriptions;
  expect(status).toMatchObject({ waiting: 0, delayed: 0, dead: 0, lagEvents: 0, lateSince: null });
  expect(receiver.received).toHaveLength(1);
  expect(await feed.deliveries({ subscription: 'morning' })).toMatchObject([
    { type: 'changefeed.report', outcome: 'delivered', status: 204, attempt: 1 },
  ]);
  await expect(feed.replay({ subscription: 'morning', from: 'beginning' })).rejects.toThrow(
    'gets reports and no events',
  );
  await expect(feed.try('morning')).rejects.toThrow('gets reports and no events');
  expect(await feed.waitUntilHandled({ timeoutMs: 0 })).toEqual({ outcome: 'handled' });
});

it('report: in Korean and by team', async () => {
  const { text } = await reported({ language: 'ko', per: 'team' });
  expect(text.split('\n')[0]).toMatch(
    /^\*acme TODO: .*09:00 이후 완료 \d+건, 지연 \d+건, 오늘 기한 \d+건, 미완료 \d+건\*$/,
  );
  expect(text.split('\n')[1]).toMatch(/^• .+: 완료 \d+건, 지연 \d+건, 오늘 기한 \d+건, 미완료 \d+건$/);
});

it('report: where nothing can be counted, one line says why, and a warning is logged at the start', async () => {
  const { text } = await reported({ lists: { todo: false } });
  expect(text).toBe(
    '*Todos in acme: not counted*\nThe list "todo" is disabled (acme), so there is nothing to count. Set lists.todo.enabled to true and run: changefeed sweep todo.',
  );
  const workspace = { name: 'acme', baseUrl: 'https://crm.example/api', token: 't', todos: { watch: false } };
  const report = { handler: 'todoReport', name: 'morning', at: '09:00', url: 'https://hooks.example.com/key' };
  const warningsWith = (lists: object) =>
    configWarnings(parseConfig({ workspaces: [{ ...workspace, lists }], subscriptions: [report] }));
  expect(warningsWith({ todo: false })).toMatchObject([{ subject: { subscription: 'morning' } }]);
  expect(warningsWith({})).toEqual([]);
});
