/** The judge has an equality of its own, on purpose. It must not differ from detection's, or one of them is wrong. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from '../../src/crm/canonical.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { compileRules } from '../../src/feed/detect/rules.js';
import { contentText } from '../../sandbox/verify/equality.js';

const reference = fc.record(
  { id: fc.constantFrom('1', '2'), name: fc.constantFrom('a', 'b'), tag: fc.constantFrom(null, [], 'x') },
  { requiredKeys: ['id'] },
);
const entry = fc.record({ _id: fc.constantFrom('1', '2'), name: fc.constantFrom('a', 'b') }, { requiredKeys: ['_id'] });
const picture = fc.constantFrom(
  ...[
    null,
    'https://p/a',
    'https://p/a?sig=1',
    'https://p/a?sig=1&se=1',
    'https://p/a?se=2&sig=2',
    'https://p/a?v=2&sig=1&se=3',
  ],
  ...[
    'see https://p/a?X-Amz-Date=1&X-Amz-Signature=2 there',
    'see https://p/a there',
    'https://p/a?v=2',
    'https://p/b',
  ],
);
const time = fc.constantFrom(
  ...['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z', '2026-01-01T09:00:00+09:00', '2026-01-01T00:00:00.001Z'],
  ...['2025-12-31T15:00:00.000-09:00', '2026-01-01T00:00', '2026-01-01'],
);
const value = fc.oneof(
  time,
  picture,
  fc.record({ id: fc.constant('1'), at: time, url: picture }),
  fc.constantFrom(null, undefined, [], '', 0, '0', false),
  reference,
  fc.array(fc.oneof(reference, entry), { maxLength: 3 }),
  fc.array(fc.constantFrom(null, [], 1, {}), { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('가', '가'.normalize('NFD'), 'b'), fc.constantFrom(null, 1, []), { maxKeys: 2 }),
);
const record: fc.Arbitrary<UncheckedRecord> = fc
  .record(
    {
      팀: value,
      ['팀'.normalize('NFD')]: value,
      담당자: value,
      '프로필 사진': picture,
      updatedAt: fc.constantFrom('1', '2'),
    },
    { requiredKeys: [] },
  )
  .map((fields) => ({ id: 'r1', ...fields }));

const says = (image: UncheckedRecord): string | null =>
  contentText({ ...image, id: 'r1' }, { ignore: new Set(), refNames: 'compared' });
const text = (image: UncheckedRecord): string => canonicalText(image, compileRules('people'));

test('verify: two images say the same to the judge exactly when detection finds no change between them', () => {
  fc.assert(
    fc.property(record, record, (a, b) => {
      expect(says(a) === says(b)).toBe(text(a) === text(b));
    }),
    // A name in both Unicode forms, one without a value: the field is the same.
    {
      numRuns: 3_000,
      examples: [
        [
          { id: 'r1', ['팀'.normalize('NFD')]: 'x' },
          { id: 'r1', 팀: null, ['팀'.normalize('NFD')]: 'x' },
        ],
      ],
    },
  );
});
