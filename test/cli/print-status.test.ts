/** The status on a terminal: what an operator can act on, and nothing else. */
import { describe, expect, it } from 'vitest';
import { statusText } from '../../src/cli/print-status.js';
import { noColours, widthOf } from '../../src/cli/text.js';
import type { Status } from '../../src/observability/status.js';
import { AT, EARLIER, HEALTHY_REDIS, list, process, subscription } from '../support/statuses.js';

const READ = { used: 348, useful: 158, wrong: 34 };

describe('status text', () => {
  it('status text: subscriptions that deliver nothing are marked; the problems above say why', () => {
    const disabled = { at: '2026-01-01T00:00:00.000Z', reason: 'ops.example/ answered 410 (Gone).', missing: false };
    const subscriptions: Status['subscriptions'] = [
      subscription({ name: 'ops', paused: true, disabled }),
      subscription({ name: 'stuck', paused: true, stalledSince: EARLIER }),
      subscription({ name: 'sad', failingSince: EARLIER }),
      subscription({ name: 'fine', on: ['crm.*', 'changefeed.*'] }),
      subscription({ name: 'slow', lagEvents: 3, lagSeconds: 90 }),
    ];
    const status = {
      at: '2026-01-01T02:00:00.000Z',
      redis: { evictionPolicy: 'noeviction', mayEvict: false, refuses: null },
      workspaces: [],
      subscriptions,
      processes: [],
      problems: [],
    };
    expect(statusText(status, { colours: noColours })).toBe(
      [
        'all is well',
        '',
        'subscription     handler  on        lag                   delayed  dead',
        'ops (DISABLED)   webhook  crm.*     none                  0        0',
        'stuck (STALLED)  webhook  crm.*     none                  0        0',
        'sad (failing)    webhook  crm.*     none                  0        0',
        'fine             webhook  crm.* +1  none                  0        0',
        'slow             webhook  crm.*     3 events, 1 min 30 s  0        0',
        'oldest waiting event: 1 min 30 s, of slow',
        '',
        'no process runs: changefeed start',
      ].join('\n'),
    );
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
    const budget = { requests: 80, perSeconds: 10, pausedMs: 0, allowed: 80, used: 0.98 };
    const status: Status = {
      at: AT,
      redis: HEALTHY_REDIS,
      workspaces: [
        {
          name: 'acme',
          stateSince: EARLIER,
          stateLostAt: null,
          stateRewound: null,
          logLength: 48_213,
          budget,
          lists,
        },
      ],
      subscriptions: ['on-call', 'warehouse', 'owner-changed'].map((name) =>
        subscription({ name, handler: 'bullmq', on: ['crm.todo.completed', 'crm.todo.overdue', 'crm.person.*'] }),
      ),
      processes: [process(['serve', 'handle', 'dispatch', 'poll'])],
      problems: [],
    };
    const lines = statusText(status, { colours: noColours, columns: 80 }).split('\n');
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
    // One line is the prompt.
    expect(lines.length).toBeLessThanOrEqual(23);
    expect(lines[0]).toBe('all is well');
    expect(lines.filter((line) => line.startsWith('last error'))).toHaveLength(1);
    const later = { ...status, at: '2026-03-01T09:40:00.000Z' };
    expect(statusText(later, { colours: noColours })).not.toContain('CF_UNAVAILABLE');
    expect(statusText(later, { colours: noColours, verbose: true })).toMatch(/last error of people: .*answered 503/);
  });
});
