import { expect, test } from 'vitest';
import type { MutationLine } from '../../sandbox/journal/lines.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { scoreEvents } from '../../sandbox/verify/score.js';
import type { ServedList } from '../../src/ops/server/read-api/lists.js';
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
