import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../src/detect/stored-record.js';
import { deletedRecord } from '../../src/detect/removal.js';
import { compileRules } from '../../src/detect/rules.js';
import { runCase, personAt, type DetectCase } from '../support/detect-case.js';

const known = (given: Partial<StoredRecord> = {}): StoredRecord => ({ sequence: 4, record: personAt(5), ...given });

/** Runs several answers in a row, one per complete sweep, each with the record stored by the one before. */
function sightings(first: StoredRecord, answers: (DetectCase['record'] | DetectCase)[]): string[] {
  let stored = first;
  return answers.map((answer, index) => {
    const given = ('record' in answer && 'observation' in answer ? answer : { record: answer }) as DetectCase;
    const { detection, next } = runCase({
      stored,
      ...given,
      observation: { sweep: `s${index + 1}`, previousSweep: `s${index}`, ...given.observation },
    });
    stored = next ?? stored;
    return detection.kind;
  });
}

/** The stored record after events for the contents A and B, with an unchanged modifiedAt. */
function storedAfterTwo(): { record: (name: string) => DetectCase['record']; known: StoredRecord } {
  const record = (name: string) => personAt(5, { 이름: name });
  const { next } = runCase({ stored: { sequence: 1, record: record('A') }, record: record('B') });
  return { record, known: next! };
}

describe('stale: an answer with an older modifiedAt', () => {
  it('is stale at the first sighting, with a digest of its content and the sweep', () => {
    const { detection, next } = runCase({ stored: known(), record: personAt(4, { 이름: '옛이름' }) });
    expect(detection).toEqual({
      kind: 'stale',
      sequence: 4,
      event: null,
      doubt: { content: expect.stringMatching(/^[\w-]{11}$/u) as string, sweep: 'people-2', sightings: 1 },
    });
    expect(next).toMatchObject({ sequence: 4, record: personAt(5), doubt: { sightings: 1 } });
  });

  it('is a change when the next complete sweep shows the same', () => {
    const old = personAt(4, { 이름: '옛이름' });
    expect(sightings(known(), [old, old])).toEqual(['stale', 'edited']);
  });

  it('is stale again when the sweep before did not show it', () => {
    const old = personAt(4, { 이름: '옛이름' });
    const between = { record: old, observation: { previousSweep: 'another' } };
    expect(sightings(known(), [old, between, old])).toEqual(['stale', 'stale', 'edited']);
  });

  it('counts one sighting per sweep, however many pages show it', () => {
    const first = runCase({ stored: known(), record: personAt(4, { 이름: '옛이름' }) });
    const second = runCase({ stored: first.next, record: personAt(4, { 이름: '또다른' }) });
    expect(second.detection).toMatchObject({ kind: 'stale', doubt: { sweep: 'people-2', sightings: 1 } });
    const both = [first, second].map(({ detection }) => 'doubt' in detection && detection.doubt.content);
    expect(both[0]).not.toBe(both[1]);
  });

  it('keeps the sightings of earlier sweeps, however often one sweep shows it', () => {
    const doubt = { content: 'x', sweep: 'people-2', sightings: 2 };
    const { detection } = runCase({ stored: known({ doubt }), record: personAt(4, { 이름: '옛이름' }) });
    expect(detection).toMatchObject({ kind: 'stale', doubt: { sweep: 'people-2', sightings: 2 } });
  });

  it('is accepted at the third sighting when it differs each time', () => {
    const [a, b, c] = ['A', 'B', 'C'].map((name) => personAt(4, { 이름: name }));
    expect(sightings(known(), [a!, b!, c!])).toEqual(['stale', 'stale', 'edited']);
  });

  it('ends when the stored content is shown again', () => {
    const old = personAt(4, { 이름: '옛이름' });
    const { next } = runCase({
      stored: known({ doubt: { content: 'x', sweep: 'people-1', sightings: 1 } }),
      record: personAt(5),
    });
    expect(next).toEqual({ sequence: 4, record: personAt(5) });
    expect(sightings(known(), [old, personAt(5), old])).toEqual(['stale', 'ignored', 'stale']);
  });

  it('leaves no doubt when only its modifiedAt is older', () => {
    const { detection, next } = runCase({ stored: known(), record: personAt(4) });
    expect(detection).toEqual({ kind: 'stale', sequence: 4, event: null });
    expect(next).toBeNull();
  });

  it('is never accepted while the stored record is less than 10 s old', () => {
    const recent = known({
      decisions: [{ at: '2026-03-01T11:59:55.000Z', sweep: 's', what: 'edited', event: 'evt_1' }],
    });
    const old = personAt(4, { 이름: '옛이름' });
    const later = { record: old, observation: { observedAt: '2026-03-01T12:00:05.000Z' } };
    expect(sightings(recent, [old, old, old, old, later])).toEqual(['stale', 'stale', 'stale', 'stale', 'edited']);
  });

  it('counts sightings during the lag, so that the first one after it is accepted', () => {
    const recent = known({
      decisions: [{ at: '2026-03-01T11:59:55.000Z', sweep: 's', what: 'edited', event: 'evt_1' }],
    });
    const { next } = runCase({ stored: recent, record: personAt(4, { 이름: 'A' }), observation: { sweep: 's1' } });
    const { detection } = runCase({
      stored: next,
      record: personAt(4, { 이름: 'B' }),
      observation: { sweep: 's2', previousSweep: 's1' },
    });
    expect(detection).toMatchObject({ kind: 'stale', doubt: { sweep: 's2', sightings: 2 } });
  });
});

