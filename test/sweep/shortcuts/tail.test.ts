import { describe, expect, it } from 'vitest';
import { Tail, type TailAnswer, type TailPosition } from '../../../src/sweep/shortcuts/tail.js';

const all = (): boolean => true;
const nothing = { records: 2, created: 0, overlaps: true, nextCursor: null } satisfies TailAnswer;

function anchored(pages = 5, requestsPerSecond = 4): Tail {
  const tail = new Tail(requestsPerSecond);
  tail.anchor({ pages, lastPage: { cursor: `c${pages}` } }, 0);
  return tail;
}
/** The next position of one end. */
const nextOf = (tail: Tail, end: 'last' | 'first', nowMs: number): TailPosition | null =>
  tail.next(nowMs, (name) => name === end);

describe('tail: polling the ends of a list', () => {
  it('tries both ends, each every four seconds at first', () => {
    const tail = anchored();
    expect(nextOf(tail, 'last', 0)).toEqual({ end: 'last', page: 5, cursor: 'c5', follows: false });
    expect(nextOf(tail, 'first', 0)).toEqual({ end: 'first', page: 1, cursor: null, follows: false });
    for (const end of ['last', 'first'] as const) tail.done({ end, page: 1, cursor: null, follows: false }, nothing, 0);
    expect(tail.next(3_999, all)).toBeNull();
    expect(tail.next(4_000, all)?.end).toBe('last');
  });

  it('polls every second while records appear, and every fifteen when none has for long', () => {
    const tail = anchored();
    const poll = nextOf(tail, 'last', 0);
    if (poll === null) throw new Error('not due');
    tail.done(poll, { ...nothing, created: 1 }, 10_000);
    const due = (): number => tail.dueMs((name) => name === 'last');
    expect(due()).toBe(11_000);
    tail.done(poll, nothing, 70_000);
    expect(due()).toBe(74_000);
    tail.done(poll, nothing, 500_000);
    expect(due()).toBe(515_000);
  });

  it.each([
    { requestsPerSecond: 1, seconds: 15 },
    { requestsPerSecond: 8, seconds: 7.5 },
    { requestsPerSecond: 1_000, seconds: 1 },
  ])(
    'polls a quiet end every $seconds s with $requestsPerSecond requests per second',
    ({ requestsPerSecond, seconds }) => {
      const tail = anchored(5, requestsPerSecond);
      const poll = nextOf(tail, 'last', 0);
      if (poll === null) throw new Error('not due');
      tail.done(poll, nothing, 500_000);
      expect(tail.dueMs((name) => name === 'last')).toBe(500_000 + seconds * 1_000);
    },
  );

  it('weighs as much as any until it is known what the list gains, and then by the new records of the last minute', () => {
    const tail = anchored();
    expect(tail.weight(1_000)).toBe(1);
    tail.grew(0, 1_000);
    expect(tail.weight(61_000)).toBeCloseTo(1 / Math.E);
    expect(tail.weight(600_000)).toBe(0.25);
    const poll = nextOf(tail, 'last', 600_000);
    if (poll === null) throw new Error('not due');
    tail.done(poll, { ...nothing, created: 3 }, 600_000);
    expect(tail.weight(600_000)).toBeCloseTo(0.5);
    tail.grew(20, 600_000);
    expect(tail.weight(600_000)).toBe(1);
  });

  it('polls an end that has shown nothing every minute once the other has shown records', () => {
    const tail = anchored();
    const poll = nextOf(tail, 'last', 0);
    if (poll === null) throw new Error('not due');
    tail.done(poll, { ...nothing, created: 1 }, 1_000);
    const firstDue = (): number => tail.dueMs((name) => name === 'first');
    expect(firstDue()).toBe(61_000);
    tail.done({ end: 'first', page: 1, cursor: null, follows: false }, nothing, 61_000);
    expect(firstDue()).toBe(121_000);
    tail.done({ end: 'first', page: 1, cursor: null, follows: false }, { ...nothing, created: 1 }, 121_000);
    expect(firstDue()).toBe(122_000);
  });

  it('follows the end as its page fills, at once', () => {
    const tail = anchored();
    const poll = nextOf(tail, 'last', 0);
    if (poll === null) throw new Error('not due');
    tail.done(poll, { records: 50, created: 20, overlaps: true, nextCursor: 'c6' }, 0);
    expect(nextOf(tail, 'last', 0)).toEqual({ end: 'last', page: 6, cursor: 'c6', follows: true });
  });

  it('gives up an end whose cursor leads through known pages, until the next complete sweep', () => {
    const tail = anchored();
    const outcomes = Array.from({ length: 4 }, (_, n) => {
      const poll = nextOf(tail, 'last', 0);
      if (poll === null) throw new Error('not due');
      return tail.done(poll, { records: 50, created: 0, overlaps: true, nextCursor: `d${n}` }, 0);
    });
    expect(outcomes).toEqual(['nothing new', 'nothing new', 'nothing new', 'lost']);
    expect(nextOf(tail, 'last', 60_000)).toBeNull();
    tail.anchor({ pages: 6, lastPage: { cursor: 'c6' } }, 60_000);
    expect(nextOf(tail, 'last', 60_000)).toMatchObject({ page: 6 });
  });

  it('has one end in a list of one page, and none where the last page is not known', () => {
    const one = new Tail(4);
    one.anchor({ pages: 1, lastPage: null }, 0);
    expect([nextOf(one, 'last', 0)?.page, nextOf(one, 'first', 0)]).toEqual([1, null]);
    const unknown = new Tail(4);
    unknown.anchor({ pages: 9, lastPage: null }, 0);
    expect([nextOf(unknown, 'last', 0), nextOf(unknown, 'first', 0)?.page]).toEqual([null, 1]);
  });

  it('is polled earlier for an unknown record, but not more than once a second', () => {
    const tail = anchored();
    tail.done({ end: 'last', page: 5, cursor: 'c5', follows: false }, nothing, 100_000);
    tail.hurry(100_100);
    expect([nextOf(tail, 'last', 100_999), nextOf(tail, 'last', 101_000)?.page]).toEqual([null, 5]);
  });
});
