import { describe, expect, it } from 'vitest';
import { DEFAULT_CREATIONS } from '../../src/detect/creation.js';
import { compileRules } from '../../src/detect/rules.js';
import { TrackedFields } from '../../src/detect/schema-drift/schema.js';
import { NO_VERDICT, Survey } from '../../src/detect/survey.js';
import { listOf } from '../support/drift-tally.js';

const known = new Map([['id', 'string']]);

function survey(): Survey {
  const schema = listOf(100, { 'string\tid': 100 });
  return new Survey({
    question: { about: 'creations', fresh: 50 },
    moves: { rules: compileRules('people'), schema, tracked: new TrackedFields(schema), drifted: [] },
    guard: { list: 'people', rules: DEFAULT_CREATIONS, before: 100 },
    before: NO_VERDICT,
  });
}

const times = (count: number, act: () => void): void => void Array.from({ length: count }, act);

describe('survey: the verdict', () => {
  it('about new records comes as soon as half of the records are known', () => {
    const ours = survey();
    times(50, () => ours.isNew());
    times(49, () => ours.isKnown(known));
    expect(ours.isDecided(0)).toBe(false);
    ours.isKnown(known);
    expect(ours.isDecided(0)).toBe(true);
  });

  it('does not come before as many new records were seen as when the question arose', () => {
    const ours = survey();
    times(100, () => ours.isKnown(known));
    expect([ours.isDecided(0), ours.isDecided(50)]).toEqual([false, true]);
  });
});
