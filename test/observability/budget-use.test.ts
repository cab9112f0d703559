import { describe, expect, it } from 'vitest';
import { withSpending } from '../../src/observability/budget-use.js';
import type { ListStatus, ProcessStatus, StoredWorkspace } from '../../src/observability/status.js';
import { list as listWith, process as processWith } from '../support/statuses.js';

const list = (name: string, more: Partial<ListStatus> = {}): ListStatus =>
  listWith({ list: name, intervalMs: null, freshness: { ageMs: 60_000, sweepMs: 40_000 }, ...more });
const workspace = (lists: ListStatus[], allowed = 80, requests = 80): StoredWorkspace => ({
  name: 'acme',
  stateSince: null,
  stateLostAt: null,
  stateRewound: null,
  logLength: 0,
  budget: { requests, perSeconds: 10, pausedMs: 0, allowed },
  lists,
});
const process = (...spent: ProcessStatus['spent']): ProcessStatus => processWith(['poll'], { spent });
const used = (name: string, requests: number, kind: 'walk' | 'tail' = 'walk') => ({
  workspace: 'acme',
  list: name,
  kind,
  requests,
});

describe('status: what the budget was used for', () => {
  it('is the sum of what the processes report about the workspace, most first', () => {
    const elsewhere = { ...used('people', 99), workspace: 'other' };
    const processes = [process(used('people', 100), elsewhere), process(used('people', 20), used('memo', 130, 'tail'))];
    expect(withSpending(workspace([list('people')]), processes).budget.lastMinute).toEqual({
      requests: 250,
      share: 0.521,
      spent: [
        { list: 'memo', kind: 'tail', requests: 130 },
        { list: 'people', kind: 'walk', requests: 120 },
      ],
    });
  });

  it.each([
    ['nothing is polled', workspace([list('people')]), [], []],
    [
      'everything is fast',
      workspace([list('people', { freshness: { ageMs: 2_000, sweepMs: 1_000 } })]),
      [used('people', 470)],
      [],
    ],
    [
      'the budget is used up, and one list takes most of it',
      workspace([list('people'), list('memo')]),
      [used('people', 290), used('memo', 185)],
      [
        { do: 'raise-budget', requests: 80, limit: 100, perSeconds: 10 },
        { do: 'slow-list', list: 'people', share: expect.closeTo(0.61) as number },
        { do: 'disable-lists' },
      ],
    ],
    [
      'the whole limit is used up',
      workspace([list('people'), list('memo'), list('todo')], 100, 100),
      [used('people', 200), used('memo', 200), used('todo', 195)],
      [{ do: 'disable-lists' }],
    ],
    [
      'another client uses the limit',
      workspace([list('people')], 45),
      [used('people', 265)],
      [{ do: 'check-other-client', allowed: 45, requests: 80, perSeconds: 10 }],
    ],
    [
      'an interval leaves the budget unused',
      workspace([list('people'), list('memo', { intervalMs: 300_000 })]),
      [used('people', 100)],
      [{ do: 'lower-interval', list: 'memo', ms: 300_000 }],
    ],
    ['the answers of the API are what takes time', workspace([list('people')]), [used('people', 100)], []],
  ])('advice: when %s', (_when, stored, spent, advice) => {
    expect(withSpending(stored, [process(...spent)]).advice).toEqual(advice);
  });
});
