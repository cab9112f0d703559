import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { deliveriesText } from '../../src/cli/commands/deliveries.js';
import { fittingLines } from '../../src/cli/commands/status.js';
import { eventLine } from '../../src/cli/print-event.js';
import { sweepLines } from '../../src/cli/print-sweep.js';
import { progressLine } from '../../src/cli/progress.js';
import { formatsFor } from '../../src/words/format.js';
import type { DeliveryRow } from '../../src/delivery/receipts/delivery-row.js';
import { coloursFor, fitted, noColours, table, widthOf } from '../../src/cli/text.js';
import { noCounts } from '../../src/feed/store/sweep-state.js';
import type { Actor, ChangeEvent, SchemaChange } from '../../src/events/types.js';
import { changeEvent } from '../support/events.js';

function edited(fields: Record<string, [unknown, unknown]>): ChangeEvent {
  const event = changeEvent({ record: 'r-1', sequence: 2 });
  const changes = Object.entries(fields).map(([field, [before, after]]) => ({ field, before, after }));
  return { ...event, data: { ...event.data, changes } };
}

const KIM = { id: 'u-1', name: '김' };
const EVIL = '\u001b]0;owned\u0007\u001b[31m\r\nroot\u202e\u009b2J';
const iso = (local: string): string => new Date(local).toISOString();
const long = '가'.repeat(200);

function rowEvent(type: string, after: Record<string, unknown>): ChangeEvent {
  const event = edited({});
  return { ...event, type, data: { ...event.data, after: { id: 'a-1', ...after } } };
}

function ownEvent(type: string, more: Partial<ChangeEvent['data']>): ChangeEvent {
  const event = edited({});
  return { ...event, type, data: { ...event.data, before: null, after: null, ...more } };
}

const byKim = (actor: object, fields: Record<string, [unknown, unknown]>): ChangeEvent => {
  const event = edited(fields);
  return { ...event, data: { ...event.data, actor: actor as Actor } };
};
const notice = { severity: 'error', message: 'The token is refused.', since: null, list: null } as const;
const moved = edited({ 시작: [iso('2026-03-01 21:30'), iso('2026-03-01 22:00')] });
const history = { type: 'editField', fieldName: '담당자', fieldValue: { _id: 'u', name: '이가상' } };
const schema: SchemaChange = {
  ...{ field: '등급', kind: 'changed', rows: 9, share: 1, before: ['string'], after: ['number'] },
};

/** What a person reads of an event: at most so many columns, and for rows the name of the record that they are about. */
const EVENTS: readonly (readonly [what: string, event: ChangeEvent, columns?: number, about?: string])[] = [
  [
    'names of references',
    edited({ 담당자: [KIM, { id: 'u-2', name: '이' }], 팀: [[], [KIM, { ...KIM, name: '2팀' }]] }),
  ],
  ['no value, an empty text', edited({ 완료: [false, true], 메모: [null, ''] })],
  ['who made it', byKim({ type: 'user', ...KIM }, { 등급: ['B', 'A'] })],
  ['a name with control characters', byKim({ type: 'user', id: 'u', name: EVIL }, { 등급: ['B', 'A'] })],
  ['the system', byKim({ type: 'field', id: null, name: null }, { 등급: ['B', 'A'] })],
  ['control characters', edited({ [EVIL]: [{ id: 'u', name: EVIL }, [EVIL]] })],
  ['control characters in a type', rowEvent(`crm.${EVIL}.${EVIL}`, { type: EVIL, people: { id: 'p', name: EVIL } })],
  ['control characters in the name it belongs to', rowEvent('crm.memo.created', { text: EVIL }), 160, EVIL],
  ['times of one day', moved],
  ['times of one day in little room', moved, 65],
  ['times of two days in little room', edited({ 시작: [iso('2026-03-01 21:30'), iso('2026-03-09 09:00')] }), 79],
  ['texts that differ in one character of two code units', edited({ text: [`${long}😀${long}`, `${long}😁${long}`] })],
  [
    'long values',
    edited({ a: [long, `${long}나`], b: [`나${long}`, `다${long}`], c: [long, null], d: [null, long] }),
    120,
  ],
  ['long values in little room', edited({ a: [long, `${long}나`], b: [`나${long}`, `다${long}`] }), 40],
  ['five megabytes', edited({ text: [`${long.repeat(8e3)}x${long}`, `${long.repeat(8e3)}y${long}`] }), 120],
  ['a row about a person', rowEvent('crm.person_activity.created', { type: 'emailOpen', peopleId: 'p' }), 99, '김가상'],
  ['a row about nobody known', rowEvent('crm.person_activity.created', { type: 'emailOpen', peopleId: 'p' })],
  [
    'a row of a history',
    rowEvent('crm.deal_history.created', { ...history, source: { type: 'user', name: '박가상' } }),
  ],
  ['a problem', ownEvent('changefeed.workspace.unauthorized', { notice })],
  ['a change of the schema', ownEvent('crm.person.schema_changed', { schema })],
];

