import { expect, it } from 'vitest';
import type { Selection } from '../../src/events/pattern.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { createSentinel } from '../../src/ops/watch/sentinel.js';
import type { Problem, Status } from '../../src/ops/watch/status.js';
import { systemClock } from '../../src/kit/clock.js';
import { silentLog } from '../../src/kit/log.js';
import { createNoticeStore } from '../../src/log/notices.js';
import { problemsOf } from '../support/event-schemas.js';
import { useRedis } from '../support/redis.js';

const late = (list: 'people' | 'memo'): Problem => ({
  kind: 'list.late',
  severity: 'error',
  workspace: 'acme',
  subject: `list:${list}`,
  list,
  since: '2026-03-01T09:00:00.000Z',
  message: 'A sweep is due.',
  facts: { workspace: 'acme', list, forMs: 60_000 },
});

const redis = useRedis();

const events = async (workspace = 'acme'): Promise<ChangeEvent[]> => {
  const entries = await redis.redis.xrange(redis.keys.log(workspace), '-', '+');
  return entries.map(([, [, json = '']]) => JSON.parse(json) as ChangeEvent);
};
const watching = ({ aheadMs = 0, names = ['acme'], subscriptions = [] as Selection[] } = {}) => {
  let problems: Problem[] = [];
  const lines: string[] = [];
  const workspaces = names.map((name) => ({ name })) as Status['workspaces'];
  const log = {
    ...silentLog,
    error: (facts: object, message: string) => void lines.push(`${message} ${(facts as Problem).subject}`),
    info: (facts: object, message: string) => void lines.push(`${message} ${(facts as Problem).subject}`),
  };
  const look = createSentinel({
    status: () =>
      Promise.resolve({
        at: '',
        redis: { evictionPolicy: 'noeviction', mayEvict: false, refuses: null, forbids: null, clockApartMs: 0 },
        workspaces,
        subscriptions: [],
        unconfigured: [],
        processes: [],
        problems,
      }),
    notices: createNoticeStore(redis.redis, redis.keys),
    subscriptions,
    isExplained: () => false,
    log,
    clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
  });
  return {
    lines,
    async look(...now: Problem[]) {
      problems = now;
      aheadMs += 10_000;
      await look();
    },
  };
};

it('notice: a problem that several processes see is reported once while it lasts', async () => {
  const [one, other] = [watching(), watching()];
  for (let turn = 0; turn < 6; turn += 1) await Promise.all([one.look(late('people')), other.look(late('people'))]);
  await one.look();

  const all = await events();
  const [event, ...more] = all;
  expect(all.flatMap(problemsOf)).toEqual([]);
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    type: 'changefeed.list.late',
    source: '/workspaces/acme',
    subject: 'list:people',
    data: { before: null, after: null, sequence: 1, notice: { severity: 'error', list: 'people' } },
  });
  expect(one.lines).toEqual(['problem list:people', 'problem over list:people']);
  expect(other.lines).toEqual(['problem list:people']);
});

it('notice: a problem of all workspaces is in one log, and in another only for a subscription that reads nothing else', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `w${index}`);
  const subscriptions: Selection[] = [
    { on: ['changefeed.*'] },
    { on: ['changefeed.subscription.*'], workspaces: ['w30', 'w31'] },
    { on: ['crm.*'], workspaces: ['w40'] },
  ];
  const failing = { kind: 'subscription.failing', subject: 'subscription:ops', workspace: null, list: null } as const;
  const watcher = watching({ names, subscriptions });
  for (let turn = 0; turn < 3; turn += 1) await watcher.look({ ...late('people'), ...failing });
  const found = await Promise.all(names.map(async (name) => ((await events(name)).length > 0 ? [name] : [])));
  expect(found.flat()).toEqual(['w0', 'w30']);
  expect(watcher.lines).toEqual(['problem subscription:ops']);
});

it.each([{ ...late('people'), kind: 'role.missing', subject: 'role:poll', list: null } as const, late('people')])(
  'notice: $kind is reported when it is found twice in a row, and not when it is gone in between',
  async (problem) => {
    const watcher = watching();
    await watcher.look(problem);
    await watcher.look();
    await watcher.look(problem);
    expect(await events()).toEqual([]);
    await watcher.look(problem);
    expect((await events()).map(({ type, subject }) => [type, subject])).toEqual([
      [`changefeed.${problem.kind}`, problem.subject],
    ]);
  },
);

it('notice: a problem that returns is reported again with the next sequence of its subject', async () => {
  const watcher = watching();
  // A late list must be found twice.
  for (let turn = 0; turn < 2; turn += 1) await watcher.look(late('people'), late('memo'));
  for (let turn = 0; turn < 6; turn += 1) await watcher.look(late('memo'));
  for (let turn = 0; turn < 2; turn += 1) await watcher.look(late('people'));
  expect((await events()).map(({ type, subject, data }) => `${type} ${subject} ${data.sequence}`)).toEqual([
    'changefeed.list.late list:people 1',
    'changefeed.list.late list:memo 1',
    'changefeed.problem.over list:people 2',
    'changefeed.list.late list:people 3',
  ]);
});

it('notice: the end of a problem is one event, when no process has seen the problem for a while', async () => {
  const [one, other] = [watching(), watching()];
  for (let turn = 0; turn < 3; turn += 1) await Promise.all([one.look(late('people')), other.look(late('people'))]);
  for (let turn = 0; turn < 6; turn += 1) await Promise.all([one.look(), other.look(late('people'))]);
  expect(await events()).toHaveLength(1);
  for (let turn = 0; turn < 6; turn += 1) await Promise.all([one.look(), other.look()]);

  const [, over, ...more] = await events();
  expect(more).toEqual([]);
  expect(problemsOf(over!)).toEqual([]);
  expect(over).toMatchObject({
    type: 'changefeed.problem.over',
    subject: 'list:people',
    data: {
      sequence: 2,
      notice: { severity: 'error', list: 'people', since: late('people').since, problem: 'list.late' },
    },
  });
  expect(over?.data.notice?.message).toMatch(/^Workspace "acme", list people: list\.late is over, after \d+ d/);
});

it('notice: a problem that must be found twice is not over because all processes were down', async () => {
  const before = watching();
  for (let turn = 0; turn < 2; turn += 1) await before.look(late('people'));
  const after = watching({ aheadMs: 3_600_000 });
  for (let turn = 0; turn < 6; turn += 1) await after.look(late('people'));
  expect((await events()).map(({ type }) => type)).toEqual(['changefeed.list.late']);
});
