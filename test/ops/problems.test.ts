import { describe, expect, it } from 'vitest';
import {
  ALL,
  AT,
  EARLIER,
  failure,
  HEALTHY_REDIS,
  list,
  onePage,
  problemsWith,
  process,
  subscription,
} from '../support/statuses.js';

const found = (more: Parameters<typeof problemsWith>[0]): string[] =>
  problemsWith(more).map(({ severity, kind, subject }) => `${severity} ${kind} ${subject}`);

const A_MINUTE_AGO = '2026-03-01T09:09:00.000Z';
const failingLoop = (since: string) => ({ loop: 'dispatch acme to ops', since, at: AT, error: 'URI malformed' });

const restless = (more: object) => ({
  ...{ field: '일수', share: 0.9, times: 2, since: EARLIER, at: AT, keptMs: 1, ...more },
});

describe('problems', () => {
  it.each([
    ['none when all is well', {}, []],
    [
      'a role that no process has, once a process has run for a while',
      { processes: [process(['poll'])] },
      ['error role.missing role:dispatch', 'error role.missing role:handle'],
    ],
    [
      'every role when no process runs',
      { processes: [] },
      ['poll', 'dispatch', 'handle'].map((role) => `error role.missing role:${role}`),
    ],
    ['no missing role while processes are starting', { processes: [process(['poll'], { startedAt: AT })] }, []],
    ['no missing handlers without subscriptions', { subscriptions: [], processes: [process(['poll'])] }, []],
    [
      'a stalled loop',
      { processes: [process(ALL.roles, { stalled: [{ loop: 'poll acme people', since: EARLIER }] })] },
      ['error loop.stalled loop:poll acme people'],
    ],
    [
      'a loop whose turns have failed for longer than a minute',
      { processes: [process(ALL.roles, { failing: [failingLoop(EARLIER)] })] },
      ['error loop.failing loop:dispatch acme to ops'],
    ],
    [
      'no loop of which one turn has failed, or whose last failure is long ago',
      { processes: [process(ALL.roles, { failing: [failingLoop(AT), { ...failingLoop(EARLIER), at: EARLIER }] })] },
      [],
    ],
    [
      'an API that answers no list of any workspace, once',
      {
        names: ['acme', 'beta', 'gamma'],
        processes: [process(ALL.roles, { workspaces: ['acme', 'beta', 'gamma'] })],
        lists: [list({ failure: { ...failure, shared: 'the API at crm.example did not answer (ECONNREFUSED)' } })],
      },
      ['error api.away workspaces:acme'],
    ],
    ['a list that is late', { lists: [list({ late: true })] }, ['error list.late list:people']],
    [
      'a clock that was set, once, whatever shows it',
      {
        processes: [process(ALL.roles, { clock: { apartMs: -7_200_000, stepped: { byMs: 7_200_000, agoMs: 5_000 } } })],
        redis: { ...HEALTHY_REDIS, clockApartMs: 30_000 },
        lists: [list({ lastSweep: { ...onePage(1, 2), completedAt: '2026-03-01T11:10:00.000Z' } })],
      },
      ['warning clock.stepped clock'],
    ],
    [
      'a clock that differs from that of Redis',
      { processes: [process(ALL.roles, { clock: { apartMs: 10_001, stepped: null } })] },
      ['warning clock.stepped clock'],
    ],
    [
      'no clock that is right, or differs by less than ten seconds',
      {
        processes: [process(ALL.roles, { clock: { apartMs: 9_000, stepped: null } })],
        redis: { ...HEALTHY_REDIS, clockApartMs: -9_000 },
      },
      [],
    ],
    [
      'a list that is late although the clock of the process that polls was put back',
      {
        processes: [process(['poll'], { startedAt: '2026-03-01T11:10:00.000Z' })],
        subscriptions: [],
        lists: [list({ late: true })],
      },
      ['error list.late list:people'],
    ],
    [
      'too little processor, in place of each list that is late because of it',
      { lists: [list({ late: true })], processes: [process(ALL.roles, { waiting: { lists: 9, forMs: 40_000 } })] },
      ['warning process.overloaded role:poll'],
    ],
    [
      'processes with different files of rules, once they have had time to read a change',
      {
        processes: [
          process(ALL.roles, { rules: 'a' }),
          process(ALL.roles, { rules: 'b' }),
          process(ALL.roles, { rules: 'c', startedAt: '2026-03-01T12:00:00.000Z' }),
        ],
      },
      ['warning rules.differ rules'],
    ],
    [
      'the missing role rather than late lists when no process polls',
      { lists: [list({ late: true })], processes: [process(['dispatch', 'handle'])] },
      ['error role.missing role:poll'],
    ],
    ['nothing about a disabled list', { lists: [list({ enabled: false, late: true, failure })] }, []],
    ['a list whose sweeps fail', { lists: [list({ failure })] }, ['error sweep.failed list:people']],
    [
      'a refused token, once for all lists, at the first attempt',
      {
        lists: [list(), list({ list: 'memo' })].map((one) => ({
          ...one,
          failure: { ...failure, code: 'CF_UNAUTHORISED', attempts: 1 },
        })),
      },
      ['error token.refused workspace'],
    ],
    [
      'a list of another source',
      { lists: [list({ failure: { ...failure, code: 'CF_SOURCE_CHANGED', attempts: 1 } })] },
      ['error source.changed list:people'],
    ],
    [
      'a Redis that may evict keys',
      { redis: { evictionPolicy: 'allkeys-lru', mayEvict: true, refuses: null, forbids: null } },
      ['error redis.evicts redis'],
    ],
    [
      'a Redis that refuses writes, and no missing role: processes cannot report themselves',
      { redis: { ...HEALTHY_REDIS, refuses: 'out of memory' }, processes: [] },
      ['error redis.refuses redis'],
    ],
    [
      'a subscription whose attempts have failed for a while',
      {
        subscriptions: [
          subscription({ failingSince: A_MINUTE_AGO, failures: 2 }),
          subscription({ name: 'new', failingSince: AT, failures: 2 }),
          subscription({ name: 'once', failingSince: A_MINUTE_AGO, failures: 1 }),
        ],
      },
      ['warning subscription.failing subscription:ops'],
    ],
    [
      'as an error: a subscription whose attempts have failed for ten minutes, and one with ten dead letters',
      {
        subscriptions: [
          subscription({ failingSince: EARLIER, failures: 2 }),
          subscription({ name: 'dying', dead: 10 }),
        ],
      },
      ['error subscription.failing subscription:ops', 'error delivery.dead subscription:dying'],
    ],
    [
      'events that have waited for long, but not where their receiver is away',
      {
        subscriptions: [
          subscription({ lateSince: EARLIER }),
          subscription({ name: 'away', lateSince: EARLIER, failingSince: A_MINUTE_AGO, failures: 2 }),
        ],
      },
      ['warning delivery.late subscription:ops', 'warning subscription.failing subscription:away'],
    ],
    [
      'as an error: events that have waited for twelve times as long as they may',
      { subscriptions: [subscription({ lateSince: EARLIER, lateAfterSeconds: 10 })] },
      ['error delivery.late subscription:ops'],
    ],
    [
      'one dead letter, for as long as it waits',
      { subscriptions: [subscription({ dead: 1 })] },
      ['warning delivery.dead subscription:ops'],
    ],
    [
      'a subscription that has not begun, a while after all dispatchers have started',
      { subscriptions: [subscription({ lagEvents: null, lagSeconds: null })] },
      ['error delivery.late subscription:ops'],
    ],
    [
      'a subscription that has not begun, while a dispatcher starts',
      {
        subscriptions: [subscription({ lagEvents: null, lagSeconds: null })],
        processes: [ALL, process(['dispatch'], { startedAt: AT })],
      },
      [],
    ],
    [
      'only that it is paused of a paused subscription',
      {
        subscriptions: [
          subscription({
            paused: { at: EARLIER, reason: 'moved', missing: false },
            failingSince: EARLIER,
            failures: 9,
            dead: 10,
            lateSince: EARLIER,
          }),
        ],
      },
      ['error subscription.disabled subscription:ops'],
    ],
    [
      'a list whose only page is as long as pages are',
      { lists: [list({ lastSweep: onePage(50) })] },
      ['warning list.cut list:people'],
    ],
    [
      'no shorter page',
      { lists: [list({ lastSweep: onePage(49) }), list({ list: 'memo', lastSweep: onePage(50, 3) })] },
      [],
    ],
    [
      'a field that is edited on most rows again and again, and none that was twice',
      {
        lists: [
          list({ restless: [restless({ times: 3 }), restless({ field: '링크' })] }),
          list({ list: 'memo', restless: [restless({})] }),
        ],
      },
      ['warning list.restless list:people'],
    ],
    [
      'an option that names a field in vain',
      { lists: [list({ unmatched: [{ option: 'mask', pattern: '전화 번호' }] })] },
      ['warning list.misnamed list:people'],
    ],
    [
      'errors before warnings',
      {
        lists: [
          list({ held: [{ what: 'removals', why: 'too many', count: 30, of: 40, since: EARLIER, at: EARLIER }] }),
          list({ list: 'memo', silence: { kind: 'empty', since: EARLIER, longestPauseMs: 0 } }),
        ],
        subscriptions: [subscription({ paused: { at: EARLIER, reason: 'It answered 410.', missing: false } })],
      },
      [
        'error subscription.disabled subscription:ops',
        'warning removals.held list:people',
        'warning list.silent list:memo',
      ],
    ],
  ] as const)('problems: %s', (_what, given, expected) => {
    expect(found(given as Parameters<typeof found>[0])).toEqual(expected);
  });

  it('problems: a failing subscription and a failing loop name the last error', () => {
    const [loop, ops] = problemsWith({
      processes: [process(ALL.roles, { failing: [failingLoop(EARLIER)] })],
      subscriptions: [
        subscription({
          failingSince: A_MINUTE_AGO,
          failures: 7,
          lastError: { workspace: 'acme', message: 'It answered 500.' },
        }),
      ],
    });
    expect(loop!.message).toContain('Last error: URI malformed.');
    expect(ops!.message).toBe(
      `Subscription "ops": all 7 attempts since ${A_MINUTE_AGO} have failed. Last error: It answered 500. Events are tried again as its "retry" says, then become dead letters (changefeed dead list --subscription ops).`,
    );
  });

  it('problems: records of another source are named as such', () => {
    const other = {
      why: 'replaced',
      count: 60,
      of: 60,
      known: { seen: 0, of: 60 },
      since: EARLIER,
      at: EARLIER,
    } as const;
    const [held] = problemsWith({ lists: [list({ held: [{ what: 'creations', ...other }] })] });
    expect(held!.kind).toBe('creations.held');
    expect(held!.message).toContain(
      '60 of 60 records are new and are held; only 0 of 60 known records were seen. Check whether this is the token of another workspace, or a backup was restored.',
    );
  });
});
