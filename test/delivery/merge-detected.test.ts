/** Debounce and detection must agree on equality: the events of detections in a row, merged, must equal the event of one detection. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detect } from '../../src/feed/detect/detect.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { compileRules, type FieldRules } from '../../src/feed/detect/rules.js';
import { mergeChanges } from '../../src/delivery/run/merge-changes.js';
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';

const reference = fc.record(
  { id: fc.constantFrom('u1', 'u2'), name: fc.constantFrom('가', '나'), team: fc.constantFrom(null, [], 'x') },
  { requiredKeys: ['id'] },
);
const empty = fc.constantFrom(null, [], '');
const value = fc.oneof(
  empty,
  fc.constantFrom(0, 1, '1', true, 'a'),
  reference,
  fc.array(reference, { maxLength: 3 }),
  fc.record({ x: fc.constantFrom(null, 1) }, { requiredKeys: [] }),
  fc.array(fc.constantFrom(1, 2, null), { maxLength: 2 }),
);
const picture = fc.constantFrom(
  null,
  'https://p/a?sig=1&se=1',
  'https://p/a?sig=2&se=2',
  'https://p/b?sig=1&se=1',
  'https://p/a#x',
);
const day = fc.constantFrom(null, '2026-03-01', '2026-03-02');
const name = '팀';
const image = fc.record(
  {
    이름: fc.constantFrom('A', 'B'),
    담당자: value,
    [name.normalize('NFD')]: value,
    [name]: value,
    '프로필 사진': picture,
    종료일: day,
    '마지막 날짜': day,
    비고: value,
  },
  { requiredKeys: [] },
);

/** Each has a newer modifiedAt and another sweep, so that no answer is left alone. */
function step(from: UncheckedRecord, to: UncheckedRecord, { list, rules, sequence }: Step): ChangeEvent | null {
  const at = (minute: number): UncheckedRecord => ({ '수정 날짜': `2026-03-01T10:0${minute}:05.123Z` });
  const { event } = detect({
    key: 'r1',
    record: { id: 'r1', ...to, ...at(sequence) },
    stored: { sequence: sequence - 1, record: { id: 'r1', ...from, ...at(sequence - 1) } },
    baseline: null,
    rules: compileRules(list, rules),
    observation: { workspace: 'acme', sweep: `s${sequence}`, observedAt: `2026-03-01T12:0${sequence}:00.000Z` },
  });
  return event;
}

interface Step {
  list: BuiltInList;
  rules: FieldRules;
  sequence: number;
}

const rules: fc.Arbitrary<FieldRules> = fc.record(
  {
    nullIsAbsent: fc.boolean(),
    ignore: fc.constantFrom(['비고'], ['담*']),
    only: fc.constant(['담당자', '마지막*', '프*']),
  },
  { requiredKeys: [] },
);

describe('merge and detection', () => {
  it('agree on a record with two fields whose names differ in their Unicode form only', () => {
    const twins = (one: unknown, other: unknown): UncheckedRecord => ({ [name]: one, [name.normalize('NFD')]: other });
    const given = { list: 'people', rules: {} } as const;
    const first = step(twins(0, 1), twins(2, 1), { ...given, sequence: 1 });
    const second = step(twins(2, 1), twins(2, 3), { ...given, sequence: 2 });
    const { event } = mergeChanges([first!, second!]);
    expect(event?.data.changes).toEqual(step(twins(0, 1), twins(2, 3), { ...given, sequence: 2 })?.data.changes);
    expect(event?.data.changes).toHaveLength(2);
  });

  it('changes detected step by step merge into the change detected in one step', () => {
    const images = fc.array(image, { minLength: 3, maxLength: 7 });
    fc.assert(
      fc.property(images, rules, fc.constantFrom(...LIST_NAMES), (looks, given, list) => {
        const steps = looks.slice(1).map((to, at) => step(looks[at]!, to, { list, rules: given, sequence: at + 1 }));
        const [first = null, ...rest] = steps.filter((event) => event !== null);
        fc.pre(first !== null && rest.length === steps.length - 1);
        const atOnce = step(looks[0]!, looks.at(-1)!, { list, rules: given, sequence: steps.length });
        const { taken, event } = mergeChanges([first, ...rest], compileRules(list, given));
        expect(taken).toBe(steps.length);
        expect(event?.data.changes).toEqual(atOnce?.data.changes);
      }),
      { numRuns: 500 },
    );
  });
});
