import { describe, expect, it } from 'vitest';
import { DEFAULT_REMOVALS, decideRemovals, missingAfter, vanished, type Missing } from '../../src/detect/removal.js';

const pages = (...lists: string[][]) => new Map(lists.map((keys, index) => [index + 1, keys]));

describe('removal: vanished records', () => {
  it('were on some page before and are on none now; a record on another page has not vanished', () => {
    const before = pages(['a', 'b'], ['c', 'd'], ['e']);
    expect(vanished({ before, changed: new Map(), pages: 3 })).toEqual([]);
    expect(vanished({ before, changed: new Map([[1, ['a']]]), pages: 3 })).toEqual(['b']);
    expect(
      vanished({
        before,
        changed: new Map([
          [1, ['a', 'x']],
          [2, ['b', 'd']],
        ]),
        pages: 3,
      }),
    ).toEqual(['c']);
  });

  it('may have been on pages that no longer exist', () => {
    const before = pages(['a', 'b'], ['c', 'd'], ['e']);
    expect(vanished({ before, changed: new Map([[2, ['c', 'e']]]), pages: 2 })).toEqual(['d']);
    expect(vanished({ before, changed: new Map(), pages: 0 })).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('are named once, and not while another page shows them', () => {
    const before = pages(['a', 'b'], ['b', 'c'], ['a']);
    expect(vanished({ before, changed: new Map([[1, []]]), pages: 2 })).toEqual(['a']);
    expect(vanished({ before, changed: new Map([[1, []]]), pages: 3 })).toEqual([]);
  });
});

describe('removal: missing records', () => {
  const at = '2026-03-02T00:00:00.000Z';
  const once: Missing = { sweeps: 1, since: '2026-03-01T00:00:00.000Z', sweep: 's1' };
  const after = (before: Record<string, Missing>, step: Partial<Parameters<typeof missingAfter>[1]>) =>
    Object.fromEntries(
      missingAfter(new Map(Object.entries(before)), {
        left: [],
        returned: new Set(),
        sweep: 's2',
        lastSweep: 's1',
        at,
        ...step,
      }),
    );

  it('count one sweep more with every complete sweep that does not show them', () => {
    expect(after({}, { left: ['a'] })).toEqual({ a: { sweeps: 1, since: at, sweep: 's2' } });
    expect(after({ a: once }, {})).toEqual({ a: { sweeps: 2, since: once.since, sweep: 's2' } });
  });

  it('count a sweep once although it was finished twice', () => {
    const taken = after({ a: once }, { left: ['b'] });
    expect(after(taken, { left: ['a', 'b'] })).toEqual(taken);
  });

  it('do not count a sweep that was abandoned before its last commit', () => {
    const abandoned = { ...once, sweep: 'abandoned' };
    expect(after({ a: abandoned }, {})).toEqual({ a: { ...once, sweep: 's2' } });
    expect(after({ a: { ...abandoned, sweeps: 2 } }, {})).toEqual({ a: { ...once, sweeps: 2, sweep: 's2' } });
  });

  it('are no longer missing when they are seen again', () => {
    expect(after({ a: once, b: once }, { returned: new Set(['a']) })).toEqual({
      b: { ...once, sweeps: 2, sweep: 's2' },
    });
  });
});

describe('removal: the decision', () => {
  const since = '2026-03-01T00:00:00.000Z';
  const at = '2026-03-03T00:00:00.000Z';
  const missing = (count: number, entry: Partial<Missing> = {}, prefix = 'm') =>
    Array.from(
      { length: count },
      (_, index) => [`${prefix}${index}`, { sweeps: 2, since, sweep: 's2', ...entry }] as const,
    );
  const decide = (entries: readonly (readonly [string, Missing])[], present: number, more: object = {}) =>
    decideRemovals(new Map(entries), { present, rules: DEFAULT_REMOVALS, acceptedAt: null, at, ...more });

  it('is confirmed by a second sweep that does not show the record', () => {
    const entries = [...missing(1), ...missing(1, { sweeps: 1 }, 'new'), ...missing(1, { sweeps: 3 }, 'old')];
    expect(decide(entries, 100)).toEqual({ deleted: ['m0', 'old0'], held: null });
    const rules = { ...DEFAULT_REMOVALS, confirm: 1 };
    expect(decide(entries, 100, { rules }).deleted).toEqual(['m0', 'new0', 'old0']);
  });

  it('needs 30 s, however many sweeps', () => {
    const after = (since: string) => decide(missing(1, { since, sweeps: 30 }), 100).deleted;
    expect(after('2026-03-02T23:59:30.001Z')).toEqual([]);
    expect(after('2026-03-02T23:59:30.000Z')).toEqual(['m0']);
  });

  it('is held when more than ten records and more than a fifth of the list are missing, confirmed or not', () => {
    expect(decide(missing(10), 0).held).toBeNull();
    expect(decide(missing(11), 44).held).toBeNull();
    expect(decide(missing(11), 43)).toEqual({ deleted: [], held: { count: 11, of: 54 } });
    const some = [...missing(1), ...missing(10, { sweeps: 1 }, 'new')];
    expect(decide(some, 43)).toEqual({ deleted: [], held: { count: 11, of: 54 } });
    expect(decide(some, 44)).toEqual({ deleted: ['m0'], held: null });
  });

  it('is accepted by a person for the records missing by then, and for no later ones', () => {
    const later = missing(11, { since: '2026-03-02T00:00:00.001Z' }, 'late');
    const acceptedAt = '2026-03-02T00:00:00.000Z';
    const entries = [...missing(11), ...missing(1, { since: acceptedAt }, 'just'), ...missing(1, { sweeps: 1 }, 'new')];
    const accepted = [...missing(11), ...missing(1, {}, 'just')].map(([key]) => key);
    expect(decide(entries, 0, { acceptedAt })).toEqual({ deleted: accepted, held: null });
    expect(decide([...entries, ...later], 0, { acceptedAt })).toEqual({
      deleted: accepted,
      held: { count: 11, of: 24 },
    });
  });
});
