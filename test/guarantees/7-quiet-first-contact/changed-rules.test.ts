/**
 * Guarantee 7, second half: rules may change between two runs. A difference that only the new rules explain is not an event; a real
 * change at the same time is.
 */
import { expect, it } from 'vitest';
import type { ListInput } from '../../../src/config/schema.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { sweepInNewLives } from '../../support/feed.js';
import { rowsOfGate } from '../../support/night.js';
import { startOtherCrm, type OtherCrm, type OtherRecord } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

/** Enough rows for "nearly all rows" to apply. */
const ROWS = 20;

/** A person with every kind of field that rules affect: custom, system-kept, and all kinds of empty values. */
const person = (index: number): OtherRecord => ({
  id: `p${index}`,
  이름: `사람 ${index}`,
  등급: 'A',
  '최근 작성된 노트': '메모',
  전화: null,
  팀: [],
  담당자: { id: 'u1', name: '담당', team: null },
  '관심 제품': ['X', null],
  '수정 날짜': '2026-03-01T00:00:00.000Z',
});

const said = ({ type, subject, data }: ChangeEvent): string =>
  `${type.split('.')[2] ?? ''} ${subject} ${data.class} ${data.changes.map(({ field }) => field).join(',')}`;

const redis = useRedis();

async function crmOfTwenty(): Promise<OtherCrm> {
  const crm = await startOtherCrm();
  crm.lists.people = Array.from({ length: ROWS }, (_, index) => person(index));
  return crm;
}
const edit = (crm: OtherCrm, index: number, changes: object): void => {
  crm.lists.people[index] = { ...crm.lists.people[index]!, ...changes };
};

const switches: [string, ListInput, ListInput][] = [
  ['all at once', { ignore: ['등급'], nullIsAbsent: false }, { only: ['이름'], touch: true, collapse: false }],
  ['ignore, taken back', { ignore: ['최근*', '전화'] }, {}],
  ['ignore', {}, { ignore: ['최근*', '전화'] }],
  ['only', {}, { only: ['이름', '등급'] }],
  ['only, taken back', { only: ['이름', '등급'] }, {}],
  ['refreshed', {}, { refreshed: ['전화'] }],
  ['mask', {}, { mask: { 등급: 'hash', 담당자: 'last4', '최근*': 'drop' } }],
  ['mask of every field', {}, { mask: { '*': 'hash' } }],
  ['mask of every field, taken back', { mask: { '*': 'hash' } }, {}],
  ['nullIsAbsent', {}, { nullIsAbsent: false }],
  ['nullIsAbsent, taken back', { nullIsAbsent: false }, {}],
  ['touch', {}, { touch: true }],
  ['collapse', {}, { collapse: false }],
];

it.each(rowsOfGate(4, switches))('rules: %s: only the real change is reported', async (_name, before, after) => {
  const [crm, run] = [await crmOfTwenty(), sweepInNewLives({ redis })];
  expect(await run(crm, before)).toEqual([]);
  // A field that the first rules ignore changes while they apply: it is stored silently, or reported then.
  edit(crm, 1, { '최근 작성된 노트': '다른 메모', 등급: 'B' });
  await run(crm, before);
  expect(await run(crm, before)).toEqual([]);

  edit(crm, 5, { 이름: '새 이름', '수정 날짜': '2026-03-02T00:00:00.000Z' });
  const reported = await run(crm, after);
  expect(reported.map(said)).toEqual(['updated p5 edited 이름']);
  expect(await run(crm, after)).toEqual([]);
});

it('rules: new rules apply from the next sweep on', async () => {
  const [crm, run] = [await crmOfTwenty(), sweepInNewLives({ redis })];
  await run(crm, {});
  edit(crm, 2, { 등급: 'B' });
  expect((await run(crm, { ignore: ['등급'] })).map(said)).toEqual([]);
  edit(crm, 3, { 등급: 'B' });
  expect((await run(crm, {})).map(said)).toEqual(['updated p3 edited 등급']);
  edit(crm, 4, { 전화: '010' });
  expect((await run(crm, { refreshed: ['전화'] })).map(said)).toEqual(['updated p4 refreshed 전화']);
  const { 전화: _phone, ...without } = crm.lists.people[7]!;
  crm.lists.people[7] = without;
  expect((await run(crm, { nullIsAbsent: false })).map(said)).toEqual(['updated p7 edited 전화']);
});
