import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { momentBefore, nextMoment, periodOf } from '../../src/delivery/moments.js';
import { digestOptions } from '../../src/delivery/handlers/digest.js';

const SEOUL = 'Asia/Seoul';

function following(options: unknown, after: string, { zone = SEOUL, count = 1 } = {}): string[] {
  const schedule = digestOptions.parse(options);
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count;) {
    at = nextMoment(schedule, at, zone);
    found.push(new Date(at).toISOString());
  }
  return found;
}

const twoDigits = (number: number): string => String(number).padStart(2, '0');

describe('moments of a digest', () => {
  it('digest: at a time of day, it is due once a day in the time zone of the workspace', () => {
    expect(following({ at: '09:00' }, '2026-11-26T23:59:59+09:00', { count: 2 })).toEqual([
      '2026-11-27T00:00:00.000Z',
      '2026-11-28T00:00:00.000Z',
    ]);
    // At the moment itself, the next one is tomorrow's.
    expect(following({ at: '09:00' }, '2026-11-27T09:00:00+09:00')).toEqual(['2026-11-28T00:00:00.000Z']);
    expect(following({ at: '09:00' }, '2026-11-27T08:59:59.999+09:00')).toEqual(['2026-11-27T00:00:00.000Z']);
  });

  it('digest: from Monday to Friday, what is found on a weekend waits for Monday', () => {
    // Friday at ten.
    expect(following({ at: '09:00', days: 'mon-fri' }, '2026-11-27T10:00:00+09:00')).toEqual([
      '2026-11-30T00:00:00.000Z',
    ]);
    expect(following({ at: '09:00', days: ['tue'] }, '2026-11-27T10:00:00+09:00')).toEqual([
      '2026-12-01T00:00:00.000Z',
    ]);
  });

  it('digest: with every, moments are counted from midnight, so that a restart changes none', () => {
    expect(following({ every: '1h' }, '2026-11-27T09:10:00+09:00')).toEqual(['2026-11-27T01:00:00.000Z']);
    expect(following({ every: '7h' }, '2026-11-27T20:00:00+09:00', { count: 3 })).toEqual([
      '2026-11-27T12:00:00.000Z',
      '2026-11-27T15:00:00.000Z',
      '2026-11-27T22:00:00.000Z',
    ]);
  });

  it('digest: a moment in quiet hours moves to their end, and is one with the others that do', () => {
    const quietHours = { from: '22:00', to: '08:00' };
    expect(following({ every: '1h', quietHours }, '2026-11-27T20:30:00+09:00', { count: 3 })).toEqual([
      '2026-11-27T12:00:00.000Z',
      '2026-11-27T23:00:00.000Z',
      '2026-11-28T00:00:00.000Z',
    ]);
    // From Friday night to Monday morning.
    const options = { every: '1h', quietHours, days: 'mon-fri' };
    expect(following(options, '2026-11-27T21:30:00+09:00')).toEqual(['2026-11-29T23:00:00.000Z']);
    const noon = { every: '30m', quietHours: { from: '12:00', to: '13:00' } };
    expect(following(noon, '2026-11-27T11:30:00+09:00')).toEqual(['2026-11-27T04:00:00.000Z']);
  });

  it('digest: where clocks change, it is due once, an hour later where its time does not exist', () => {
    const zone = 'Europe/Berlin';
    expect(following({ at: '02:30' }, '2026-03-28T12:00:00Z', { zone, count: 2 })).toEqual([
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(following({ at: '02:30' }, '2026-10-24T12:00:00Z', { zone, count: 2 })).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(following({ every: '12h' }, '2026-03-29T00:00:00Z', { zone, count: 2 })).toEqual([
      '2026-03-29T11:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ]);
  });

  it('digest: quiet hours that end in the hour that comes twice end in both, and no moment lies before now', () => {
    const options = { every: '15m', quietHours: { from: '22:00', to: '01:30' } };
    const zone = 'America/New_York';
    // The first 00:50, the first 01:50 and the second 01:05.
    expect(following(options, '2026-11-01T04:50:00Z', { zone })).toEqual(['2026-11-01T05:30:00.000Z']);
    expect(following(options, '2026-11-01T05:50:00Z', { zone })).toEqual(['2026-11-01T06:30:00.000Z']);
    expect(following(options, '2026-11-01T06:05:00Z', { zone })).toEqual(['2026-11-01T06:30:00.000Z']);
    expect(following(options, '2026-10-25T01:05:00Z', { zone: 'Europe/London' })).toEqual(['2026-10-25T01:30:00.000Z']);
  });

  it('digest: in every time zone and at every moment, the next one comes later', () => {
    const minutes = fc.integer({ min: 0, max: 95 }).map((quarter) => quarter * 15);
    const time = minutes.map((all) => `${twoDigits(Math.floor(all / 60))}:${twoDigits(all % 60)}`);
    const quietHours = fc.tuple(time, time).filter(([from, to]) => from !== to);
    const when = fc.oneof(
      time.map((at) => ({ at })),
      fc.tuple(fc.constantFrom('15m', '1h', '7h'), quietHours).map(([every, [from, to]]) => ({
        ...{ every, quietHours: { from, to } },
      })),
    );
    const after = fc.oneof(
      fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2030, 0) }),
      // The days on which most clocks change.
      fc.integer({ min: Date.UTC(2026, 9, 24), max: Date.UTC(2026, 9, 26) }),
      fc.integer({ min: Date.UTC(2026, 10, 1), max: Date.UTC(2026, 10, 2) }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Intl.supportedValuesOf('timeZone')), when, after, (zone, options, ms) => {
        expect(nextMoment(digestOptions.parse(options), ms, zone)).toBeGreaterThan(ms);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [{ at: '09:00' }, '2026-11-27T09:00:00+09:00', '2026-11-26T09:00:00+09:00', '2026-11-27T09:00:00+09:00'],
    [{ at: '09:00' }, '2026-11-27T09:00:01+09:00', '2026-11-27T09:00:00+09:00', '2026-11-28T09:00:00+09:00'],
    [
      { at: '09:00', days: 'mon-fri' },
      '2026-11-28T12:00:00+09:00',
      '2026-11-27T09:00:00+09:00',
      '2026-11-30T09:00:00+09:00',
    ],
    [{ every: '4h' }, '2026-11-27T13:00:00+09:00', '2026-11-27T12:00:00+09:00', '2026-11-27T16:00:00+09:00'],
    [{ every: '4h' }, '2026-11-27T00:00:01+09:00', '2026-11-27T00:00:00+09:00', '2026-11-27T04:00:00+09:00'],
  ])('digest: of %j, what was logged at %s is in one period', (options, at, after, moment) => {
    const expected = { afterMs: Date.parse(after), atMs: Date.parse(moment) };
    expect(periodOf(digestOptions.parse(options), Date.parse(at), SEOUL)).toEqual(expected);
  });

  it('report: the one before Monday is that of Friday', () => {
    const schedule = digestOptions.parse({ at: '09:00', days: 'mon-fri' });
    const before = (at: string): string => new Date(momentBefore(schedule, Date.parse(at), SEOUL)).toISOString();
    expect(before('2026-11-30T09:00:00+09:00')).toBe('2026-11-27T00:00:00.000Z');
    expect(before('2026-12-01T09:00:00+09:00')).toBe('2026-11-30T00:00:00.000Z');
    expect(before('2026-12-01T08:59:00+09:00')).toBe('2026-11-30T00:00:00.000Z');
    expect(before('2026-12-01T09:00:01+09:00')).toBe('2026-12-01T00:00:00.000Z');
  });
});
