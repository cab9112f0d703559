import { expect, test } from 'vitest';
import type { JournalLine } from '../../sandbox/journal/lines.js';
import { parseEvents, parseJournal } from '../../sandbox/verify/read.js';
import { scoreEvents } from '../../sandbox/verify/score.js';
import { at, mutation, eventOf, walk } from '../support/verify-fixtures.js';

const A = { 이름: 'A' };
const B = { 이름: 'B' };
const C = { 이름: 'C' };

test('verify: a reported change is found, with its delay since the change and since it was visible', () => {
  const journal = [walk(0, 1), mutation({ before: A, after: B, second: 10, seen: 12 })];
  const score = scoreEvents({ journal, events: [eventOf({ before: A, after: B, second: 13 })] });
  expect(score).toMatchObject({ expected: 1, found: 1, recall: 1, falseEvents: 0, missed: [] });
  expect(score.delay).toEqual({ p50: 3_000, p99: 3_000, max: 3_000 });
  expect(score.delaySinceVisible.max).toBe(1_000);
});

test('verify: a visible change without an event is missed and listed', () => {
  const score = scoreEvents({
    journal: [walk(0, 1), mutation({ before: A, after: B, second: 10, seen: 12 })],
    events: [],
  });
  expect(score).toMatchObject({
    expected: 1,
    found: 0,
    recall: 0,
    missed: [{ list: 'people', id: 'p1', verb: 'updated', visibleAt: at(12) }],
  });
});

test('verify: a change that was overwritten unseen is not expected, and one event over both changes is true', () => {
  const journal = [
    walk(0, 1),
    mutation({ before: A, after: B, second: 10, seen: null }),
    mutation({ before: B, after: C, second: 11, seen: 12 }),
  ];
  const score = scoreEvents({ journal, events: [eventOf({ before: A, after: C, second: 12 })] });
  expect(score).toMatchObject({ expected: 1, found: 1, falseEvents: 0 });
});

test('verify: a change that was undone unseen is not expected, and an event about it is not false', () => {
  const journal = [
    walk(0, 1),
    mutation({ before: A, after: B, second: 10, seen: null }),
    mutation({ before: B, after: A, second: 11, seen: 12 }),
  ];
  expect(scoreEvents({ journal, events: [] })).toMatchObject({ expected: 0, recall: 1 });
  expect(scoreEvents({ journal, events: [eventOf({ before: A, after: B, second: 10 })] })).toMatchObject({
    falseEvents: 0,
  });
});

test('verify: an event over several visible states reports all of them, because a crash may merge them', () => {
  const journal = [
    walk(0, 1),
    mutation({ before: A, after: B, second: 10, seen: 11 }),
    mutation({ before: B, after: A, second: 12, seen: 13 }),
    mutation({ before: A, after: C, second: 14, seen: 15 }),
  ];
  expect(scoreEvents({ journal, events: [eventOf({ before: A, after: C, second: 15 })] })).toMatchObject({
    expected: 3,
    found: 3,
  });
});

test('verify: a state that occurs twice is matched to its own time', () => {
  const journal = [
    walk(0, 1),
    mutation({ before: A, after: B, second: 10, seen: 11 }),
    mutation({ before: B, after: A, second: 12, seen: 13 }),
    mutation({ before: A, after: B, second: 14, seen: 15 }),
  ];
  const events = [
    eventOf({ before: A, after: B, second: 11, sequence: 1 }),
    eventOf({ before: B, after: A, second: 13, sequence: 2 }),
    eventOf({ before: A, after: B, second: 15, sequence: 3 }),
  ];
  expect(scoreEvents({ journal, events })).toMatchObject({ expected: 3, found: 3, repeated: 0, delay: { max: 1_000 } });
});

