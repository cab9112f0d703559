import { describe, expect, it } from 'vitest';
import { epochAfter, firstSequenceOf, nextSequence } from '../../../src/events/epoch.js';
import { removalEvent, type Removal } from '../../../src/feed/detect/removal.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import { runCase, observation, personAt } from '../../support/detect-case.js';

const rules = () => compileRules('people');

describe('removal: its event', () => {
  const removal: Removal = { key: 'p1', record: personAt(5), sequence: 6 };
  const eventOf = (given: Partial<Removal> = {}, images?: boolean) =>
    removalEvent(
      { ...removal, ...given },
      { rules: rules(), observation, ...(images === undefined ? {} : { images }) },
    );

  it('carries the last image and the next sequence, at the time of observation', () => {
    expect(eventOf()).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/u) as string,
      source: '/workspaces/acme',
      type: 'crm.person.deleted',
      subject: 'p1',
      time: observation.observedAt,
      datacontenttype: 'application/json',
      data: {
        before: personAt(5),
        after: null,
        changes: [],
        sequence: 6,
        class: 'edited',
        detectedBy: 'content',
        observedAt: observation.observedAt,
        sweep: 'people-2',
      },
    });
  });

  it('names the record that it was merged into, if that is known', () => {
    expect(eventOf({ mergedInto: 'p9' }).data.mergedInto).toBe('p9');
    expect('mergedInto' in eventOf({ mergedInto: undefined }).data).toBe(false);
  });
});

describe('build event: a row without an id', () => {
  const key = 'content-abc';
  const row = { type: 'stage' };

  it('gets its key as id, because every record in an event has one', () => {
    const { event } = runCase({ key, stored: { sequence: 1, record: row }, record: { type: 'owner' } }).detection;
    expect([event?.data.before, event?.data.after]).toEqual([
      { id: key, type: 'stage' },
      { id: key, type: 'owner' },
    ]);
    const gone = removalEvent({ key, record: row, sequence: 2 }, { rules: rules(), observation });
    expect(gone.data.before).toEqual({ id: key, type: 'stage' });
  });
});

describe('build event: the sequence', () => {
  it('counts on, and in a new epoch is above everything that was given out before', () => {
    expect(nextSequence(7, {})).toBe(8);
    expect(nextSequence(7, { epoch: 3 })).toBeGreaterThan(nextSequence(1_000_000, { epoch: 2 }));
    expect(nextSequence(nextSequence(7, { epoch: 3 }), { epoch: 3 })).toBe(nextSequence(7, { epoch: 3 }) + 1);
  });

  it('stays an exact number in epochs of today, which follow the time of day and every epoch that is known', () => {
    const today = epochAfter(0, Date.UTC(2200, 0, 1));
    expect(Number.isSafeInteger(firstSequenceOf(today) + 1_000_000)).toBe(true);
    expect(epochAfter(today, Date.UTC(2026, 0, 1))).toBe(today + 1);
  });
});
