import { describe, expect, it } from 'vitest';
import {
  ALL,
  AT,
  EARLIER,
  failure,
  HEALTHY_REDIS,
  list,
  problemsWith,
  process,
  subscription,
} from '../support/statuses.js';

const found = (more: Parameters<typeof problemsWith>[0]): string[] =>
  problemsWith(more).map(({ severity, kind, subject }) => `${severity} ${kind} ${subject}`);

describe('problems', () => {
  it.each([
    ['none when all is well', {}, []],
    [
      'a role that no process has, once a process has run for a while',
      { processes: [process(['poll'])] },
      ['error role.missing role:dispatch', 'error role.missing role:handle'],
    ],
    [
      'a role that only a process of another workspace has',
      { processes: [process(['poll'], { workspaces: ['other'] })], subscriptions: [] },
      ['error role.missing role:poll'],
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
    ['a list that is late', { lists: [list({ late: true })] }, ['error list.late list:people']],
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
      { redis: { evictionPolicy: 'allkeys-lru', mayEvict: true, refuses: null } },
      ['error redis.evicts redis'],
    ],
    [
      'a Redis that refuses writes',
      { redis: { ...HEALTHY_REDIS, refuses: 'out of memory' } },
      ['error redis.refuses redis'],
    ],
    [
      'held creations',
      {
        lists: [
          list({ heldCreations: { count: 300, of: 310, since: EARLIER, known: { seen: 3, of: 400 }, replaced: true } }),
        ],
      },
      ['warning creations.held list:people'],
    ],
    [
      'a subscription whose attempts have failed for a while',
      { subscriptions: [subscription({ failingSince: EARLIER }), subscription({ name: 'new', failingSince: AT })] },
      ['warning subscription.failing subscription:ops'],
    ],
    [
      'errors before warnings',
      {
        lists: [
          list({ heldRemovals: { count: 30, of: 40, since: EARLIER } }),
          list({ list: 'memo', silence: { kind: 'empty', since: EARLIER, longestPauseMs: 0 } }),
        ],
        subscriptions: [subscription({ disabled: { at: EARLIER, reason: 'It answered 410.', missing: false } })],
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

  it('problems: a reason without a full stop gets one', () => {
    const [problem] = problemsWith({
      subscriptions: [subscription({ disabled: { at: EARLIER, reason: 'moved', missing: false } })],
    });
    expect(problem!.message).toContain(': moved. Its events wait.');
  });
});
