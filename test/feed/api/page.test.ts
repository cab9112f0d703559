import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Answer, Asked } from '../../../src/feed/api/failure.js';
import { readPage } from '../../../src/feed/api/page.js';
import { LIST_NAMES, descriptorOf, type BuiltInList, type ListRef } from '../../../src/crm/lists/lists.js';

const asked = (list: ListRef = 'people'): Asked => ({
  workspace: 'acme',
  host: 'crm.example',
  list,
  page: 4,
  now: 0,
  redact: (text) => text,
});

const answer = (text: string, status = 200): Answer => ({
  status,
  body: Buffer.from(text),
  bytes: Buffer.byteLength(text),
  headers: {},
  askedAt: 0,
  ms: 0,
});

const read = (body: unknown, list?: ListRef) => readPage(answer(JSON.stringify(body)), asked(list));
const keyOf = (list: BuiltInList) => descriptorOf(list).key ?? '';
const ok = (data: unknown) => ({ success: true, data });

it.each(LIST_NAMES)('page: the records of the list %s are under its key', (list) => {
  const page = read(ok({ [keyOf(list)]: [{ id: 'a' }], nextCursor: 'c' }), list);
  expect(page).toMatchObject({ list, records: [{ id: 'a' }], nextCursor: 'c', bytes: expect.any(Number) as number });
});

it('page: the only array in "data" is read when the key was renamed', () => {
  expect(read(ok({ leadHistoryList: [{ id: 'a' }], nextCursor: 'c' }), 'history').records).toEqual([{ id: 'a' }]);
});

it.each([
  ['null', { nextCursor: null }, true],
  ['missing', {}, undefined],
  ['empty', { nextCursor: '' }, true],
])('page: a cursor that is %s ends the list, and says so where it is there', (_name, rest, saysEnd) => {
  const page = read(ok({ peopleList: [{ id: 'a' }], ...rest }));
  expect([page.nextCursor, page.saysEnd]).toEqual([null, saysEnd]);
});

it('page: an empty page keeps its cursor', () => {
  expect(read(ok({ peopleList: [], nextCursor: 'c' }))).toMatchObject({ records: [], nextCursor: 'c' });
});

it('page: a short page does not end the list', () => {
  expect(read(ok({ peopleList: [{ id: 'a' }], nextCursor: 'c' })).nextCursor).toBe('c');
});

it('page: a cursor outside "data" continues the list', () => {
  expect(read({ ...ok({ peopleList: [{ id: 'a' }] }), nextCursor: 'c' }).nextCursor).toBe('c');
});

it('page: keys and values stay as the API sent them', () => {
  const record = { id: 'a', '프로필 사진': null, '매출 (원/%)': 1.5, 팀: [{ id: 't', name: '1팀' }] };
  expect(read(ok({ peopleList: [record] })).records).toEqual([record]);
});

it.each([
  ['9007199254740991', 9007199254740991],
  ['-9007199254740991', -9007199254740991],
  ['9007199254740992', '9007199254740992'],
  ['-9007199254740993', '-9007199254740993'],
  ['0.12345678901234567890', 0.12345678901234568],
  ['12345678901234567890.5', 12345678901234567000],
  ['12345678901234567890e2', 1.2345678901234568e21],
  ['"9007199254740993"', '9007199254740993'],
  [String.raw`"a \"9007199254740993, \\"`, 'a "9007199254740993, \\'],
  [
    '[9007199254740993,{"1234567890123456789":9007199254740993}]',
    ['9007199254740993', { '1234567890123456789': '9007199254740993' }],
  ],
])('page: %s is read as %j', (written, value) => {
  const text = `{"success":true,"data":{"peopleList":[{"id":"a","n":${written},"m": 9007199254740993 }]}}`;
  expect(readPage(answer(text), asked()).records).toEqual([{ id: 'a', n: value, m: '9007199254740993' }]);
});

