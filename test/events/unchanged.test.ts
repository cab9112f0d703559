import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileSelection } from '../../src/events/pattern.js';
import { exampleEvent } from '../../src/events/example.js';
import { builtInLists } from '../../src/crm/lists/lists.js';
import { dueAfter, latestDue, type Stretch } from '../../src/events/unchanged.js';

const DAY_MS = 86_400_000;
const ms = (text: string): number => Date.parse(text);
const working = (days: number): Stretch => ({ field: null, related: [], forMs: days * DAY_MS, days: 'working' });

it.each([
  ['Wednesday', '2026-03-04T10:00:00Z', 1, '2026-03-05T10:00:00Z'],
  ['over a weekend', '2026-03-06T10:00:00Z', 1, '2026-03-09T10:00:00Z'],
  ['two weeks', '2026-03-04T10:00:00Z', 10, '2026-03-18T10:00:00Z'],
  ['on a Saturday', '2026-03-07T10:00:00Z', 1, '2026-03-10T00:00:00Z'],
  ['on a Sunday, a week', '2026-03-08T23:00:00Z', 5, '2026-03-16T00:00:00Z'],
])('working days: a change %s', (_when, since, days, due) => {
  expect(new Date(dueAfter(working(days), ms(since), 'UTC')).toISOString()).toBe(new Date(due).toISOString());
});

it('working days: the latest change that is due is the last one whose moment has come, in every zone', () => {
  const zones = fc.constantFrom('UTC', 'Asia/Seoul', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe');
  fc.assert(
    fc.property(
      fc.integer({ min: ms('2026-01-01'), max: ms('2027-01-01') }),
      fc.integer({ min: 1, max: 23 }),
      fc.constantFrom('working' as const, 'calendar' as const),
      zones,
      (now, count, days, zone) => {
        const stretch = { ...working(count), days };
        const since = latestDue(stretch, now, zone);
        expect(dueAfter(stretch, since, zone)).toBeLessThanOrEqual(now);
        expect(dueAfter(stretch, since + 2 * 3_600_000, zone)).toBeGreaterThan(now - 3_600_000);
      },
    ),
    { numRuns: 500 },
  );
});

it('unchanged: who asks for a stretch gets its events, and nobody else', () => {
  const of = { id: 'evt_1', workspace: 'acme', at: '2026-03-01T00:00:00.000Z', lists: builtInLists };
  const event = exampleEvent('crm.person.unchanged', of);
  const stretch: Stretch = { field: null, related: [], forMs: 14 * DAY_MS, days: 'calendar' };
  const selects = (on: string, unchanged?: Stretch): boolean => compileSelection({ on: [on], unchanged })(event);
  expect(selects('crm.person.unchanged', stretch)).toBe(true);
  expect(selects('crm.*.unchanged', stretch)).toBe(true);
  expect(selects('crm.person.unchanged', { ...stretch, forMs: 15 * DAY_MS })).toBe(false);
  expect(selects('crm.person.unchanged', { ...stretch, field: '단계' })).toBe(false);
  expect(selects('crm.person.unchanged')).toBe(false);
  expect(selects('crm.*', stretch)).toBe(false);
});