test('verify: a state that returns within milliseconds, or is reported with a slow clock, is matched to its own time', () => {
  const journal = (...seen: (number | null)[]): JournalLine[] => [
    walk(0, 1),
    mutation({ before: A, after: B, second: 10, seen: seen[0] ?? null }),
    mutation({ before: B, after: A, second: 10.001, seen: seen[1] ?? null }),
    mutation({ before: A, after: B, second: 10.002, seen: seen[2] ?? null }),
  ];
  const events = [10.003, 10.006, 10.009].map((second, index) =>
    eventOf({ before: index === 1 ? B : A, after: index === 1 ? A : B, second, sequence: index + 1 }),
  );
  const score = scoreEvents({ journal: journal(10.002, 10.005, 10.008), events });
  expect(score).toMatchObject({ expected: 3, found: 3, repeated: 0 });

  const [behind] = events;
  const unseenAtFirst = scoreEvents({ journal: journal(null, null, 10.02), events: behind ? [behind] : [] });
  expect(unseenAtFirst).toMatchObject({ expected: 1, found: 1, repeated: 0 });
});

test('verify: an event from a stale answer is false, because it reverses the order of states', () => {
  const journal = [walk(0, 1), mutation({ before: A, after: B, second: 10, seen: 11 })];
  const events = [
    eventOf({ before: A, after: B, second: 11 }),
    eventOf({ before: B, after: A, second: 12, sequence: 2 }),
  ];
  expect(scoreEvents({ journal, events })).toMatchObject({
    found: 1,
    falseEvents: 1,
    inventions: [{ reason: 'never-so', subject: 'p1' }],
  });
});

test('verify: an update that differs only in the order of keys is a false event', () => {
  const journal = [walk(0, 1), mutation({ before: A, after: B, second: 10, seen: 11 })];
  const score = scoreEvents({
    journal,
    events: [eventOf({ before: { b: 1, a: 2 }, after: { a: 2, b: 1 }, second: 12 })],
  });
  expect(score).toMatchObject({ falseEvents: 1, inventions: [{ reason: 'nothing-changed' }] });
});

test('verify: an update that only shows a rename is neither found nor false', () => {
  const renamed: JournalLine = { line: 'rename', at: at(5), id: 'u1', before: '김', after: '이' };
  const [before, after] = [{ 담당자: { id: 'u1', name: '김' } }, { 담당자: { id: 'u1', name: '이' } }];
  const events = [eventOf({ before, after, second: 6 })];
  expect(scoreEvents({ journal: [walk(0, 1), renamed], events })).toMatchObject({ falseEvents: 0, renames: 1 });
  expect(scoreEvents({ journal: [walk(0, 1)], events })).toMatchObject({ falseEvents: 1, renames: 0 });
});

test('verify: an event about a record that never changed is false', () => {
  const score = scoreEvents({
    journal: [walk(0, 1)],
    events: [eventOf({ type: 'crm.person.deleted', before: A, after: null, second: 3 })],
  });
  expect(score.inventions).toMatchObject([{ reason: 'unknown-record' }]);
});

test('verify: a change that became visible during the baseline is not expected', () => {
  const journal = [mutation({ before: null, after: A, second: 1, seen: 2 }), walk(0, 3)];
  expect(scoreEvents({ journal, events: [] })).toMatchObject({ expected: 0 });
  expect(scoreEvents({ journal, events: [], since: 0 })).toMatchObject({
    expected: 1,
    byVerb: { created: { expected: 1, found: 0 } },
  });
});

test('verify: nothing is expected of a list that was never walked to its end', () => {
  const changed = mutation({ before: A, after: B, second: 2, seen: 3 });
  expect(scoreEvents({ journal: [changed, walk(0, 1, 'memo')], events: [] }).expected).toBe(0);
  expect(scoreEvents({ journal: [changed, walk(0, 1)], events: [] }).expected).toBe(1);
  // What was not read through the list API is not known to have a baseline.
  expect(scoreEvents({ journal: [changed], events: [] }).expected).toBe(1);
});

