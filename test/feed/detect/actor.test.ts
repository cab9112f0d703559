import { expect, it } from 'vitest';
import { creditsOf, whoMade, type WhoFacts } from '../../../src/feed/detect/actor.js';
import { createLists, descriptorOf, readyMadeLists, type ListName } from '../../../src/crm/lists/lists.js';
import type { ListDescriptor } from '../../../src/crm/lists/descriptor.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { diffRecords } from '../../../src/crm/canonical.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import type { Decision } from '../../../src/feed/detect/stored-record.js';
import type { Actor, ChangeEvent } from '../../../src/events/types.js';
import { changeEvent } from '../../support/events.js';

const lists = createLists(readyMadeLists.all);
const list = (name: ListName): ListDescriptor => {
  const found = lists.byName(name);
  if (found === undefined) throw new Error(`no list "${name}"`);
  return found;
};

const A: Actor = { type: 'user', id: 'u-a', name: '담당A' };
const B: Actor = { type: 'api', id: 'k-b', name: '연동 B' };
const W: Actor = { type: 'workflow', id: null, name: '자동화' };
const SYSTEM: Actor = { type: 'field', id: null, name: null };

const at = (seconds: number): string => new Date(Date.UTC(2026, 2, 2, 10) + seconds * 1_000).toISOString();

type Row = readonly [seconds: number, actor: Actor | null, field: string | null, value?: unknown, more?: object];

let rows = 0;
function rowOf([seconds, source, fieldName, fieldValue = null, more = {}]: Row): UncheckedRecord {
  rows += 1;
  const facts = { id: `row-${rows}`, peopleId: 'p', type: 'editField', createdAt: at(seconds) };
  return { ...facts, fieldName, fieldValue, ...(source !== null && { source }), ...more };
}

interface Given {
  rows: readonly Row[];
  before: UncheckedRecord;
  after: UncheckedRecord;
  /** Seconds; the record's own times of change. */
  modified?: readonly [before: number, after: number];
  class?: 'edited' | 'refreshed';
  decisions?: readonly Decision[];
  times?: Partial<Pick<WhoFacts, 'sweptAt' | 'apartMs'>>;
}

const TIMES = { sweptAt: null, apartMs: 0 };

function creditsFor(given: readonly Row[]) {
  return given
    .map(rowOf)
    .flatMap((row) => creditsOf(row, list('people_history'), lists))
    .filter(({ id }) => id === 'p')
    .map(({ credit }) => credit);
}

function updatedEvent({ before, after, modified, class: kind = 'edited' }: Omit<Given, 'rows'>): ChangeEvent {
  const stamped = (record: UncheckedRecord, seconds: number | undefined) => ({
    ...{ id: 'p', ...record },
    ...(seconds !== undefined && { '수정 날짜': at(seconds) }),
  });
  const [was, is] = [stamped(before, modified?.[0]), stamped(after, modified?.[1])];
  const event = changeEvent({ record: 'p', sequence: 2, class: kind });
  const changes = diffRecords(was, is, compileRules('people'));
  return { ...event, data: { ...event.data, before: was, after: is, changes } };
}

const OWN: Decision = { at: at(60), sweep: 's', what: 'edited', event: 'evt_own' };

function saidOf(given: Given): unknown {
  const decisions = [...(given.decisions ?? []), OWN];
  const facts = { list: list('people'), credits: creditsFor(given.rows), decisions, ...TIMES, ...given.times };
  const [event] = whoMade(updatedEvent(given), [], facts).events;
  if (event?.data.actor !== undefined) return event.data.actor;
  const named = event?.data.changes.filter(({ actor }) => actor !== undefined) ?? [];
  return named.length === 0 ? null : Object.fromEntries(named.map(({ field, actor }) => [field, actor]));
}

/** Somebody has set the grade of the record. */
const ROW: Row = [1, A, '등급', 'A'];
const one = { before: { 등급: 'B' }, after: { 등급: 'A' } };
const two = { before: { 등급: 'B', 금액: 1 }, after: { 등급: 'A', 금액: 2 } };

