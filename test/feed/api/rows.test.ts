import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPage } from '../../../src/feed/api/page.js';
import type { Page } from '../../../src/feed/api/read-api.js';
import { CutRow, rowsOf } from '../../../src/feed/api/rows.js';

const asked = { workspace: 'acme', host: 'crm.example', list: 'people', page: 1, now: 0, redact: String } as const;
const read = (text: string): Page => {
  const body = Buffer.from(text);
  return readPage({ status: 200, headers: {}, askedAt: 0, ms: 0, body, bytes: body.length }, asked);
};
const pageOf = (rows: string): Page => read(`{"data":{"peopleList":[${rows}],"nextCursor":"c"}}`);

const row = fc
  .tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })))
  .chain(([id, more]) => fc.constantFrom({ id, ...more }, { ...more, id }, { 이름: '"[{', id, people: { id: 'x' } }));
const other = fc.oneof(fc.constant({}), fc.record({ errors: fc.array(fc.jsonValue({ maxDepth: 2 })) }));

it('rows: a page has the records that a parser of the whole page finds, however it is written', () => {
  fc.assert(
    fc.property(fc.array(row), other, fc.constantFrom('', ' ', '\t\r\n '), (rows, more, space) => {
      const text = JSON.stringify({ ...more, data: { ...more, peopleList: rows, nextCursor: null } }, null, space);
      // An array with something else than objects makes the parser read the whole page.
      const { records } = read(JSON.stringify({ data: { peopleList: rows, odd: [0] } }));
      expect(read(text).records).toEqual(records);
      const escaped = text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
      expect(read(escaped).records).toEqual(records);
    }),
  );
});

it.each<[string, boolean, string, unknown]>([
  ['its id first', true, '{"id":"a","x":{"id":"b"}}', 'a'],
  ['text that looks like its end', true, String.raw`{"id":"a","x":"\\\"}]","y":"\\"}`, 'a'],
  ['its id last', false, '{"x":1,"id":"a"}', 'a'],
  ['two ids: the last one counts', false, '{"id":"a","id":"b"}', 'b'],
  ['an id with an escape', false, String.raw`{"id":"\u0061"}`, 'a'],
  ['an empty id', false, '{"id":""}', ''],
  ['no id', false, '{"x":{"id":"b"}}', undefined],
  ['a number as id', false, '{"id":7}', 7],
])('rows: a row with %s is parsed when it is asked for: %s', (_what, isCut, text, id) => {
  const [first] = rowsOf(pageOf(text));
  expect([first instanceof CutRow, first?.id, first?.record]).toEqual([isCut, id, JSON.parse(text)]);
  expect(first?.bytes.toString()).toBe(text);
});

it('rows: a damaged row is refused when it is compared, with its page, and an odd page at once', () => {
  expect(() => pageOf('{"id":"a","x":tru}').records).toThrow(/CF_PAGE_MALFORMED|damaged/u);
  for (const rows of ['{"id":"a"', '{"id":"a"} {"id":"b"}', '{"id":"a"},', '{"id":"a', '{"id":"a"}]'])
    expect(() => pageOf(rows), rows).toThrow(/expected JSON/u);
  for (const rows of ['{"id":"a"},null', '[{"id":"a"}]', '"a"', '{"id":"a"},1'])
    expect(() => pageOf(rows), rows).toThrow(/every element to be an object/u);
});

it('rows: a row keeps integers that JavaScript would round', () => {
  expect(pageOf('{"id":"a","sum":9007199254740993}').records).toEqual([{ id: 'a', sum: '9007199254740993' }]);
});
