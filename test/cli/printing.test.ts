import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { fittingLines } from '../../src/cli/commands/status.js';
import { eventLine } from '../../src/cli/print-event.js';
import { statusText } from '../../src/cli/print-status.js';
import { progressLine } from '../../src/cli/progress.js';
import { coloursFor, noColours, table, widthOf } from '../../src/cli/text.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Status } from '../../src/observability/status.js';
import { changeEvent } from '../support/fan-out.js';
import { HEALTHY_REDIS, list, process } from '../support/statuses.js';

function edited(fields: Record<string, [unknown, unknown]>): ChangeEvent {
  const event = changeEvent({ record: 'r-1', sequence: 2 });
  const changes = Object.entries(fields).map(([field, [before, after]]) => ({ field, before, after }));
  return { ...event, data: { ...event.data, changes } };
}

const lineOf = (event: ChangeEvent, columns?: number): string =>
  eventLine(event, { colours: noColours, columns }).replace(/^\d\d:\d\d:\d\d {2}/, '');

describe('status --watch', () => {
  it('status: lines that the terminal has no room for are counted in its last line', () => {
    const lines = ['a problem', 'another', 'people', 'todo'];
    expect(fittingLines(lines, { columns: 80, rows: 4 })).toEqual(lines);
    expect(fittingLines(lines, { columns: 80, rows: 3 })).toEqual([
      ...lines.slice(0, 2),
      '… 2 more lines: make the terminal higher, or run changefeed status',
    ]);
    expect(fittingLines(lines, { columns: 20, rows: 2 })).toEqual(['a problem', '… 3 more lines: mak…']);
  });
});