it.each<[string, Given, unknown]>([
  ['a row with the value', { ...one, rows: [ROW] }, A],
  ['rows of all fields', { ...two, rows: [ROW, [1, A, '금액', 2]] }, A],
  ['rows of some fields', { ...two, rows: [ROW] }, { 등급: A }],
  ['rows by two actors', { ...two, rows: [ROW, [2, B, '금액', 2]] }, { 등급: A, 금액: B }],
  ['a row just after the last complete sweep', { ...one, rows: [ROW], times: { sweptAt: at(2) } }, A],
  ['a row by a workflow without an id', { ...one, rows: [[1, W, '등급', 'A']] }, W],
  [
    'rows by two workflows without an id',
    {
      ...two,
      rows: [
        [1, W, '등급', 'A'],
        [1, { ...W, name: '또 다른' }, '금액', 2],
      ],
    },
    { 등급: W, 금액: { ...W, name: '또 다른' } },
  ],
  ['a row by the system', { ...two, rows: [ROW, [1, SYSTEM, '금액', 2]] }, { 등급: A, 금액: SYSTEM }],
  [
    'the last of several',
    {
      ...one,
      rows: [
        [1, A, '등급', 'C'],
        [2, B, '등급', 'A'],
      ],
    },
    B,
  ],
  ['a name in another Unicode form', { ...one, rows: [[1, A, '등급'.normalize('NFD'), 'A']] }, A],
  [
    'a reference as _id, with the name of that time',
    {
      before: {},
      after: { 담당자: { id: 'x', name: '새 이름' } },
      rows: [[1, A, '담당자', { _id: 'x', name: '이름' }]],
    },
    A,
  ],
  [
    'references in another order',
    { before: {}, after: { 팀: [{ id: 'x' }, { id: 'y' }] }, rows: [[1, A, '팀', [{ _id: 'y' }, { _id: 'x' }]]] },
    A,
  ],
  ['null for an empty list', { before: { 팀: [{ id: 'x' }] }, after: { 팀: [] }, rows: [[1, A, '팀', null]] }, A],
  ['no value for a field that is gone', { before: { 등급: 'A' }, after: {}, rows: [[1, A, '등급']] }, A],
  ['a time of change cut to the minute', { ...one, modified: [-300, 0], rows: [[31, A, '등급', 'A']] }, A],
  ['a time of change that stayed', { ...one, modified: [-300, -300], rows: [[31, A, '등급', 'A']] }, A],
  ['a later row of another field', { ...one, modified: [-300, 40], rows: [ROW, [40, B, '금액', 7]] }, A],
  ['a later row of a link', { ...one, modified: [-300, 40], rows: [ROW, [40, B, null]] }, A],
  [
    'a later change of the system alone',
    { ...one, class: 'refreshed', modified: [-300, 40], rows: [[1, SYSTEM, '등급', 'A']] },
    SYSTEM,
  ],
])('actor: is known from %s', (_what, given, expected) => {
  expect(saidOf(given)).toEqual(expected);
});

const USED = 'row used before';
it.each<[string, Given]>([
  ['a row of another field', { ...one, rows: [[1, A, '금액', 'A']] }],
  [
    'a row of a reference that another record has renamed',
    {
      before: { 담당자: { id: 'x', name: '이름' } },
      after: { 담당자: { id: 'x', name: '새 이름' } },
      rows: [[1, A, '담당자', { _id: 'x' }]],
    },
  ],
  ['a number where the record has a text', { before: {}, after: { 금액: '2' }, rows: [[1, A, '금액', 2]] }],
  ['a later row with another value', { ...one, rows: [ROW, [2, B, '등급', 'C']] }],
  ['two rows of one moment', { ...one, rows: [ROW, [1, B, '등급', 'A']] }],
  ['two actors that set the same value', { ...one, rows: [ROW, [2, B, '등급', 'A']] }],
  ['a row that is older than the stored record', { ...one, modified: [30, 31], rows: [ROW] }],
  [
    'a row that is older than the last event',
    { ...one, rows: [ROW], decisions: [{ ...OWN, at: at(9), event: 'evt_earlier' }] },
  ],
  ['a row that is older than the last complete sweep', { ...one, rows: [ROW], times: { sweptAt: at(9) } }],
  [
    'a row that is older by the clock of the API, which is ahead',
    { ...one, rows: [[61, A, '등급', 'A']], times: { sweptAt: at(9), apartMs: 60_000 } },
  ],
  ['a row where the clock of the API is not known', { ...one, rows: [ROW], times: { apartMs: null } }],
  ['a later edit without a row', { ...one, modified: [-300, 20], rows: [ROW] }],
  ['a row that is later than the edit', { ...one, modified: [-300, 1], rows: [[40, A, '등급', 'A']] }],
  [
    'a row that an earlier event used',
    {
      ...one,
      rows: [[1, A, '등급', 'A', { id: USED }]],
      decisions: [{ ...OWN, at: at(2), rows: creditsFor([[1, A, '등급', 'A', { id: USED }]]).map(({ row }) => row) }],
    },
  ],
  ['a source that is no object', { ...one, rows: [[1, null, '등급', 'A', { source: '담당A' }]] }],
])('actor: is not known from %s', (_what, given) => {
  expect(saidOf(given)).toBeNull();
});

