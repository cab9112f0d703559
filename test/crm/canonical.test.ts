import { expect, it } from 'vitest';
import { isRelabelled, meaningOf } from '../../src/crm/canonical.js';

it.each<[string, unknown, unknown]>([
  ['null and an empty list', null, []],
  ['null and absent', null, undefined],
  ['a null inside and none', { id: '1', team: null }, { id: '1' }],
  ['a number beyond the range of numbers and null', JSON.parse('1e400'), null],
  ['such a number inside and none', { id: '1', sum: JSON.parse('-1e400') as unknown }, { id: '1' }],
  ['keys in another order', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['references in another order', [{ id: '1' }, { _id: '2' }], [{ _id: '2' }, { id: '1' }]],
  ['options in another order', ['a', 'b'], ['b', 'a']],
  ['an instant with and without milliseconds', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z'],
  ['an instant without seconds', '2026-01-01T00:00:00Z', '2026-01-01T00:00Z'],
  ['Z and +00:00', '2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500+00:00'],
  ['an instant in another zone', '2025-12-31T15:00:00Z', '2026-01-01T00:00:00+0900'],
  ['an instant before the year 1', '0001-01-01T00:00:00+09:00', '0000-12-31T15:00:00Z'],
  ['an instant deep inside', [{ a: { at: '2026-01-01T00:00:00.000Z' } }], [{ a: { at: '2026-01-01T00:00:00Z' } }]],
])('equality: %s mean the same', (_what, one, other) => {
  expect(meaningOf(one)).toBe(meaningOf(other));
});

it.each<[string, unknown, unknown]>([
  ['an empty text and null', '', null],
  ['a number and its text', 1, '1'],
  ['false and null', false, null],
  ['a list with a null and an empty one', [null], []],
  ['numbers in another order', [1, 2], [2, 1]],
  ['texts of which one comes twice and once', ['a', 'a', 'b'], ['a', 'b']],
  ['an empty object and null', {}, null],
  ['a reference and the same with another name', { id: '1', name: 'a' }, { id: '1', name: 'b' }],
  ['two instants in one millisecond', '2026-01-01T00:00:00.0001Z', '2026-01-01T00:00:00Z'],
  ['a time without a zone and one with', '2026-01-01T00:00:00', '2026-01-01T00:00:00Z'],
  ['a day and its midnight', '2026-01-01', '2026-01-01T00:00:00Z'],
  ['a day that does not exist and the one after', '2026-02-30T00:00:00+00:00', '2026-03-02T00:00:00Z'],
  ['a text with a time in it and another spelling', 'at 2026-01-01T00:00:00.000Z', 'at 2026-01-01T00:00:00Z'],
])('equality: %s do not mean the same', (_what, one, other) => {
  expect(meaningOf(one)).not.toBe(meaningOf(other));
});

const FILE = 'https://files.example/a.pdf';
const AMAZON = (at: number): string =>
  `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=K%2F${at}%2Fs3&X-Amz-Date=${at}&X-Amz-Expires=600&X-Amz-SignedHeaders=host&X-Amz-Signature=${at}f`;
it.each<[string, (at: number) => string]>([
  ['Amazon', AMAZON],
  ['Amazon, the older form', (at) => `AWSAccessKeyId=K${at}&Expires=${at}&Signature=${at}%2Bx%3D`],
  ['Google', (at) => `X-Goog-Date=${at}&X-Goog-Expires=9&X-Goog-Signature=${at}`],
  ['Google, the older form', (at) => `GoogleAccessId=a@b.example&Expires=${at}&Signature=${at}/+=`],
  ['Azure', (at) => `sv=2024-01-01&st=2026-01-01T00:0${at}:00Z&se=2026-01-02T00:00:00Z&sr=b&sp=r&sig=${at}%3D`],
  ['CloudFront', (at) => `Expires=${at}&Signature=${at}~x-_&Key-Pair-Id=K${at}`],
  ['CloudFront, with a policy', (at) => `Policy=${at}_&Signature=${at}&Key-Pair-Id=K`],
  ['Tencent', (at) => `q-sign-algorithm=sha1&q-ak=K&q-sign-time=${at};9&q-key-time=${at};9&q-signature=${at}`],
  ['a link of their own', (at) => `token=${at}&expires=${at}`],
])('equality: a link that is signed anew leads to the same file: %s', (_who, sign) => {
  const forms: ((query: string) => unknown)[] = [
    (query) => `${FILE}?${query}`,
    (query) => [{ id: '1', name: 'a', url: `${FILE}?v=2&${query}` }],
    (query) => `see ${FILE}?${query}, and (${FILE}?${query}).\n${FILE}?${query}&v=2#page=3`,
    (query) => `<p><img src="${FILE}?${query.replaceAll('&', '&amp;')}"/>![a](${FILE}?${query})</p>`,
  ];
  for (const form of forms) expect(meaningOf(form(sign(1)))).toBe(meaningOf(form(sign(2))));
  expect(meaningOf(`${FILE}?v=2&${sign(1)}`)).toBe(meaningOf(`${FILE}?v=2`));
  expect(meaningOf(`${FILE}?${sign(1)}&v=2`)).toBe(meaningOf(`${FILE}?v=2`));
  expect(meaningOf(`${FILE}?${sign(1)}`)).toBe(meaningOf(FILE));
});

it.each<[string, string, string]>([
  ['another file', `${FILE}?${AMAZON(1)}`, `https://files.example/b.pdf?${AMAZON(2)}`],
  ['another version', `${FILE}?versionId=1&${AMAZON(1)}`, `${FILE}?versionId=2&${AMAZON(2)}`],
  ['another part of it', `${FILE}?${AMAZON(1)}#page=1`, `${FILE}?${AMAZON(2)}#page=2`],
  ['another word behind it', `${FILE}?${AMAZON(1)} yes`, `${FILE}?${AMAZON(2)} no`],
  ['another picture format', `${FILE}?x-oss-process=a&x-oss-signature=1`, `${FILE}?x-oss-process=b&x-oss-signature=1`],
  ['another token, which may name the file', `${FILE}?token=1`, `${FILE}?token=2`],
  ['another place to look', `${FILE}?st=1&se=2`, `${FILE}?st=2&se=2`],
])('equality: a link is another one: %s', (_what, one, other) => {
  expect(meaningOf(one)).not.toBe(meaningOf(other));
});

it('equality: a long text of question marks and parameters is read in no time', () => {
  const texts = ['?', '?a=1&', '?&amp;', '?sig=1&se=', ' ?x-amz-a=1'].map((part) => part.repeat(100_000));
  for (const text of texts) expect(meaningOf(`${text}x`)).not.toBeNull();
});

it.each<[string, boolean, unknown, unknown]>([
  ['the name of a reference', true, { id: 'u', name: 'a' }, { id: 'u', name: 'b' }],
  ['one name of several, in another order', true, [{ id: 'u', name: 'a' }, { id: 'v' }], [{ id: 'v' }, { id: 'u' }]],
  ['the colour of a kind', true, [{ _id: 'k', value: 'x', color: 1 }], [{ _id: 'k', value: 'x', color: 2 }]],
  ['the label of a question', true, [{ id: 'q', label: 'a', value: 1 }], [{ id: 'q', label: 'b', value: 1 }]],
  ['a name deep inside', true, { id: 'u', team: { id: 't', name: 'a' } }, { id: 'u', team: { id: 't', name: 'b' } }],
  ['the answer to a question', false, [{ id: 'q', label: 'a', value: 1 }], [{ id: 'q', label: 'a', value: 2 }]],
  ['another reference of the same name', false, { id: 'u', name: 'a' }, { id: 'v', name: 'a' }],
  [
    'one reference more',
    false,
    [{ id: 'u', name: 'a' }],
    [
      { id: 'u', name: 'b' },
      { id: 'v', name: 'c' },
    ],
  ],
  ['a reference that was none', false, null, { id: 'u', name: 'a' }],
  ['a name without an id', false, { name: 'a' }, { name: 'b' }],
  ['a text', false, 'a', 'b'],
])('equality: only labels have changed: %s: %s', (_what, expected, before, after) => {
  expect(isRelabelled({ before, after })).toBe(expected);
});