describe('event line', () => {
  it('event line: says what an event is about on one line that fits, without control characters', async () => {
    const lines = EVENTS.map(([what, event, columns = 140, about]) => {
      const line = eventLine(event, { colours: noColours, columns, about });
      expect(widthOf(line)).toBeLessThanOrEqual(columns);
      expect(line).not.toMatch(/\p{C}/u);
      return `${what}:\n  ${line.replace(/^\d\d:\d\d:\d\d {2}/, '')}`;
    });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./screens/event-lines.txt');
  });

  it('event line: fits whatever the width', () => {
    for (let columns = 10; columns < 90; columns += 1)
      expect(widthOf(eventLine(moved, { colours: noColours, columns }))).toBeLessThanOrEqual(columns);
  });
});

describe('status --watch', () => {
  it('status: lines that the terminal has no room for are counted in its last line', () => {
    const lines = ['a problem', 'another', 'people', 'todo'];
    expect(fittingLines(lines, { columns: 80, rows: 4 })).toEqual(lines);
    expect(fittingLines(lines, { columns: 20, rows: 2 })).toEqual(['a problem', '… 3 more lines: mak…']);
  });
});

describe('colours', () => {
  it('colours: are used on a terminal unless the environment forbids them, for each stream', () => {
    const coloured = (isTTY: boolean, env: Record<string, string>): boolean =>
      coloursFor({ isTTY }, env).isColorSupported;
    expect(coloured(true, {})).toBe(true);
    expect(coloured(false, { CI: 'true' })).toBe(false);
    expect(coloured(true, { NO_COLOR: '1' })).toBe(false);
    expect(coloured(true, { TERM: 'dumb' })).toBe(false);
    expect(coloured(false, { FORCE_COLOR: '1' })).toBe(true);
  });
});

describe('progress bar', () => {
  const reached = { workspace: 'w', list: 'todo', mode: 'changes', pages: 1, records: 50, expected: 200 } as const;

  it('progress bar: shows share and time left when the total is known, and is full at the end', async () => {
    const first = { ...reached, expected: null, mode: 'baseline', records: 125_000, pages: 2_500 } as const;
    const style = { formats: formatsFor({ language: 'en', now: 0 }) };
    const korean = { formats: formatsFor({ language: 'ko', now: 0 }) };
    const atOnce = { elapsedMs: 0, read: 0 };
    const lines = [
      progressLine({ ...reached, done: false }, atOnce, style),
      progressLine({ ...reached, done: false }, { elapsedMs: 5_000, read: 50 }, style),
      progressLine({ ...first, done: false }, { elapsedMs: 312_400, read: 125_000 }, { ...style, columns: 80 }),
      progressLine({ ...reached, expected: null, done: true }, atOnce, style),
      progressLine({ ...reached, done: false }, { elapsedMs: 5_000, read: 50 }, korean),
    ];
    for (const line of lines) expect(widthOf(line)).toBeLessThan(100);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./screens/progress.txt');
  });
});

