import { describe, expect, it } from 'vitest';
import { isKnownByContent, recordKey } from '../../../src/feed/detect/identity.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import type { BuiltInList } from '../../../src/crm/lists/lists.js';

const keyOf = (record: Record<string, unknown>, list: BuiltInList = 'history', occurrence?: (key: string) => number) =>
  recordKey({ id: record['id'], record }, compileRules(list), occurrence);

describe('identity: a record is known', () => {
  it.each(['people', 'history', 'activity'] as const)('by its id, in %s', (list) => {
    expect(keyOf({ id: 'h1', dealId: 'd1' }, list)).toBe('h1');
    expect(isKnownByContent(keyOf({ id: 'h1' }, list), compileRules(list))).toBe(false);
  });

  it.each(['history', 'activity'] as const)('by its content where it has no id, in %s', (list) => {
    const row = { date: '2026-03-01T00:00:00.000Z', type: 'stage', note: null };
    const key = keyOf(row, list);
    expect(key).toMatch(/^content-[\w-]{22}$/u);
    expect(isKnownByContent(key, compileRules(list))).toBe(true);
    expect(isKnownByContent(`${key}-2`, compileRules(list))).toBe(true);
    expect(keyOf({ type: 'stage', date: '2026-03-01T00:00:00.000Z' }, list)).toBe(key);
    expect(keyOf({ ...row, type: 'owner' }, list)).not.toBe(key);
    // A canonical form of values that changes must not give all rows other keys.
    expect(keyOf({ ...row, date: '2026-03-01T00:00:00Z' }, list)).not.toBe(key);
  });

  it.each([
    ['history', 'content-1'],
    ['people', 'content-1'],
    ['people', 'content-AAAAAAAAAAAAAAAAAAAAAA'],
  ] as const)('by its own id that begins as a key of content does: %s %s', (list, id) => {
    expect(isKnownByContent(keyOf({ id }, list), compileRules(list))).toBe(false);
  });

  it('by the same content whatever the rules leave out: a change of rules must not change keys', () => {
    const row = { '수정 날짜': '2026-03-01T00:00:00.000Z', type: 'stage', note: null };
    const keys = [{}, { ignore: ['type'] }, { only: [] }, { nullIsAbsent: false }].map((options) =>
      recordKey({ id: undefined, record: row }, compileRules('history', options)),
    );
    expect(new Set(keys).size).toBe(1);
    expect(keyOf({ ...row, '수정 날짜': '2026-03-02T00:00:00.000Z' })).not.toBe(keys[0]);
  });
});

it.each([
  ['people', undefined, 'nothing'],
  ['todo', '', 'an empty string'],
  ['people', 7, 'a number'],
  ['history', null, 'null'],
  ['activity', '', 'an empty string'],
] as const)(
  'identity: a record without a usable id spoils its page, and nothing of it is shown: %s with %j',
  (list, id, found) => {
    const message = `List "${list}": expected every record to carry an "id" string, found ${found}. Nothing of the page was written; it is read again.`;
    expect(() => keyOf({ id, 이름: '김민수' }, list)).toThrow(
      new ChangefeedError('CF_PAGE_MALFORMED', { list, message }),
    );
  },
);
