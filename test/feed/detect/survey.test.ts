import { describe, expect, it } from 'vitest';
import { DEFAULT_CREATIONS } from '../../../src/feed/detect/creation.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import { TrackedFields } from '../../../src/feed/detect/schema-drift/schema.js';
import { NO_VERDICT, Survey, type SurveyQuestion, type Verdict } from '../../../src/feed/detect/survey.js';
import { listOf } from '../../support/drift-tally.js';

const AT = '2026-03-01T00:00:00.000Z';
const FIELDS: SurveyQuestion = { about: 'fields', fields: ['출처'] };
const without = new Map([['id', 'string']]);
const filled = new Map([
  ['id', 'string'],
  ['출처', 'string'],
]);

const APPEARED = [{ field: '출처', from: 'absent', to: 'string' }];

function survey({
  question = FIELDS,
  before = NO_VERDICT,
}: { question?: SurveyQuestion; before?: Verdict } = {}): Survey {
  const schema = listOf(100, { 'string\tid': 100 });
  return new Survey({
    question,
    moves: { rules: compileRules('people'), schema, tracked: new TrackedFields(schema), drifted: [] },
    guard: { list: 'people', rules: DEFAULT_CREATIONS, before: 100 },
    before,
  });
}

const times = (count: number, act: () => void): void => void Array.from({ length: count }, act);

describe('survey: the verdict', () => {
  it('is a change of the schema when a field moved on nearly all rows', () => {
    const ours = survey();
    times(95, () => ours.countKnown(filled, APPEARED));
    times(5, () => ours.countKnown(without));
    const { verdict, changes } = ours.decide({ reported: 0, at: AT });
    expect(changes).toMatchObject([{ field: '출처', kind: 'appeared', rows: 95, share: 0.95 }]);
    expect(verdict).toMatchObject({
      fields: [{ field: '출처', moves: { absent: ['string'] } }],
      edited: [],
      heldSince: null,
    });
  });

  it('is that its moves are edits when it moved on some rows, or on none', () => {
    const some = survey();
    times(50, () => some.countKnown(filled, APPEARED));
    times(50, () => some.countKnown(without));
    const none = survey();
    times(100, () => none.countKnown(without));
    for (const ours of [some, none])
      expect(ours.decide({ reported: 0, at: AT })).toMatchObject({
        verdict: { fields: [], edited: ['출처'] },
        changes: [],
      });
  });

  it('does not ask again about what is decided', () => {
    const ours = survey({ before: { ...NO_VERDICT, edited: ['출처'] } });
    times(100, () => ours.countKnown(filled, APPEARED));
    expect(ours.decide({ reported: 0, at: AT })).toMatchObject({
      verdict: { fields: [], edited: ['출처'] },
      changes: [],
    });
  });

  it('holds new records that are too many, since then', () => {
    const ours = survey({ question: { about: 'creations', fresh: 50 } });
    times(150, () => ours.countNew());
    times(100, () => ours.countKnown(without));
    expect(ours.isDecided(0)).toBe(false);
    expect(ours.decide({ reported: 0, at: AT }).verdict).toMatchObject({ heldSince: AT });
  });

  it('counts those that were reported before, and keeps holding', () => {
    const ours = survey();
    times(50, () => ours.countNew());
    times(200, () => ours.countKnown(without));
    expect(ours.decide({ reported: 0, at: AT }).verdict).toMatchObject({ heldSince: null, allowed: 60 });
    expect(ours.decide({ reported: 90, at: AT }).verdict).toMatchObject({ heldSince: AT });
    const held = survey({ before: { ...NO_VERDICT, heldSince: '2026-02-01T00:00:00.000Z' } });
    expect(held.decide({ reported: 0, at: AT }).verdict.heldSince).toBe('2026-02-01T00:00:00.000Z');
  });

  it('about new records comes as soon as half of the records are known', () => {
    const ours = survey({ question: { about: 'creations', fresh: 50 } });
    times(50, () => ours.countNew());
    times(49, () => ours.countKnown(without));
    expect(ours.isDecided(0)).toBe(false);
    ours.countKnown(without);
    expect(ours.isDecided(0)).toBe(true);
  });

  it('does not come before as many new records were seen as when the question arose', () => {
    const ours = survey({ question: { about: 'creations', fresh: 50 } });
    times(100, () => ours.countKnown(without));
    expect([ours.isDecided(0), ours.isDecided(50)]).toEqual([false, true]);
  });
});