it('actor: without images, values cannot be compared', () => {
  const event = updatedEvent({ ...one });
  const blind = { ...event, data: { ...event.data, before: null } };
  const facts = { list: list('people'), credits: creditsFor([[1, A, '등급', 'A']]), decisions: [OWN], ...TIMES };
  expect(whoMade(blind, [], facts)).toEqual({ events: [blind], rows: [] });
});

it('actor: an event keeps its id, and names the rows that it used', () => {
  const event = updatedEvent(one);
  const credits = creditsFor([[1, A, '등급', 'A']]);
  const { events, rows: used } = whoMade(event, [], { list: list('people'), credits, decisions: [OWN], ...TIMES });
  expect(events).toEqual([{ ...event, data: { ...event.data, actor: A } }]);
  expect(used).toEqual(credits.map(({ row }) => row));
});

it('actor: a derived event has the actor of the change that it is about', () => {
  const event = updatedEvent(two);
  const derived = { ...event, id: 'evt_derived', data: { ...event.data, changes: event.data.changes.slice(0, 1) } };
  const [only] = derived.data.changes;
  const credits = creditsFor([[1, A, String(only?.field), only?.after]]);
  const { events } = whoMade(event, [derived], { list: list('people'), credits, decisions: [OWN], ...TIMES });
  expect(events.map(({ data }) => data.actor)).toEqual([undefined, A]);
});

const created = { 이름: '가상인', 등급: 'A', '생성 날짜': at(0.005), '수정 날짜': at(0.05) };
const birth: readonly Row[] = [
  [0.01, A, '이름', '가상인'],
  [0.01, A, '등급', 'A'],
];

function creatorOf(given: readonly Row[], record: UncheckedRecord = created): Actor | undefined {
  const event = changeEvent({ record: 'p', sequence: 1, verb: 'created' });
  const whole = { ...event, data: { ...event.data, after: { id: 'p', ...record } } };
  const facts = { list: list('people'), credits: creditsFor(given), decisions: [OWN], ...TIMES };
  return whoMade(whole, [], facts).events[0]?.data.actor;
}

it('actor: a new record is by the one whose rows created it', () => {
  expect(creatorOf(birth)).toEqual(A);
});

it.each<[string, readonly Row[], UncheckedRecord?]>([
  ['its name has no row', [[0.01, A, '등급', 'A']]],
  ['a row is by another', [...birth, [0.5, B, '등급', 'A']]],
  ['a row does not say who', [...birth, [0.01, null, '금액', 1]]],
  ['the name was given later', [[40, A, '이름', '가상인']]],
  ['the name is another one', [[0.01, A, '이름', '다른 이름']]],
  ['it changed since, without a row', birth, { ...created, '수정 날짜': at(30) }],
  ['it does not say since when it exists', birth, { 이름: '가상인' }],
])('actor: the creator is not known when %s', (_what, given, record) => {
  expect(creatorOf(given, record)).toBeUndefined();
});

const about = (row: UncheckedRecord, of: ListDescriptor) =>
  creditsOf({ ...row, createdAt: at(0), fieldName: '금액' }, of, lists).map(({ list: { name }, id }) => [name, id]);

it('actor: a row of the history of deals names a deal, a lead, or both', () => {
  const history = descriptorOf('history');
  expect(about({ dealId: 'd', leadId: null }, history)).toEqual([['deal', 'd']]);
  expect(about({ dealId: 'd', leadId: 'l' }, history)).toEqual([
    ['deal', 'd'],
    ['lead', 'l'],
  ]);
});

it('actor: a row of a list that is no history, without a time or without a record says nothing', () => {
  expect(about({ peopleId: 'p' }, descriptorOf('activity'))).toEqual([]);
  expect(about({ peopleId: 7 }, list('people_history'))).toEqual([]);
  expect(creditsOf({ peopleId: 'p', fieldName: '금액' }, list('people_history'), lists)).toEqual([]);
});
