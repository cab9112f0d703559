/** What is a problem, how severe, and what it says: one table of causes, and problems.txt of what each leads to, in English and Korean. */
import { expect, it } from 'vitest';
import { formatsFor } from '../../src/words/format.js';
import { problemText } from '../../src/words/problems.js';
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

const A_MINUTE_AGO = '2026-03-01T09:09:00.000Z';
const failingLoop = (since: string) => ({ loop: 'dispatch acme to ops', since, at: AT, error: 'URI malformed' });
const lastError = { workspace: 'acme', message: 'It answered 500.' };
const restless = (more: object) => ({
  ...{ field: '일수', share: 0.9, times: 2, since: EARLIER, at: AT, keptMs: 1, ...more },
});
const MISSING = { rules: 12, since: EARLIER, file: 'changefeed.rules.json' };
const REFUSED = { since: EARLIER, error: 'the file is not valid' };
const HELD = { count: 1_500, of: 5_023, since: AT, at: AT } as const;

const CAUSES: readonly (readonly [what: string, given: object])[] = [
  ['none when all is well', {}],
  ['a role that no process has, once a process has run for a while', { processes: [process(['poll'])] }],
  ['every role when no process runs', { processes: [] }],
  ['no missing role while processes are starting', { processes: [process(['poll'], { startedAt: AT })] }],
  ['no missing handlers without subscriptions', { subscriptions: [], processes: [process(['poll'])] }],
  ['a stalled loop', { processes: [process(ALL.roles, { stalled: [{ loop: 'poll acme people', since: EARLIER }] })] }],
  [
    'a loop whose turns have failed for longer than a minute',
    { processes: [process(ALL.roles, { failing: [failingLoop(EARLIER)] })] },
  ],
  [
    'no loop of which one turn has failed, or whose last failure is long ago',
    { processes: [process(ALL.roles, { failing: [failingLoop(AT), { ...failingLoop(EARLIER), at: EARLIER }] })] },
  ],
  [
    'an API that answers no list of any workspace, once',
    {
      names: ['acme', 'beta', 'gamma'],
      processes: [process(ALL.roles, { workspaces: ['acme', 'beta', 'gamma'] })],
      lists: [list({ failure: { ...failure, shared: 'the API at crm.example did not answer (ECONNREFUSED)' } })],
    },
  ],
  ['a list that is late', { lists: [list({ late: true })] }],
  [
    'a clock that was set, once, whatever shows it',
    {
      processes: [process(ALL.roles, { clock: { apartMs: -7_200_000, stepped: { byMs: 7_200_000, agoMs: 5_000 } } })],
      redis: { ...HEALTHY_REDIS, clockApartMs: 30_000 },
      lists: [list({ lastSweep: { ...onePage(1, 2), completedAt: '2026-03-01T11:10:00.000Z' } })],
    },
  ],
  [
    'a clock that differs from that of Redis',
    { processes: [process(ALL.roles, { clock: { apartMs: 10_001, stepped: null } })] },
  ],
  [
    'no clock that is right, or differs by less than ten seconds',
    {
      processes: [process(ALL.roles, { clock: { apartMs: 9_000, stepped: null } })],
      redis: { ...HEALTHY_REDIS, clockApartMs: -9_000 },
    },
  ],
  [
    'a list that is late although the clock of the process that polls was put back',
    {
      processes: [process(['poll'], { startedAt: '2026-03-01T11:10:00.000Z' })],
      subscriptions: [],
      lists: [list({ late: true })],
    },
  ],
  [
    'too little processor, in place of each list that is late because of it',
    { lists: [list({ late: true })], processes: [process(ALL.roles, { waiting: { lists: 9, forMs: 40_000 } })] },
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
  ],
  [
    'the missing role rather than late lists when no process polls',
    { lists: [list({ late: true })], processes: [process(['dispatch', 'handle'])] },
  ],
  ['nothing about a disabled list', { lists: [list({ enabled: false, late: true, failure })] }],
  ['a list whose sweeps fail', { lists: [list({ failure })] }],
  [
    'a refused token, once for all lists, at the first attempt',
    {
      lists: [list(), list({ list: 'memo' })].map((one) => ({
        ...one,
        failure: { ...failure, code: 'CF_UNAUTHORISED', attempts: 1 },
      })),
    },
  ],
  ['a list of another source', { lists: [list({ failure: { ...failure, code: 'CF_SOURCE_CHANGED', attempts: 1 } })] }],
  [
    'a Redis that may evict keys',
    { redis: { evictionPolicy: 'allkeys-lru', mayEvict: true, refuses: null, forbids: null } },
  ],
  [
    'a Redis that refuses writes, and no missing role: processes cannot report themselves',
    { redis: { ...HEALTHY_REDIS, refuses: 'out of memory' }, processes: [] },
  ],
  [
    'a subscription whose attempts have failed for a while',
    {
      subscriptions: [
        subscription({ failingSince: A_MINUTE_AGO, failures: 2, lastError }),
        subscription({ name: 'new', failingSince: AT, failures: 2 }),
        subscription({ name: 'once', failingSince: A_MINUTE_AGO, failures: 1 }),
      ],
    },
  ],
  [
    'as an error: a subscription whose attempts have failed for ten minutes, and one with ten dead letters',
    {
      subscriptions: [subscription({ failingSince: EARLIER, failures: 2 }), subscription({ name: 'dying', dead: 10 })],
    },
  ],
  [
    'events that have waited for long, but not where their receiver is away',
    {
      subscriptions: [
        subscription({ lateSince: EARLIER }),
        subscription({ name: 'away', lateSince: EARLIER, failingSince: A_MINUTE_AGO, failures: 2 }),
      ],
    },
  ],
  [
    'as an error: events that have waited for twelve times as long as they may',
    { subscriptions: [subscription({ lateSince: EARLIER, lateAfterSeconds: 10 })] },
  ],
  ...[EARLIER, null].map((askedAt): [string, object] => [
    `a consumer that ${askedAt === null ? 'has never asked' : 'has not asked for long'}`,
    { subscriptions: [subscription({ lateSince: EARLIER, lagEvents: 3, consumer: { askedAt, underWay: 2 } })] },
  ]),
  [
    'a consumer whose next event cannot be handed out',
    { subscriptions: [subscription({ failingSince: EARLIER, failures: 2, consumer: { askedAt: AT, underWay: 0 } })] },
  ],
  [
    'no missing role to handle where there are only consumers',
    {
      subscriptions: [subscription({ consumer: { askedAt: AT, underWay: 0 } })],
      processes: [process(['poll', 'dispatch'])],
    },
  ],
  ['one dead letter, for as long as it waits', { subscriptions: [subscription({ dead: 1 })] }],
  [
    'a subscription that has not begun, a while after all dispatchers have started',
    { subscriptions: [subscription({ lagEvents: null, lagSeconds: null })] },
  ],
  [
    'a subscription that has not begun, while a dispatcher starts',
    {
      subscriptions: [subscription({ lagEvents: null, lagSeconds: null })],
      processes: [ALL, process(['dispatch'], { startedAt: AT })],
    },
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
  ],
  ['a list whose only page is as long as pages are', { lists: [list({ lastSweep: onePage(50) })] }],
  ['no shorter page', { lists: [list({ lastSweep: onePage(49) }), list({ list: 'memo', lastSweep: onePage(50, 3) })] }],
  [
    'a field that is edited on most rows again and again, and none that was twice',
    {
      lists: [
        list({ restless: [restless({ times: 3 }), restless({ field: '링크' })] }),
        list({ list: 'memo', restless: [restless({})] }),
      ],
    },
  ],
  [
    'an option that names a field in vain',
    { lists: [list({ unmatched: [{ option: 'mask', pattern: '전화 번호' }] })] },
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
  ],
  [
    'a subscription that has dropped events while it was paused',
    { subscriptions: [subscription({ paused: { at: EARLIER, reason: 'It answered 410.', missing: true } })] },
  ],
  ['a subscription whose state cannot be read', { subscriptions: [subscription({ unreadable: 'WRONGTYPE' })] }],
  [
    'what waits of a subscription that is not configured',
    { unconfigured: [{ subscription: 'billing', waiting: 4, dead: 2, unread: false }] },
  ],
  [
    'what such a subscription has not read',
    { unconfigured: [{ subscription: 'billing', waiting: 0, dead: 0, unread: true }] },
  ],
  [
    'rules that run, of a file that is missing',
    { processes: [process(ALL.roles, { rulesMissing: { ...MISSING, run: true } })] },
  ],
  [
    'rules that do not run, as their file is missing',
    { processes: [process(ALL.roles, { rulesMissing: { ...MISSING, run: false } })] },
  ],
  [
    'a configuration that was refused',
    { processes: [process(ALL.roles, { refused: [{ what: 'configuration', ...REFUSED }] })] },
  ],
  ['rules that were refused', { processes: [process(ALL.roles, { refused: [{ what: 'rules', ...REFUSED }] })] }],
  [
    'records of another source',
    { lists: [list({ held: [{ ...HELD, what: 'creations', why: 'replaced', known: { seen: 3, of: 200 } }] })] },
  ],
  [
    'removals that are held as new records are',
    { lists: [list({ held: [{ ...HELD, what: 'removals', why: 'creations' }] })] },
  ],
];

const style = { timeZone: 'Asia/Seoul', now: AT };
const [korean, english] = [formatsFor({ language: 'ko', ...style }), formatsFor({ language: 'en', ...style })];

it('problems: each cause has its severity and its text in both languages (-u updates problems.txt)', async () => {
  const parts = CAUSES.map(([what, given]) => {
    const problems = problemsWith(given as Parameters<typeof problemsWith>[0]).map((problem) => {
      const { severity, kind, subject, message } = problem;
      const texts = [message, problemText(problem, english), problemText(problem, korean)];
      for (const text of texts) expect(text).not.toMatch(/[{}]|undefined|^$/);
      return [`${severity} ${kind} ${subject}`, ...new Set(texts)].join('\n  ');
    });
    return `# ${what}\n${problems.join('\n') || 'nothing'}\n`;
  });
  await expect(parts.join('\n')).toMatchFileSnapshot('./problems.txt');
});