describe('status tables', () => {
  it('status tables: columns align with wide Korean letters and with colours', () => {
    const green = pc.createColors(true).green('ok');
    const rows = table(
      ['이름', 'x'],
      [
        ['가상인', '1'],
        [green, '2'],
      ],
      noColours,
    ).split('\n');
    expect(rows.map((row) => widthOf(row))).toEqual([9, 9, 9]);
  });

  it('status tables: a table that is too wide for the terminal is wrapped in its widest columns', () => {
    const text = table(
      ['name', 'does'],
      [
        ['calm', '가나다 '.repeat(12).trim()],
        ['id', 'x'.repeat(60)],
      ],
      noColours,
      40,
    );
    const lines = text.split('\n');
    expect(lines.filter((line) => widthOf(line) > 40)).toEqual([]);
    expect(lines[1]).toBe(`calm  ${'가나다 '.repeat(5).trim()}`);
    expect(text.replace(/\s+/g, '')).toBe(`namedoescalm${'가나다'.repeat(12)}id${'x'.repeat(60)}`);
  });
});

describe('sentences', () => {
  const error =
    'changefeed: 두 목록 of the workspace could not be read. Start Redis, or correct the address in REDIS_URL.';

  it('sentences: are continued between words on a terminal, and keep their words', () => {
    const lines = fitted(error, 40).split('\n');
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(40);
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\S/);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(error);
    expect(fitted(error)).toBe(error);
  });

  it('sentences: a code frame keeps its lines, because its marker points at a column', () => {
    const frame = `  > 1 | ${'x '.repeat(40)}\n      | ${' '.repeat(60)}^`;
    expect(fitted(frame, 40)).toBe(frame);
  });
});

describe('deliveries', () => {
  const row: DeliveryRow = {
    ...{ subscription: 'billing', outcome: 'retry', workspace: 'acme', logId: '1-0', type: 'crm.todo.rescheduled' },
    ...{ eventId: `evt_${'a'.repeat(32)}`, list: 'todo', record: '01a21a4d-4135-79ea-88fe-e1f49baad7ef', attempt: 2 },
    ...{ at: iso('2026-03-01T10:00:00'), ms: 8, status: 503, reason: 'CF_DELIVERY_REFUSED', words: 'try later' },
    ...{ nextAttemptAt: iso('2026-03-01T10:00:05'), origin: null, mergedInto: null, digest: null, refusedBy: null },
  };
  const other: DeliveryRow = { ...row, eventId: `evt_${'b'.repeat(32)}`, outcome: 'delivered', words: null };
  const colours = { out: noColours, err: noColours };

  it('deliveries: on a terminal that is too narrow for the table, ids stay whole', () => {
    const text = deliveriesText([row, other], { colours, columns: 80 });
    expect(text.split('\n')).toEqual([
      '2026-03-01 10:00:00  billing  failed 503, again 2026-03-01 10:00:05  attempt 2',
      '  8 ms',
      '    todo.rescheduled  01a21a4d-4135-79ea-88fe-e1f49baad7ef',
      `    evt_${'a'.repeat(32)}`,
      '    try later',
      '2026-03-01 10:00:00  billing  delivered 503  attempt 2  8 ms',
      '    todo.rescheduled  01a21a4d-4135-79ea-88fe-e1f49baad7ef',
      `    evt_${'b'.repeat(32)}`,
    ]);
  });

  it('deliveries: on a wide terminal and in a file they are a table', () => {
    for (const columns of [220, Infinity]) {
      const [head = '', ...rows] = deliveriesText([row, other], { colours, columns }).split('\n');
      expect(head).toMatch(/^began +subscription +outcome +attempt +took +type +record +event +said$/);
      expect(rows).toHaveLength(2);
    }
  });
});

describe('sweep lines', () => {
  it('sweep lines: a list whose only page is full and names no cursor is marked', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const sweepOf = (list: 'people' | 'memo' | 'todo', pages: number, longestPage: number) => {
      const summary = { sweepId: 's', startedAt: at, completedAt: at, mode: 'baseline', counts: noCounts() } as const;
      return { workspace: 'acme', list, outcome: 'complete', summary: { ...summary, pages, longestPage } } as const;
    };
    const formats = formatsFor({ language: 'en', timeZone: 'UTC', now: at });
    const lines = sweepLines(
      [sweepOf('people', 3, 20), sweepOf('memo', 1, 20), sweepOf('todo', 1, 12)],
      noColours,
      formats,
    );
    expect(lines.map((line) => line.includes('names no cursor'))).toEqual([false, true, false]);
  });
});
