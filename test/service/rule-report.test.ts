import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { buildRule } from '../../src/config/rules.js';
import { builtInLists } from '../../src/crm/lists/lists.js';
import { openQueues } from '../../src/delivery/queues.js';
import { silentLog } from '../../src/kit/log.js';
import { eventually } from '../support/eventually.js';
import { testFolder } from '../support/folder.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { startOtherCrm } from '../support/other-crm.js';
import { startPageFeed } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';
import { bringForward } from '../support/scheduled.js';
import { written } from '../support/todos.js';

const redis = useRedis();
const startReceiver = useReceivers();
const report = { what: 'todos', at: '09:00', days: 'daily' };

it('rule of a report: the preview is the message, which comes at its time, saved and switched on by the page', async () => {
  const crm = await startOtherCrm();
  const owner = { id: 'u1', name: '김영업' };
  const late = { due: '2026-03-02T01:00:00.000Z', owner };
  crm.lists.todo = [written('t1', late), written('t2', { owner })].map((one, at) => ({ ...one, id: `t${at}` }));
  const receiver = await startReceiver();
  const page = await startPageFeed(redis, {
    crm,
    roles: ['poll', 'dispatch', 'handle'],
    rules: join(testFolder(), 'rules.json'),
    destinations: { chat: { handler: 'message', service: 'slack', url: receiver.url, allowHosts: ['127.0.0.1'] } },
  });
  const rule = { to: 'chat', report, language: 'ko' };
  const asked = await page.act('/api/rules/preview', { rule: { ...rule, id: 'morning' } });
  const { digest } = (await asked.json()) as { digest: { at: string; text: string } };
  expect(digest.text).toContain('김영업: 완료 0건, 지연 1건, 오늘 기한 0건, 미완료 2건');
  expect(Date.parse(digest.at)).toBeGreaterThan(Date.now());
  const week = { ...rule, id: 'week', report: { what: 'changes', at: '09:00', days: ['mon'] } };
  expect(await (await page.act('/api/rules/preview', { rule: week })).json()).toMatchObject({
    digest: { text: expect.stringMatching(/^acme [\d-]+ – [\d-]+: 변경 0건/) as string },
  });
  const { revision } = await page.get<{ revision: string }>('/api/rules');
  const saved = await page.act('/api/rules/morning', { revision, rule });
  expect(await saved.json()).toMatchObject({ outcome: 'saved', did: 'created' });
  const queues = openQueues({
    ...{ connect: () => redis.connect({ maxRetriesPerRequest: null }), keys: redis.keys },
    ...{ subscriptions: [{ name: 'rule-morning' }], logger: silentLog },
  });
  onTestFinished(() => queues.close());
  await eventually(() => bringForward(queues.of('rule-morning')));
  const text = await eventually(() => {
    expect(receiver.received).toHaveLength(1);
    return (JSON.parse(receiver.received[0]?.body ?? '') as { text: string }).text;
  });
  // In a chat, the title is bold.
  const [title, ...lines] = digest.text.split('\n');
  expect(text.split('\n').slice(1)).toEqual(lines);
  expect(text.split('\n')[0]).toContain('지연 1건');
  expect(title).toContain('지연 1건');
  const test = await page.act('/api/rules/morning/test', { rule });
  expect(await test.json()).toMatchObject({ outcome: 'refused' });
});

it('rule of a report: has nothing that is about events, and a destination that takes reports', () => {
  const destinations = {
    chat: { handler: 'message' as const, service: 'slack' as const, url: 'https://hooks.slack.com/services/x' },
    ops: { handler: 'webhook' as const, url: 'https://ops.example/hook', secret: `whsec_${'a'.repeat(44)}` },
  };
  const known = { destinations, workspaces: [{ name: 'acme' }], lists: builtInLists, taken: [] };
  const problemsOf = (data: object): string[] => {
    const built = buildRule({ id: 'a', ...data }, known);
    return 'rule' in built ? [] : built.problems.map(({ path, problem }) => `${path.join('.')}: ${problem}`);
  };
  expect(problemsOf({ to: 'chat', report })).toEqual([]);
  expect(problemsOf({ to: 'ops', report })).toEqual(['to: "ops" takes no reports']);
  expect(problemsOf({ to: 'chat', report, on: ['crm.todo.*'] })).toEqual([
    expect.stringMatching(/^on: found it in a report/),
  ]);
  expect(problemsOf({ to: 'chat', report: { ...report, at: '9' } })).toEqual([expect.stringMatching(/^report\.at: /)]);
  expect(problemsOf({ to: 'chat', report: { ...report, what: 'changes' } })).toEqual([]);
  expect(problemsOf({ to: 'chat', report: { ...report, what: 'weather' } })).toEqual([
    expect.stringMatching(/^report\.what: /),
  ]);
});
