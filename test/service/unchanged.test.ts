import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { eventually } from '../support/eventually.js';
import { testFolder } from '../support/folder.js';
import { startOtherCrm, type OtherRecord } from '../support/other-crm.js';
import { startPageFeed } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const DAY_MS = 86_400_000;

it('unchanged: a running service tells who asks for it, and nobody else, and a rule shows whom it would name today', async () => {
  const crm = await startOtherCrm();
  const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
  const person = (id: string, changedAt: string, grade: string): OtherRecord => {
    return { id, 이름: id, 등급: grade, '생성 날짜': ago(90 * DAY_MS), '수정 날짜': changedAt };
  };
  crm.lists.people = [
    person('long', ago(40 * DAY_MS), 'A'),
    person('other grade', ago(35 * DAY_MS), 'B'),
    person('longer', ago(60 * DAY_MS), 'A'),
    person('just', ago(20 * DAY_MS), 'A'),
  ];
  const got: Record<string, ChangeEvent[]> = { asking: [], other: [], all: [] };
  const collect = (name: string) => (event: ChangeEvent) => void got[name]!.push(event);
  const on = ['crm.person.unchanged'] as const;
  const page = await startPageFeed(redis, {
    crm,
    roles: ['poll', 'dispatch', 'handle'],
    lists: { people: { interval: '1s' } },
    destinations: { chat: { handler: 'message', url: 'http://127.0.0.1:9', allowHosts: ['127.0.0.1'] } },
    rules: join(testFolder(), 'rules.json'),
    subscriptions: [
      defineHandler({ name: 'asking', on, unchanged: { for: '1m' }, handle: collect('asking') }),
      defineHandler({ name: 'other', on, unchanged: { for: '2m' }, handle: collect('other') }),
      defineHandler({ name: 'all', handle: collect('all') }),
    ],
  });
  const preview = async (unchanged: object, more: object = {}) => {
    const rule = { id: 'new', on, to: 'chat', where: { 'after.등급': 'A' }, unchanged };
    return (await (await page.act('/api/rules/preview', { rule, ...more })).json()) as object;
  };
  expect(await preview({ for: '30d' })).toMatchObject({
    ...{ outcome: 'tried', read: 4, selected: 2, doubts: [] },
    examples: [
      { title: 'long', refusedBy: null },
      { title: 'longer', refusedBy: null },
    ],
  });
  expect(await preview({ for: '30d' }, { search: 'just' })).toMatchObject({
    examples: [{ title: 'just', refusedBy: { option: 'unchanged' } }],
  });
  expect(await preview({ for: '30d', field: '없음' })).toMatchObject({ doubts: [{ why: 'missing', field: '없음' }] });
  expect(await preview({ for: '36h', days: 'working' })).toMatchObject({ outcome: 'refused' });

  // The feed knows of all others that they are unchanged for longer.
  await eventually(async () => {
    const told = await redis.redis.hgetall(redis.keys.unchanged('acme'));
    expect(Object.keys(told).filter((field) => field.startsWith('told '))).toHaveLength(4);
  });
  crm.lists.people = crm.lists.people.map((one) => (one['id'] === 'just' ? person('just', ago(57_000), 'B') : one));
  await eventually(() => expect(got['asking']!.map(({ subject }) => subject)).toEqual(['just']));
  expect(got['asking']![0]!.data.unchanged).toMatchObject({ for: '1m', seen: false });
  await page.feed.waitUntilHandled({ timeoutMs: 20_000 });
  expect(got['other']).toEqual([]);
  expect(got['all']!.filter(({ type }) => !type.endsWith('.updated'))).toEqual([]);

  const snooze = async (id: string, until: string, list = 'people') => {
    const answer = await page.act(`/api/lists/acme/${list}/snooze`, { id, until });
    return { status: answer.status, ...((await answer.json()) as { error?: { message: string } }) };
  };
  expect(await snooze('just', '1s')).toMatchObject({ status: 200, title: 'just', subscriptions: ['asking', 'other'] });
  await eventually(() => expect(got['asking']!.map(({ subject }) => subject)).toEqual(['just', 'just']));
  expect(got['asking']![1]!.id).not.toBe(got['asking']![0]!.id);
  const woken = await snooze('long', '2026-01-01');
  expect(Date.parse((woken as { until?: string }).until ?? '')).toBeGreaterThan(Date.now() - 60_000);
  await eventually(() => expect(got['asking']!.map(({ subject }) => subject)).toEqual(['just', 'just', 'long']));
  const refused = [
    await snooze('just', 'soon'),
    await snooze('nobody', '1d'),
    await snooze('just', '1d', 'memo'),
    await snooze('just', '1d', 'cats'),
  ];
  expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
  expect(refused.map(({ error }) => error?.message)).toEqual([
    expect.stringContaining('"soon" is not a time'),
    expect.stringContaining('has no record "nobody"'),
    expect.stringContaining('no subscription asks for records of the list "memo"'),
    expect.stringContaining('cats'),
  ]);
});
