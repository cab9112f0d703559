import { describe, expect, it } from 'vitest';
import { DEFAULT_REMOVALS, decideRemovals, type Missing } from '../../../src/feed/detect/removal.js';

describe('removal: the decision', () => {
  const since = '2026-03-01T00:00:00.000Z';
  const at = '2026-03-03T00:00:00.000Z';
  const missing = (count: number, entry: Partial<Missing> = {}, prefix = 'm') =>
    Array.from(
      { length: count },
      (_, index) =>
        [`${prefix}${index}`, { sweeps: 2, since, readAt: entry.since ?? since, sweep: 's2', ...entry }] as const,
    );
  const decide = (entries: readonly (readonly [string, Missing])[], present: number, more: object = {}) =>
    decideRemovals(new Map(entries), {
      ...{ present, unnamed: 0, rules: DEFAULT_REMOVALS, acceptedAt: null, readAt: at },
      ...more,
    });

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
    expect(decide(missing(11), 43)).toEqual({ deleted: [], held: { why: 'too many', count: 11, of: 54 } });
    const some = [...missing(1), ...missing(10, { sweeps: 1 }, 'new')];
    expect(decide(some, 43)).toEqual({ deleted: [], held: { why: 'too many', count: 11, of: 54 } });
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
      held: { why: 'too many', count: 11, of: 24 },
    });
  });

  it('is held while the list shows more rows without an id than when it showed the record last', () => {
    const entries = [...missing(1), ...missing(1, { unnamed: 2 }, 'before')];
    const held = (count: number) => ({ why: 'unreadable', count, of: 102 });
    expect(decide(entries, 100, { unnamed: 1 })).toEqual({ deleted: ['before0'], held: held(1) });
    expect(decide(entries, 100, { unnamed: 3 })).toEqual({ deleted: [], held: held(2) });
    expect(decide(entries, 100, { unnamed: 3, acceptedAt: since })).toEqual({
      deleted: ['m0', 'before0'],
      held: null,
    });
  });
});
