import { describe, expect, it } from 'vitest';
import { timeLeftLine } from '../../src/cli/progress.js';

describe('time left', () => {
  const acme = { name: 'acme', budget: { requests: 80, perSeconds: 10 } };
  const reached = { workspace: 'acme', list: 'todo', mode: 'changes', pages: 2, records: 100, done: false } as const;
  const left = (...lists: Parameters<typeof timeLeftLine>[1]): string[] =>
    timeLeftLine(acme, lists, { isNamed: false });

  it('time left: follows from the pages of all lists and the budget that they share', () => {
    const lists = [
      { ...reached, expected: 4_100 },
      { ...reached, list: 'memo', expected: 2_100 },
    ] as const;
    expect(left(...lists)).toEqual(['time left: at least 15 s for 120 pages (budget: 80 requests per 10 s)']);
    expect(timeLeftLine(acme, lists, { isNamed: true })[0]).toMatch(/^time left of acme: /);
  });

  it('time left: is unknown while a list is swept for the first time', () => {
    expect(left({ ...reached, expected: 4_100 }, { ...reached, list: 'memo', expected: null })).toEqual([
      'time left: unknown in a first sweep (budget: 80 requests per 10 s)',
    ]);
  });

  it('time left: counts neither finished lists nor other workspaces', () => {
    const finished = { ...reached, expected: null, done: true };
    const other = { ...reached, workspace: 'other', expected: null };
    expect(left(finished, other)).toEqual([]);
    expect(left(finished, other, { ...reached, list: 'memo', expected: 90 })[0]).toMatch(/at least 1 s for 1 page /);
  });
});
