/** The status on a terminal: what an operator can act on, and nothing else. */
import { describe, expect, it } from 'vitest';
import { statusText } from '../../src/cli/print-status.js';
import { noColours, widthOf } from '../../src/cli/text.js';
import type { ListStatus, Status } from '../../src/ops/watch/status.js';
import { AT, EARLIER, HEALTHY_REDIS, list, onePage, process, subscription } from '../support/statuses.js';

const READ = { used: 348, useful: 158, wrong: 34 };
const BUDGET = { requests: 80, perSeconds: 10, pausedMs: 0, allowed: 80, used: 0.98 };

function statusOf({
  lists,
  budget = BUDGET,
  ...more
}: Pick<Status, 'subscriptions' | 'processes'> & { lists: ListStatus[]; budget?: typeof BUDGET }): Status {
  const state = {
    state: 'active' as const,
    stateSince: EARLIER,
    stateLostAt: null,
    stateRewound: null,
    logLength: 48_213,
  };
  const workspaces = [{ name: 'acme', ...state, budget, lists }];
  return { at: AT, redis: HEALTHY_REDIS, workspaces, unconfigured: [], problems: [], ...more };
}

describe('status text', () => {
  it('status text: subscriptions that deliver nothing are marked; the problems above say why', async () => {
    const paused = { at: '2026-01-01T00:00:00.000Z', reason: 'ops.example/ answered 410 (Gone).', missing: false };
    const subscriptions: Status['subscriptions'] = [
      subscription({ name: 'ops', paused }),
      subscription({ name: 'stuck', lateSince: EARLIER }),
      subscription({ name: 'sad', failingSince: EARLIER }),
      subscription({ name: 'fine', on: ['crm.*', 'changefeed.*'] }),
      subscription({ name: 'slow', lagEvents: 3, lagSeconds: 90 }),
    ];
    const status = {
      at: '2026-01-01T02:00:00.000Z',
      redis: { evictionPolicy: 'noeviction', mayEvict: false, refuses: null, forbids: null, clockApartMs: 0 },
      workspaces: [],
      subscriptions,
      unconfigured: [],
      processes: [],
      problems: [],
    };
    const text = statusText(status, { colours: noColours });
    await expect(`${text}\n`).toMatchFileSnapshot('./screens/status-subscriptions.txt');
  });

  it('status text: a list without a baseline is distinguished from one without changes, in any room', async () => {
    const none = { used: 0, useful: 0, wrong: 0 };
    const first = { used: 12, useful: 0, wrong: 8 };
    const budget = { requests: 80, perSeconds: 10, pausedMs: 8_000, allowed: 45, used: 0.5 };
    const counts = { seen: 3, unchanged: 3, created: 0 };
    const lists = [
      list({
        records: 0,
        intervalMs: null,
        baselineAt: null,
        shortcuts: { last: READ, first, aimed: none, open: none },
      }),
      list({
        list: 'todo',
        records: 3,
        intervalMs: 120_000,
        freshness: { ageMs: 31_000, sweepMs: 900 },
        lastError: { code: 'CF_UNAVAILABLE', message: 'The API answered 503.', at: '2026-03-01T09:09:20.000Z' },
        lastSweep: { ...onePage(10), completedAt: '2026-03-01T09:09:30.000Z', tookMs: 900, counts },
      }),
    ];
    const status = statusOf({ lists, subscriptions: [], processes: [process(['poll'])], budget });
    const screens = [{}, { verbose: true }, { columns: 60, verbose: true }].map((more) =>
      statusText(status, { colours: noColours, ...more }),
    );
    expect(
      screens
        .at(-1)
        ?.split('\n')
        .filter((line) => widthOf(line) > 60),
    ).toEqual([]);
    await expect(`${screens.join(`\n${'='.repeat(60)}\n`)}\n`).toMatchFileSnapshot('./screens/status-lists.txt');
  });

  it('status text: six lists and three subscriptions fit on 80 × 24 when all is well', () => {
    const names = ['people', 'organization', 'memo', 'todo', 'history', 'activity'];
    const counts = { seen: 40_213, unchanged: 40_000, created: 13, edited: 100, refreshed: 100 };
    const lists = names.map((name, index) =>
      list({
        list: name,
        ...(index % 2 === 0 && { intervalMs: null }),
        records: 40_213,
        freshness: { ageMs: 98_000, sweepMs: 92_500 },
        lastSweep: { completedAt: AT, tookMs: 92_500, longestPage: 10, pages: 805, counts, muted: { touch: 3 } },
        lastError: { code: 'CF_UNAVAILABLE', message: 'The API at crm.example answered 503. '.repeat(4), at: AT },
        shortcuts: { last: READ, first: READ, aimed: READ, open: READ },
      }),
    );
    const subscriptions = ['on-call', 'warehouse', 'owner-changed'].map((name) =>
      subscription({ name, handler: 'bullmq', on: ['crm.todo.completed', 'crm.todo.overdue', 'crm.person.*'] }),
    );
    const status = statusOf({ lists, subscriptions, processes: [process(['serve', 'handle', 'dispatch', 'poll'])] });
    const lines = statusText(status, { colours: noColours, columns: 80 }).split('\n');
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(23);
    expect(lines[0]).toBe('all is well');
    expect(lines.filter((line) => line.startsWith('last error'))).toHaveLength(1);
    const later = { ...status, at: '2026-03-01T09:40:00.000Z' };
    expect(statusText(later, { colours: noColours })).not.toContain('CF_UNAVAILABLE');
    expect(statusText(later, { colours: noColours, verbose: true })).toMatch(/last error of people: .*answered 503/);
  });
});
