import { expect, it, onTestFinished } from 'vitest';
import { scheduledJob } from '../../src/delivery/scheduled-job.js';
import { openQueues } from '../../src/delivery/queues.js';
import { silentLog } from '../../src/kit/log.js';
import { eventually } from '../support/eventually.js';
import { baselined, openFeed } from '../support/feed.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { useRedis } from '../support/redis.js';
import { served } from '../support/sandbox.js';

const test = useRedis();
const startReceiver = useReceivers();

it('most per minute: an import of 3,000 people is at most 40 chat messages, which count all of them', async () => {
  const { sandbox, target } = await served({ people: 30, pageSize: 500 });
  const receiver = await startReceiver();
  // The import is not a mistake of the API.
  const people = { creations: { maxShare: 1 } };
  const budget = { requests: 1_000, perSeconds: 1 };
  const feed = await openFeed(test, {
    workspaces: [{ name: 'acme', baseUrl: target.url, token: target.token, budget, lists: { people } }],
    subscriptions: [
      {
        ...{ handler: 'message', name: 'chat', on: ['crm.person.created'], template: '{{title}}' },
        ...{ url: receiver.url, allowHosts: ['127.0.0.1'], rate: { requests: 1_000 } },
      },
    ],
    http: { publicUrl: 'https://status.example.com/' },
  });
  await feed.start();
  await baselined(feed);
  const queues = openQueues({
    ...{ connect: () => test.connect({ maxRetriesPerRequest: null }), keys: test.keys },
    ...{ subscriptions: [{ name: 'chat' }], logger: silentLog },
  });
  onTestFinished(() => queues.close());

  for (let count = 0; count < 3_000; count += 1) sandbox.life.createPerson();

  const texts = (): string[] => receiver.received.map(({ body }) => (JSON.parse(body) as { text: string }).text);
  const told = (): number => {
    const all = texts().map((text) => /^\*([\d,]+) changes in acme: /.exec(text)?.[1]?.replace(',', '') ?? '1');
    return all.reduce((sum, count) => sum + Number(count), 0);
  };
  await eventually(
    async () => {
      // At the end of the minute, brought forward.
      const job = await scheduledJob(queues.of('chat'), 'acme');
      if (await job?.isDelayed()) await job?.promote();
      expect(told()).toBe(3_000);
    },
    // The chat takes no more until its minute is over.
    { timeoutMs: 110_000 },
  );
  expect(texts().length).toBeLessThanOrEqual(40);
  const [digest = ''] = texts().filter((text) => text.includes(' changes in acme'));
  expect(digest.split('\n').at(-1)).toContain('<https://status.example.com/#/changes?workspace=acme');
}, 150_000);
