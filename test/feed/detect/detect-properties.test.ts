import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalText, diffRecords } from '../../../src/crm/canonical.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { compileRules } from '../../../src/feed/detect/rules.js';

const rules = () => compileRules('people');
const ref = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), name: fc.string() });
const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), ref, fc.uniqueArray(ref, { selector: ({ id }) => id }));
const key = fc.oneof(fc.constantFrom('이름', '담당자', '팀', '프로필 사진', '수정 날짜', '딜 개수'), fc.string());
const record: fc.Arbitrary<UncheckedRecord> = fc.dictionary(key, value).map((fields) => ({ ...fields, id: 'r1' }));

/** The same content in another representation: keys reversed, reference sets shuffled, nulls added. */
function rephrase(original: UncheckedRecord, salt: string): UncheckedRecord {
  const turned = Object.entries(original).reverse();
  const shuffled = turned.map(([name, held]) => [
    name,
    Array.isArray(held) && held.every(isRef) ? held.toReversed() : held,
  ]);
  return { ...Object.fromEntries(shuffled), ...(salt in original ? {} : { [salt]: null }) } as UncheckedRecord;
}

const isRef = (item: unknown): boolean => typeof item === 'object' && item !== null && 'id' in item && 'name' in item;

it('canonical form: it does not depend on how a record is written', () => {
  fc.assert(
    fc.property(record, fc.string({ minLength: 9 }), (original, salt) => {
      expect(canonicalText(rephrase(original, salt), rules())).toBe(canonicalText(original, rules()));
    }),
  );
});

it('canonical form: a diff is empty exactly when the texts are equal', () => {
  fc.assert(
    fc.property(record, record, (a, b) => {
      const changes = diffRecords(a, b, rules());
      expect(changes.length === 0).toBe(canonicalText(a, rules()) === canonicalText(b, rules()));
    }),
  );
});

it('canonical form: the changes applied to the old record give the new one', () => {
  fc.assert(
    fc.property(record, record, (a, b) => {
      const changes = diffRecords(a, b, rules());
      // Not by assignment: a field may be called "__proto__".
      const applied = Object.fromEntries([
        ...Object.entries(a),
        ...changes.map(({ field, after }) => [field, after] as const),
      ]);
      expect(canonicalText(applied, rules())).toBe(canonicalText(b, rules()));
    }),
  );
});
