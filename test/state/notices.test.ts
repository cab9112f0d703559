import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { createSentinel } from '../../src/observability/sentinel.js';
import type { Problem, Status } from '../../src/observability/status.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLog } from '../../src/runtime/log.js';
import { createNoticeStore } from '../../src/state/notices.js';
import { useRedis } from '../support/redis.js';

const late = (list: 'people' | 'memo'): Problem => ({
  kind: 'list.late',
  severity: 'error',
  workspace: 'acme',
  subject: `list:${list}`,
  list,
  since: '2026-03-01T09:00:00.000Z',
  message: 'A sweep is due.',
});

describe('notices', () => {
  const redis = useRedis();

  const events = async (): Promise<ChangeEvent[]> => {
    const entries = await redis.redis.xrange(redis.keys.log('acme'), '-', '+');
    return entries.map(([, [, json = '']]) => JSON.parse(json) as ChangeEvent);
  };
  const watching = () => {
    let problems: Problem[] = [];
    let aheadMs = 0;
    const lines: string[] = [];
    const workspaces = [{ name: 'acme' }] as Status['workspaces'];
    const log = {
      ...silentLog,
      error: (facts: object, message: string) => void lines.push(`${message} ${(facts as Problem).subject}`),
      info: (facts: object, message: string) => void lines.push(`${message} ${(facts as Problem).subject}`),
    };
    const look = createSentinel({
      status: () =>
        Promise.resolve({
          at: '',
          redis: { evictionPolicy: 'noeviction', mayEvict: false, refuses: null },
          workspaces,
          subscriptions: [],
          processes: [],
          problems,
        }),
      notices: createNoticeStore(redis.redis, redis.keys),
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

    const [event, ...more] = await events();
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

  it('notice: a missing role is reported when two checks in a row miss it', async () => {
    const watcher = watching();
    const role = { ...late('people'), kind: 'role.missing', subject: 'role:poll', list: null } as const;
    await watcher.look(role);
    await watcher.look();
    await watcher.look(role);
    expect(await events()).toEqual([]);
    await watcher.look(role);
    expect((await events()).map(({ type }) => type)).toEqual(['changefeed.role.missing']);
  });

  it('notice: a late list is reported when it is found late twice in a row, and not when it is swept in between', async () => {
    const watcher = watching();
    await watcher.look(late('people'));
    await watcher.look();
    await watcher.look(late('people'));
    expect(await events()).toEqual([]);
    await watcher.look(late('people'));
    expect((await events()).map(({ subject }) => subject)).toEqual(['list:people']);
  });

  it('notice: a problem that returns is reported again with the next sequence of its subject', async () => {
    const watcher = watching();
    // A late list must be found twice.
    for (let turn = 0; turn < 2; turn += 1) await watcher.look(late('people'), late('memo'));
    for (let turn = 0; turn < 6; turn += 1) await watcher.look(late('memo'));
    for (let turn = 0; turn < 2; turn += 1) await watcher.look(late('people'));
    expect((await events()).map(({ subject, data }) => `${subject} ${data.sequence}`)).toEqual([
      'list:people 1',
      'list:memo 1',
      'list:people 2',
    ]);
  });
});