it.each<[string, string, string]>([
  ['an empty body', '', 'an empty body'],
  ['an HTML page', '<!doctype html><title>점검 중</title>', 'an HTML page'],
  ['JSON that breaks off', '{"success":true,"data":{"peopleList":[{"id":"a"', 'breaks off'],
  ['null', 'null', 'found null'],
  ['an array', '[]', 'found an array of 0'],
  ['an odd success', '{"success":"yes","data":{"peopleList":[]}}', 'expected "success" to be true'],
  ['no data', '{"success":true}', 'expected "data"'],
  ['data as an array', '{"success":true,"data":[]}', 'expected "data"'],
  ['no list', '{"success":true,"data":{"nextCursor":null}}', 'found 0 arrays'],
  ['a null list', '{"success":true,"data":{"peopleList":null,"otherList":[]}}', 'found null'],
  ['a list as an object', '{"success":true,"data":{"peopleList":{}}}', 'found an object'],
  ['two lists of other names', '{"success":true,"data":{"aList":[],"bList":[]}}', 'found 2 arrays'],
  ['an empty array that is no list', '{"success":true,"data":{"errors":[]}}', 'one empty array of another name'],
  ['a null element', '{"success":true,"data":{"peopleList":[{"id":"a"},null]}}', 'found null at 1'],
  ['a number as cursor', '{"success":true,"data":{"peopleList":[{}],"nextCursor":7}}', 'found a number'],
  [
    '1,001 records',
    JSON.stringify({ success: true, data: { peopleList: Array.from({ length: 1_001 }, () => ({})) } }),
    'expected at most 1000 records, found 1001. Nothing of it was written; a later try asks for it again. The server decides how many',
  ],
  ['half a character as cursor', '{"success":true,"data":{"peopleList":[{}],"nextCursor":"\\ud800"}}', 'half'],
])('page: %s is an error and not an empty list', (_name, text, said) => {
  expect(() => readPage(answer(text), asked())).toThrow(
    expect.objectContaining({
      code: 'CF_PAGE_MALFORMED',
      message: expect.stringContaining(said) as string,
      facts: expect.objectContaining({ list: 'people', page: 4, status: 200 }) as object,
    }) as Error,
  );
});

const FULL = Array.from({ length: 50 }, (_, index) => ({ id: String(index) }));
const readAt =
  (page: number, data: object, body: object = {}) =>
  () =>
    readPage(answer(JSON.stringify({ ...ok({ peopleList: FULL, ...data }), ...body })), { ...asked(), page });

it.each([
  ['"total"', 1, { total: 120 }, {}],
  ['"pages"', 1, { page: 1, pages: 3 }, {}],
  ['"has_more"', 4, {}, { has_more: true }],
  ['"hasNext"', 1, { pagination: { hasNext: true } }, {}],
  ['"total" and that it is the end', 1, { total: 120, nextCursor: null }, {}],
])(
  'page: a page that names more by %s, and no cursor, is an error and not the whole list',
  (name, page, data, body) => {
    expect(readAt(page, data, body)).toThrow(
      expect.objectContaining({
        code: 'CF_PAGE_MALFORMED',
        message: expect.stringContaining(`expected a "nextCursor" beside ${name.split(' ')[0]}`) as string,
      }) as Error,
    );
  },
);

it.each([
  ['as many as it shows', 1, { total: 50, pages: 1, hasMore: false }],
  ['a total on a later page', 3, { total: 120, pages: 3 }],
  ['more, and a cursor', 1, { total: 120, nextCursor: 'c' }],
])('page: a page that names %s is read', (_name, page, data) => {
  expect(readAt(page, data)().rows).toHaveLength(50);
});

it('page: "success": false with status 200 is an error with the text of the answer', () => {
  expect(() => read({ success: false, message: '실패', reason: ['하나', '둘'], data: { peopleList: [] } })).toThrow(
    expect.objectContaining({
      code: 'CF_REQUEST_REFUSED',
      facts: expect.objectContaining({ words: '실패: 하나: 둘' }) as object,
    }) as Error,
  );
});

it('page: the error of a damaged page contains no record', () => {
  const text = '{"success":true,"data":{"peopleList":[{"이메일":"secret@example.invalid"}';
  const thrown = thrownBy(() => readPage(answer(text), asked()));
  expect(thrown).toMatchObject({ code: 'CF_PAGE_MALFORMED' });
  expect(inspect(thrown, { depth: null, showHidden: true })).not.toContain('secret@');
});

it('page: only an empty array gives a page without records, for any JSON', () => {
  const near = fc.record(
    { success: fc.oneof(fc.constant(true), fc.jsonValue()), data: dataLike(), nextCursor: fc.jsonValue() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), near), fc.constantFrom(...LIST_NAMES), (body, list) => {
      expect(emptyWithoutCause(body, list)).toBe(false);
    }),
    { numRuns: 500 },
  );
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

function dataLike(): fc.Arbitrary<unknown> {
  const keys = LIST_NAMES.map((list) => keyOf(list));
  return fc.dictionary(fc.constantFrom(...keys, 'nextCursor', 'errors', 'list'), fc.jsonValue(), { maxKeys: 3 });
}

/** True where a page came out empty although `data` holds no empty array; throwing is always right. */
function emptyWithoutCause(body: unknown, list: BuiltInList): boolean {
  try {
    if (read(body, list).records.length > 0) return false;
  } catch {
    return false;
  }
  const { success, data } = body as { success?: unknown; data: Record<string, unknown> };
  const value = data[keyOf(list)] ?? Object.values(data).find((one) => Array.isArray(one));
  return success === false || !Array.isArray(value) || value.length > 0;
}
