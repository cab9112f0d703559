import { expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.js';
import type { MutationLine } from '../../sandbox/journal/lines.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { scoreEvents } from '../../sandbox/verify/score.js';
import type { ServedList } from '../../src/server/read-api/lists.js';
import { get, walk, type Fields } from '../support/read-api.js';
import { served } from '../support/sandbox.js';
import { at, eventOf, mutation, walk as walkLine } from '../support/verify-fixtures.js';

const listOf = (path: string, key: string): ServedList => ({ name: path, path: `v2/${path}`, key, object: path });
const PEOPLE = listOf('people/history', 'peopleHistoryList');
const ORGANIZATIONS = listOf('organization/history', 'organizationHistoryList');
const LEADS = listOf('lead/history', 'leadHistoryList');
const DEAL = listOf('deal', 'dealList');
const LEAD = listOf('lead', 'leadList');

const linesOf = ({ journal }: Sandbox, list: string): MutationLine[] =>
  journal.lines().filter((line): line is MutationLine => line.line === 'mutation' && line.list === list);
const newRows = async (target: Parameters<typeof walk>[0], before: readonly Fields[], list = PEOPLE) => {
  const known = new Set(before.map(({ id }) => id));
  return (await walk(target, list)).filter(({ id }) => !known.has(id));
};

test('sandbox history: deals, leads and three lists of history are served without being named', async () => {
  const { target } = await served();
  expect(await walk(target, DEAL)).toHaveLength(15);
  expect(await walk(target, LEAD)).toHaveLength(8);
  const [people, organizations, leads] = [
    await walk(target, PEOPLE),
    await walk(target, ORGANIZATIONS),
    await walk(target, LEADS),
  ];
  const ids = new Set((await walk(target, 'people')).map(({ id }) => id));
  expect(people.every(({ peopleId }) => ids.has(String(peopleId)))).toBe(true);
  expect(Object.keys(organizations[0]!)).toEqual(
    expect.arrayContaining(['id', 'organizationId', 'type', 'source', 'fieldName', 'fieldValue', 'createdAt']),
  );
  expect(leads).toHaveLength(16);
});

test('sandbox history: an edit writes a row with the field, its value and who made it, and the journal says so too', async () => {
  const { sandbox, target } = await served();
  const before = await walk(target, PEOPLE);
  const id = sandbox.life.assignPerson();
  const [edit] = linesOf(sandbox, 'people');
  const owner = edit?.after?.['담당자'] as { id: string; name: string };
  const rows = await newRows(target, before);
  expect(rows).toMatchObject([
    { peopleId: id, type: 'editField', fieldName: '담당자', fieldValue: { _id: owner.id, name: owner.name } },
  ]);
  expect(rows[0]?.['source']).toEqual(edit?.actor);
  expect(linesOf(sandbox, 'people_history')).toMatchObject([
    { id: rows[0]?.id, visibleAt: expect.any(String) as string },
  ]);
});

test('sandbox history: a new record has a burst of rows, and counters have rows of the system', async () => {
  const { sandbox, target } = await served();
  const before = await walk(target, PEOPLE);
  const person = sandbox.life.createPerson({ position: '고문' });
  const burst = await newRows(target, before);
  expect(burst.map(({ fieldName }) => fieldName)).toEqual(expect.arrayContaining(['이름', '포지션']));
  expect(burst.every(({ peopleId }) => peopleId === person)).toBe(true);
  const seen = [...before, ...burst];
  const todo = linesOf(sandbox, 'people').length;
  sandbox.life.createTodo({ person: 0, organization: null });
  const follows = linesOf(sandbox, 'people')[todo];
  const rows = await newRows(target, seen);
  expect(follows?.actor).toEqual({ type: 'field', id: null, name: null });
  expect(new Set(rows.map(({ source }) => (source as { type: string }).type))).toEqual(new Set(['field']));
});

test('sandbox history: a list that nobody asked for is not in the journal, and changes are made by whom a test says', async () => {
  const { sandbox } = await served();
  sandbox.world.actor = { type: 'api', id: 'sync', name: '연동' };
  sandbox.life.editPerson(undefined, { position: '고문' });
  expect(sandbox.journal.lines()).toMatchObject([{ list: 'people', actor: { type: 'api', id: 'sync' } }]);
});

test('sandbox history: an edit of a deal that was read writes deal history', async () => {
  const { sandbox, target } = await served();
  const [before, deals] = [await walk(target, 'history'), await walk(target, DEAL)];
  sandbox.life.editIn('deal', deals[0]?.id, { status: '계약' });
  expect(await newRows(target, before, listOf('deal/history', 'dealHistoryList'))).toMatchObject([
    { dealId: deals[0]?.id, fieldName: '상태', fieldValue: '계약' },
  ]);
});

test.each([
  ['history-403', 403],
  ['history-404', 404],
])('sandbox history: under "%s" it is refused, and the other lists are served', async (fault, status) => {
  const { sandbox, target } = await served();
  sandbox.fault(fault);
  expect((await get(target, 'v2/people/history')).status).toBe(status);
  expect((await get(target, 'v2/people')).status).toBe(200);
  expect((await get(target, 'v2/deal/history')).status).toBe(200);
  sandbox.fault(fault, 'off');
  expect((await get(target, 'v2/people/history')).status).toBe(200);
});

test('sandbox history: rows can come late, and can lie', async () => {
  let now = Date.UTC(2026, 2, 1);
  const clock = { ...systemClock, now: () => now };
  const { sandbox, target } = await served({ clock, faults: ['history-late'] });
  const before = await walk(target, PEOPLE);
  sandbox.life.assignPerson();
  expect(await newRows(target, before)).toEqual([]);
  now += 5_000;
  const late = await newRows(target, before);
  expect(late).toMatchObject([{ fieldName: '담당자', createdAt: new Date(now - 5_000).toISOString() }]);
  sandbox.useProfile('history-lying');
  const edited = Array.from({ length: 60 }, () => {
    now += 1_000;
    return sandbox.life.editPerson(undefined, { position: `직책 ${now}` });
  });
  const rows = await newRows(target, [...before, ...late]);
  const wrong = rows.filter(({ fieldValue }) => fieldValue === '?');
  const ofOthers = rows.filter(({ peopleId, fieldValue }) => {
    const nth = Number(String(fieldValue).replace(/\D/gu, ''));
    return nth > 0 && peopleId !== edited[(nth - (now - 59_000)) / 1_000];
  });
  expect([rows.length < 60, wrong.length > 0, ofOthers.length > 0]).toEqual([true, true, true]);
});

const A = { 이름: 'A', 포지션: 'x', '전체 TODO': 1 };
const B = { ...A, 이름: 'B', '전체 TODO': 2 };
const KIM = { type: 'user', id: 'u1', name: '김' };
const LEE = { type: 'user', id: 'u2', name: '이' };

test.each([
  ['right', [{ field: '이름', actor: KIM }, { field: '전체 TODO' }], undefined, { right: 1, wrong: 0, missing: 0 }],
  ['missing', [{ field: '이름' }, { field: '전체 TODO' }], undefined, { right: 0, wrong: 0, missing: 1 }],
  ['wrong', [{ field: '이름', actor: LEE }, { field: '전체 TODO' }], undefined, { right: 0, wrong: 1, missing: 0 }],
  ['wrong for a counter', [{ field: '이름' }, { field: '전체 TODO' }], KIM, { right: 0, wrong: 1, missing: 0 }],
] as const)('verify: who made an edit can be said %s', (_how, changes, actor, actors) => {
  const line: MutationLine = { ...mutation({ before: A, after: B, second: 10, seen: 11 }), actor: KIM };
  const event = eventOf({ before: A, after: B, second: 12 });
  const events = [{ ...event, data: { ...event.data, changes, ...(actor !== undefined && { actor }) } }];
  expect(scoreEvents({ journal: [walkLine(0, 1), line], events })).toMatchObject({ found: 1, actors });
  expect(at(10)).toBe(line.at);
});
