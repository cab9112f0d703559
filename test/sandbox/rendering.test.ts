import { expect, test } from 'vitest';
import type { Behaviour } from '../../sandbox/faults/behaviour.js';
import { contentText } from '../../sandbox/verify/equality.js';
import { get, walk, type Fields } from '../support/read-api.js';
import { served as servedWith } from '../support/sandbox.js';

const served = (behaviour: Partial<Behaviour> = {}) => servedWith({ behaviour });

const firstOf = (records: Fields[]): Fields => records[0]!;

test('rendering: a todo has the documented field names, those of real answers, or both', async () => {
  const { sandbox, target } = await served();
  const written = firstOf(await walk(target, 'todo'));
  sandbox.behave({ todoNames: 'both' });
  const both = firstOf(await walk(target, 'todo'));
  expect(both).toMatchObject({
    ...written,
    제목: written['내용'],
    시작일: written['시작 날짜'],
    완료일: written['완료 날짜'],
  });
  sandbox.behave({ todoNames: 'wild' });
  const wild = firstOf(await walk(target, 'todo'));
  expect(wild).toMatchObject({ 제목: written['내용'], 종료일: written['마지막 날짜'], 내용: null });
  expect(Object.keys(wild)).not.toContain('마지막 날짜');
});

test('rendering: timestamps can be cut to the minute, or never move', async () => {
  const { sandbox, target } = await served({ stamps: 'minute' });
  for (const person of await walk(target, 'people')) expect(person['수정 날짜']).toMatch(/:00\.000Z$/);
  sandbox.behave({ stamps: 'still' });
  sandbox.life.editPerson();
  for (const person of await walk(target, 'people')) expect(person['수정 날짜']).toBe(person['생성 날짜']);
});

test.each([
  ['mixed empties', { empties: 'mixed' }],
  ['reordered keys and refs', { sequence: 'reordered' }],
  ['signed pictures', { pictures: 'signed' }],
] as const)('rendering: with %s, every request has different bytes and equal records', async (_what, behaviour) => {
  const { target } = await served(behaviour);
  const [first, second] = [await get(target, 'v2/people'), await get(target, 'v2/people')];
  expect(second.text).not.toBe(first.text);
  const meaning = ({ text }: { text: string }): (string | null)[] =>
    (JSON.parse(text) as { data: { peopleList: Fields[] } }).data.peopleList.map((record) =>
      contentText(record, { ignore: new Set(), refNames: 'compared' }),
    );
  expect(meaning(second)).toEqual(meaning(first));
});

test.each([
  ['added', (now: Fields, before: Fields) => expect(now).toEqual({ ...before, recordVersion: 1 })],
  ['removed', (now: Fields, before: Fields) => expect({ ...now, 포지션: before['포지션'] }).toEqual(before)],
  ['reshaped', (now: Fields, before: Fields) => expect(now).toEqual({ ...before, 포지션: [before['포지션']] })],
] as const)(
  'rendering: a field %s on all records is a change of rules in the journal, not of records',
  async (drift, check) => {
    const { sandbox, target } = await served();
    const before = await walk(target, 'people');
    sandbox.behave({ drift });
    (await walk(target, 'people')).forEach((record, nth) => check(record, before[nth]!));
    const lines = sandbox.journal.lines().filter(({ line }) => line !== 'walk');
    expect(lines).toMatchObject([{ line: 'rules', rules: { drift } }]);
  },
);

test('rendering: empty fields can be absent, older history rows without source, and extra fields present', async () => {
  const { target } = await served({ empties: 'absent', historySource: 'older-absent', extras: true });
  const people = await walk(target, 'people');
  expect(people.flatMap((person) => Object.values(person))).not.toContain(null);
  expect(people[0]).toMatchObject({ RecordId: people[0]!.id });
  const history = await walk(target, 'history');
  const since = history.filter((row) => String(row['createdAt']) >= '2025-07-14');
  expect(history.filter((row) => 'source' in row)).toEqual(since);
});