test('verify: a removal is expected after two complete walks that are far enough apart', () => {
  const gone = mutation({ before: A, after: null, second: 10, seen: 12 });
  const once = [walk(0, 1), gone, walk(11, 12)];
  const soon = [...once, walk(13, 14)];
  const twice = [...soon, walk(46, 47)];
  expect(scoreEvents({ journal: once, events: [] }).expected).toBe(0);
  expect(scoreEvents({ journal: soon, events: [] }).expected).toBe(0);
  expect(scoreEvents({ journal: soon, events: [], removalAfterMs: 0 }).expected).toBe(1);
  expect(scoreEvents({ journal: twice, events: [] }).byVerb.deleted).toEqual({ expected: 1, found: 0 });
  const events = [eventOf({ type: 'crm.person.deleted', before: A, after: null, second: 14 })];
  expect(scoreEvents({ journal: twice, events })).toMatchObject({ found: 1, falseEvents: 0 });
  expect(scoreEvents({ journal: once, events })).toMatchObject({ expected: 0, falseEvents: 0 });
});

test('verify: repeated deliveries, sequences out of order and gaps are counted', () => {
  const journal = [
    walk(0, 1),
    mutation({ before: A, after: B, second: 10, seen: 11 }),
    mutation({ before: B, after: C, second: 12, seen: 13 }),
  ];
  const first = eventOf({ before: A, after: B, second: 11, sequence: 1 });
  const second = eventOf({ before: B, after: C, second: 13, sequence: 2 });
  expect(scoreEvents({ journal, events: [first, second, first] })).toMatchObject({
    duplicates: 1,
    orderViolations: 0,
    sequenceGaps: 0,
    found: 2,
  });
  expect(scoreEvents({ journal, events: [second, first] })).toMatchObject({ duplicates: 0, orderViolations: 1 });
  const late = eventOf({ before: B, after: C, second: 13, sequence: 5 });
  expect(scoreEvents({ journal, events: [first, late] })).toMatchObject({ sequenceGaps: 3, orderViolations: 0 });
  const again = eventOf({ before: A, after: B, second: 14, sequence: 3, id: 'evt_again' });
  expect(scoreEvents({ journal, events: [first, second, again] })).toMatchObject({ repeated: 1, falseEvents: 0 });
});

test('verify: snapshots and derived events are not scored', () => {
  const events = [
    eventOf({ type: 'crm.person.snapshot', before: null, after: A, second: 2 }),
    eventOf({ type: 'crm.todo.overdue', before: A, after: A, second: 2, id: 'evt_derived' }),
  ];
  expect(scoreEvents({ journal: [walk(0, 1)], events })).toMatchObject({ unjudged: 2, falseEvents: 0, recall: 1 });
});

test('verify: a journal file gets visibility from the lines that follow a mutation', () => {
  const changed = mutation({ before: A, after: B, second: 10, seen: null });
  const seen = { line: 'visible', mutation: changed.mutation, list: 'people', id: 'p1', at: at(12) };
  const text = [walk(0, 1), changed, seen].map((line) => JSON.stringify(line)).join('\n');
  expect(scoreEvents({ journal: parseJournal(`${text}\n{"line":"mut`), events: [] })).toMatchObject({ expected: 1 });
});

test('verify: events are read one per line, also as log entries', () => {
  const event = eventOf({ before: A, after: B, second: 11 });
  const text = [event, { logId: '1-0', event }].map((line) => JSON.stringify(line)).join('\n');
  expect(parseEvents(text)).toMatchObject([event, event]);
});

test('verify: an invalid line is named by its number, without its contents', () => {
  expect(() => parseEvents('\n{"secret":1}\n{}')).toThrow(/^Line 2 of the stream of events has an unexpected form/);
  expect(() => parseJournal('{"line":"walk"}\nnot json\n{}')).toThrow(/^Line 2 of the journal is not JSON/);
});