describe('event line', () => {
  it('event line: shows old and new values, names of references, and a dash for no value', () => {
    const event = edited({
      담당자: [
        { id: 'u-1', name: '김' },
        { id: 'u-2', name: '이' },
      ],
      팀: [
        [],
        [
          { id: 't', name: '1팀' },
          { id: 's', name: '2팀' },
        ],
      ],
      완료: [false, true],
      메모: [null, ''],
    });
    expect(lineOf(event)).toBe(
      'person updated           가상인 2  담당자: 김 → 이 · 팀: — → 1팀, 2팀 · 완료: false → true · 메모: — → ""',
    );
  });

  it('event line: names who made a change, of the event or of a field', () => {
    const event = edited({ 등급: ['B', 'A'] });
    const [user, ours] = [
      { type: 'user', id: 'u-1', name: '담당A\u001b[2J' },
      { type: 'field', id: null, name: null },
    ];
    const whole = { ...event, data: { ...event.data, actor: user } };
    expect(lineOf(whole)).toBe('person updated           가상인 2  by 담당A[2J  등급: B → A');
    const [change] = event.data.changes;
    const partly = { ...event, data: { ...event.data, changes: [{ ...change!, actor: ours }] } };
    expect(lineOf(partly)).toBe('person updated           가상인 2  등급: B → A by the system');
  });

  it('event line: control characters in values do not reach the terminal', () => {
    const line = lineOf(edited({ '이\u0007름': ['a\u001b[2Jb', 'c\n\rd\u202e'] }));
    expect(line).toMatch(/이름: a\[2Jb → c d$/);
  });

  it('event line: times are local, and in little room without what is the same or matters least', () => {
    const times = (before: string, after: string, columns: number): string =>
      lineOf(edited({ 시작: [before, after] }), columns).replace(/.*시작: /, '');
    const [first, sameDay, later] = ['2026-03-01 21:30', '2026-03-01 22:00', '2026-03-09 09:00'];
    const iso = (local: string): string => new Date(local).toISOString();
    expect(times(iso(first), iso(sameDay), 120)).toBe('2026-03-01 21:30 → 22:00');
    expect(times(iso(first), iso(sameDay), 65)).toBe('21:30 → 22:00');
    expect(times(iso(first), iso(later), 120)).toBe('2026-03-01 21:30 → 2026-03-09 09:00');
    expect(times(iso(first), iso(later), 79)).toBe('2026-03-01 → 2026-03-09');
  });

  it('event line: a character of two code units is not split where texts differ', () => {
    const long = '가'.repeat(40);
    const line = lineOf(edited({ text: [`${long}😀${long}`, `${long}😁${long}`] }));
    expect(line).toContain('text: …가가가😀가가가가… → …가가가😁가가가가…');
  });

  it('event line: long values are shortened to the width', () => {
    const long = '가'.repeat(200);
    const event = edited({ a: [long, `${long}나`], b: [`나${long}`, `다${long}`], c: [long, null], d: [null, long] });
    expect(lineOf(event)).toContain('d: ');
    for (const columns of [160, 120, 80, 79, 78, 77, 40])
      expect(widthOf(eventLine(event, { colours: noColours, columns }))).toBeLessThanOrEqual(columns);
    expect(lineOf(event, 120)).toMatch(/ \+\d$/);
    const moved = edited({ '최근 노트 작성일': ['2025-12-28T03:00:00.000Z', '2026-01-02T03:00:00.000Z'] });
    for (let columns = 10; columns < 90; columns += 1)
      expect(widthOf(eventLine(moved, { colours: noColours, columns }))).toBeLessThanOrEqual(columns);
  });

  it('event line: a text of five megabytes is one short line', () => {
    const [old, now] = ['x', 'y'].map((middle) => `${'가'.repeat(2_500_000)}${middle}${'나'.repeat(2_500_000)}`);
    expect(lineOf(edited({ text: [old, now] }))).toMatch(/text: …가가가가x나나나나… → …가가가가y나나나나…$/);
  });

  it('event line: the title keeps its length when the changes are cut', () => {
    const event = edited({ 완료: [false, true], '완료 날짜': [null, '2026-03-01T09:30:00.000Z'] });
    const after = { id: 't-1', 내용: '데모 일정 잡기 (5차)' };
    expect(lineOf({ ...event, type: 'crm.todo.updated', data: { ...event.data, after } }, 79)).toBe(
      'todo updated             데모 일정 잡기 (5차)  완료: false → true +1',
    );
  });

  it('event line: control characters in a name, a type, a title or a note do not reach the terminal', () => {
    const evil = '\u001b]0;owned\u0007\u001b[31m\r\nroot\u202e\u009b2J';
    const event = edited({ [evil]: [{ id: 'u', name: evil }, [evil]] });
    const after = { id: evil, type: evil, people: { id: 'p', name: evil }, source: { name: evil } };
    const lines = [
      lineOf({ ...event, type: `crm.${evil}.${evil}`, data: { ...event.data, after } }),
      eventLine(
        { ...event, data: { ...event.data, after: { id: 'x', text: evil } } },
        { colours: noColours, about: evil },
      ),
      lineOf({ ...event, data: { ...event.data, mergedInto: evil } }),
    ];
    for (const line of lines) expect(line).not.toMatch(/\p{C}/u);
  });

  it('event line: a row of an activity or of a history names the person', () => {
    const created = (type: string, after: Record<string, unknown>, about?: string): string => {
      const event = changeEvent({ record: 'a-1', sequence: 1 });
      const row = { ...event, type, data: { ...event.data, changes: [], after: { id: 'a-1', ...after } } };
      return eventLine(row, { colours: noColours, about }).slice('12:00:00  '.length);
    };
    expect(created('crm.person_activity.created', { type: 'emailOpen', peopleId: 'p-1' }, '김가상')).toBe(
      'person_activity created  김가상  emailOpen',
    );
    expect(created('crm.person_activity.created', { type: 'emailOpen', peopleId: 'p-1' })).toBe(
      'person_activity created  emailOpen',
    );
    const history = { type: 'editField', fieldName: '담당자', fieldValue: { _id: 'u', name: '이가상' } };
    expect(created('crm.deal_history.created', { ...history, source: { type: 'user', name: '박가상' } })).toBe(
      'deal_history created     담당자: 이가상  by 박가상',
    );
  });

  it("event line: the feed's own events say what is wrong, and a change of a schema what changed", () => {
    const event = edited({});
    const notice = { severity: 'error', message: 'The token is refused.', since: null, list: null } as const;
    const none = { before: null, after: null };
    const lines = [
      lineOf({ ...event, type: 'changefeed.token.refused', data: { ...event.data, ...none, notice } }),
      lineOf({
        ...event,
        type: 'crm.person.schema_changed',
        data: {
          ...event.data,
          ...none,
          schema: { field: '등급', kind: 'changed', rows: 9, share: 1, before: ['string'], after: ['number'] },
        },
      }),
    ];
    expect(lines).toEqual([
      'token refused            The token is refused.',
      'person schema_changed    등급 changed: string → number',
    ]);
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

  it('progress bar: shows the share when the total is known, and is full at the end', () => {
    expect(progressLine({ ...reached, done: false })).toBe(
      `sweep    todo         ${'█'.repeat(6)}${'░'.repeat(18)} 50 records, 1 page, 25 %`,
    );
    expect(progressLine({ ...reached, done: false }, { elapsedMs: 5_000, read: 50 })).toMatch(
      / 50 records, 1 page, 25 %, 10\/s, 5 s, about 15 s left$/,
    );
    const first = {
      ...reached,
      expected: null,
      mode: 'baseline',
      records: 125_000,
      pages: 2_500,
      done: false,
    } as const;
    const narrow = progressLine(first, { elapsedMs: 312_400, read: 125_000 }, 80);
    expect(narrow).toMatch(/ 125,000 records, 400\/s, 5 min 12 s$/);
    expect(widthOf(narrow)).toBeLessThan(80);
    expect(progressLine({ ...reached, done: false }, { elapsedMs: 1_999, read: 50 })).toMatch(/25 %$/);
    expect(progressLine({ ...reached, expected: null, done: true })).toMatch(/█{24} 50 records, 1 page, 100 %$/);
    expect(progressLine({ ...reached, expected: null, mode: 'baseline', done: false })).toMatch(/^baseline .*1 page$/);
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

  it('status tables: a list without a baseline is distinguished from one without changes', () => {
    const counts = { seen: 3, unchanged: 3, created: 0 };
    const dueAt = '2026-01-01T00:02:00.000Z';
    const status: Status = {
      at: '2026-01-01T00:01:00.000Z',
      redis: HEALTHY_REDIS,
      workspaces: [
        {
          name: 'acme',
          stateSince: '2026-01-01T00:00:00.000Z',
          stateLostAt: null,
          stateRewound: null,
          logLength: 1,
          budget: {
            requests: 80,
            perSeconds: 10,
            pausedMs: 8_000,
            allowed: 45,
            used: 0.5,
          },
          lists: [
            list({
              list: 'people',
              intervalMs: null,
              dueAt,
              records: 0,
              baselineAt: null,
              shortcuts: {
                last: { used: 40, useful: 3, wrong: 0 },
                first: { used: 12, useful: 0, wrong: 8 },
                aimed: { used: 0, useful: 0, wrong: 0 },
                open: { used: 0, useful: 0, wrong: 0 },
              },
            }),
            list({
              list: 'todo',
              records: 3,
              dueAt,
              intervalMs: 120_000,
              freshness: { ageMs: 31_000, sweepMs: 900 },
              baselineAt: '2026-01-01T00:00:00.000Z',
              lastError: { code: 'CF_UNAVAILABLE', message: 'The API answered 503.', at: '2026-01-01T00:00:20.000Z' },
              lastSweep: {
                completedAt: '2026-01-01T00:00:30.000Z',
                tookMs: 900,
                longestPage: 10,
                pages: 1,
                counts,
                muted: {},
              },
            }),
          ],
        },
      ],
      subscriptions: [],
      processes: [process(['poll'], { version: '1.2.0', startedAt: '2026-01-01T00:00:00.000Z' })],
      problems: [],
    };
    expect(statusText(status, { colours: noColours })).toBe(
      [
        'all is well',
        '',
        'no subscriptions: events go to the log only',
        '',
        'workspace acme  budget 80 requests per 10 s, 50 % used, 45 allowed after a 429, paused for 8 s after a 429  log 1 event',
        'list    swept         records  as of            last complete sweep',
        'people  continuously  0        no baseline yet  —',
        'todo    in 1 min      3        31 s ago         no changes in 900 ms',
        'last error 40 s ago, over: CF_UNAVAILABLE (todo)',
        '',
        'roles  version  up for  process',
        'poll   1.2.0    1 min   7 on crm-1',
      ].join('\n'),
    );
    const verbose = statusText(status, { colours: noColours, verbose: true }).split('\n').slice(4, -3);
    expect(verbose).toEqual([
      'workspace acme  budget 80 requests per 10 s, 50 % used, 45 allowed after a 429, paused for 8 s after a 429  log 1 event',
      'list    swept                  records  as of            last complete sweep',
      'people  continuously           0        no baseline yet  —',
      'todo    every 2 min, in 1 min  3        31 s ago         1 page in 900 ms: 3 seen, 3 unchanged',
      '  last error of todo: 40 s ago, over: CF_UNAVAILABLE The API answered 503.',
      '  shortcuts of people: 40 polls of the end, 3 useful, 0 wrong; 12 polls of the start, 0 useful, 8 wrong',
    ]);
    const narrow = statusText(status, { colours: noColours, columns: 60, verbose: true }).split('\n');
    expect(narrow.filter((line) => widthOf(line) > 60)).toEqual([]);
    expect(narrow.join('\n')).toContain(
      '\n  last error of todo: 40 s ago, over: CF_UNAVAILABLE The API\n    answered 503.\n',
    );
  });
});