describe('stale: an answer whose modifiedAt does not decide', () => {
  it('is stale when it shows an earlier content, and a change at the second sighting', () => {
    const { record, known: afterB } = storedAfterTwo();
    expect(sightings(afterB, [record('A'), record('A')])).toEqual(['stale', 'edited']);
    expect(sightings(afterB, [record('C')])).toEqual(['edited']);
  });

  it('is accepted at the second sighting although the stored record is new: only an older modifiedAt indicates lag', () => {
    const { record, known: afterB } = storedAfterTwo();
    const decisions = [{ at: '2026-03-01T11:59:59.000Z', sweep: 's', what: 'edited', event: 'evt_1' } as const];
    expect(sightings({ ...afterB, decisions }, [record('A'), record('A')])).toEqual(['stale', 'edited']);
  });

  it('is accepted at once when its modifiedAt is newer, although the content is an earlier one', () => {
    const { known: afterB } = storedAfterTwo();
    expect(sightings(afterB, [personAt(6, { 이름: 'A' })])).toEqual(['edited']);
  });
});

describe('stale: a page with another record that is certainly older', () => {
  const lagging = (record: DetectCase['record'], more: object = {}) => ({
    record,
    observation: { lagging: true, ...more },
  });

  it('makes every changed record of the page doubtful, unless its modifiedAt is newer', () => {
    const changed = personAt(5, { 이름: '새이름' });
    expect(sightings(known(), [lagging(changed), lagging(changed)])).toEqual(['stale', 'edited']);
    expect(sightings(known(), [lagging(personAt(6, { 이름: '새이름' }))])).toEqual(['edited']);
    expect(sightings(known(), [{ record: changed, observation: { lagging: false } }])).toEqual(['edited']);
  });

  it('is never accepted while the stored record is less than 10 s old', () => {
    const recent = known({
      decisions: [{ at: '2026-03-01T11:59:55.000Z', sweep: 's', what: 'edited', event: 'evt_1' }],
    });
    const changed = lagging(personAt(5, { 이름: '새이름' }));
    expect(sightings(recent, [changed, changed, changed])).toEqual(['stale', 'stale', 'stale']);
  });
});

describe('stale: a deleted record that reappears', () => {
  const seen = personAt(5);
  const gone = (at: string): StoredRecord => {
    const { next } = runCase({ stored: { sequence: 1, record: personAt(5, { 이름: 'A' }) }, record: seen });
    return deletedRecord(next!, { at, sweep: 's0', event: 'evt_2', sequence: 3 }, compileRules('people'));
  };
  const long = () => gone('2026-02-01T00:00:00.000Z');

  it('is created at once when it is changed, with the next sequence, at the time of observation', () => {
    const { detection } = runCase({
      stored: long(),
      record: personAt(6, { 이름: '새이름', '생성 날짜': '2026-01-01T00:00:00.000Z' }),
    });
    expect(detection).toMatchObject({
      kind: 'created',
      sequence: 4,
      event: {
        type: 'crm.person.created',
        time: '2026-03-01T12:00:00.000Z',
        data: { before: null, changes: [], sequence: 4, class: 'edited', detectedBy: 'content', reappeared: true },
      },
    });
  });

  it('needs a second sighting with its last or an earlier content', () => {
    expect(sightings(long(), [seen, seen])).toEqual(['stale', 'created']);
    expect(sightings(long(), [personAt(5, { 이름: 'A' })])).toEqual(['stale']);
    expect(sightings(long(), [personAt(5, { 이름: 'B' })])).toEqual(['created']);
  });

  it('needs a second sighting with an older modifiedAt, and none with a newer one', () => {
    expect(sightings(long(), [personAt(4, { 이름: '새이름' })])).toEqual(['stale']);
    expect(sightings(long(), [personAt(6)])).toEqual(['created']);
  });

  it('stays deleted while its removal is less than 10 s old', () => {
    expect(sightings(gone('2026-03-01T11:59:55.000Z'), [seen, seen, seen])).toEqual(['stale', 'stale', 'stale']);
  });

  it('is reported even during a baseline, because its removal was reported', () => {
    const { detection } = runCase({ stored: long(), record: personAt(6), baseline: 'quiet' });
    expect(detection).toMatchObject({ kind: 'created', event: { data: { reappeared: true } } });
  });
});
