import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readPage } from '../../../src/feed/api/page.js';
import { rowsOf } from '../../../src/feed/api/rows.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { detect } from '../../../src/feed/detect/detect.js';
import { recordKey } from '../../../src/feed/detect/identity.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import type { BuiltInList } from '../../../src/crm/lists/lists.js';

/** Bodies as seen in the wild, with invented contents: extra keys, other spellings, missing cursors, `_id` references. */
function pageOf(name: string, list: BuiltInList) {
  const body = readFileSync(new URL(`../../fixtures/wild/${name}.json`, import.meta.url));
  const answer = { status: 200, headers: {}, askedAt: 0, ms: 0, body, bytes: body.length };
  return readPage(answer, { workspace: 'acme', list, page: 1, redact: (words: string) => words } as never);
}

const observation = { workspace: 'acme', sweep: 's', observedAt: '2026-03-03T00:00:00.000Z' };
const kindOf = (list: BuiltInList, before: UncheckedRecord, after: UncheckedRecord): string => {
  const rules = compileRules(list);
  const key = recordKey({ id: after['id'], record: after }, rules);
  const known = { sequence: 0, record: before };
  return detect({ key, record: after, stored: known, baseline: null, rules, observation }).kind;
};

describe('real bodies:', () => {
  it.each([
    ['people', 'people', 1, '0198f0aa-1c00-7a10-8f01-00000000a001'],
    ['organization-empty', 'organization', 0, null],
    ['organization-no-cursor', 'organization', 1, null],
    ['memo', 'memo', 1, '0198f0ab-2000-7000-8000-00000000b001'],
    ['todo', 'todo', 1, null],
    ['history', 'history', 2, '0198f0ad-4001-7000-8000-00000000d002'],
    ['activity', 'activity', 1, null],
  ] as const)('%s: every record is found, and where the list goes on', (name, list, records, nextCursor) => {
    const page = pageOf(name, list);
    expect([page.records.length, page.nextCursor]).toEqual([records, nextCursor]);
    const keys = rowsOf(page).map((row) => recordKey(row, compileRules(list)));
    expect(new Set(keys).size).toBe(records);
  });

  it('a 200 that says "Too Many Requests" is a failed page, not an empty list', () => {
    expect(() => pageOf('rate-limited', 'people')).toThrow(/Too Many Requests/);
  });

  it('a todo is equal in both spellings, and an edit is found across them', () => {
    const [todo] = pageOf('todo', 'todo').records as [UncheckedRecord];
    const { '시작 날짜': start, '마지막 날짜': end, '완료 날짜': done, ...rest } = todo;
    const respelled = { ...rest, 시작일: start, 종료일: end, 완료일: done };
    expect(kindOf('todo', todo, respelled)).not.toMatch(/edited|refreshed/);
    expect(kindOf('todo', todo, { ...respelled, 종료일: '2026-03-04T01:15:00.000Z' })).toBe('edited');
  });

  it('a person whose counters change is refreshed, one whose RecordId also changes is edited', () => {
    const [person] = pageOf('people', 'people').records as [UncheckedRecord];
    expect(kindOf('people', person, { ...person, '전체 TODO': 4 })).toBe('refreshed');
    expect(kindOf('people', person, { ...person, '전체 TODO': 4, 등급: 'B' })).toBe('edited');
  });
});
