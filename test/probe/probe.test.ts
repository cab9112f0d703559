/** `changefeed probe` against a server whose answers to every question are known. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { createReadApi } from '../../src/api/client.js';
import { descriptorOf, LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import { seenFields, writtenFields } from '../../src/crm/known-fields.js';
import { probeLists, type ProbedList, type ProbeReport } from '../../src/probe/probe.js';
import { askOnce } from '../../src/probe/sample.js';
import { probeText } from '../../src/cli/print-probe.js';
import { noColours, widthOf } from '../../src/cli/text.js';
import type { Behaviour } from '../../sandbox/faults/behaviour.js';
import type { SandboxOptions } from '../../sandbox/options.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { walkAll } from '../support/read-api.js';

interface Probed {
  report: ProbeReport;
  sandbox: Sandbox;
  pauses: number[];
}

async function probed(
  options: SandboxOptions,
  { lists = ['people'], requests = 12 }: { lists?: readonly BuiltInList[]; requests?: number } = {},
): Promise<Probed> {
  const sandbox = createSandbox({ people: 60, pageSize: 10, limit: null, ...options });
  const { url, token } = await sandbox.start();
  const pauses: number[] = [];
  const budget = { take: () => Promise.resolve(), pause: (ms: number) => Promise.resolve(void pauses.push(ms)) };
  const api = createReadApi({ workspace: 'test', baseUrl: url, token, budget, attempts: 1 });
  onTestFinished(async () => {
    await Promise.all([api.close(), sandbox.stop()]);
  });
  const report = await probeLists({ ask: askOnce(api), lists: lists.map(descriptorOf), requests });
  return { report, sandbox, pauses };
}

async function people(behaviour: Partial<Behaviour>, options: SandboxOptions = {}): Promise<ProbedList> {
  const { report } = await probed({ ...options, behaviour });
  const [list] = report.lists;
  if (list === undefined) throw new Error('people could not be read');
  return list;
}

describe('probe paging', () => {
  test('page sizes leave the last page out', async () => {
    expect((await people({ pageSize: 25 })).pageSizes).toEqual({ 25: 2 });
    expect((await people({ pageSize: 25, end: 'empty-page' })).pageSizes).toEqual({ 25: 2 });
  });

  test.each([
    ['null', 'null'],
    ['missing', 'missing'],
    ['empty-text', 'empty text'],
    ['empty-page', 'empty page'],
  ] as const)('the end of the list: "%s"', async (end, said) => {
    expect((await people({ end })).end).toBe(said);
  });

  test('an end that was not reached is unknown', async () => {
    expect((await people({ pageSize: 2 })).end).toBeNull();
  });

  test.each([
    ['last-id', 'the same page', 'id of the last record'],
    ['offset', 'the same page', 'opaque'],
    ['single-use', 'refused', 'opaque'],
  ] as const)('a cursor "%s" that is used again: %s', async (cursor, outcome, cursorIs) => {
    const list = await people({ cursor });
    expect(list).toMatchObject({ again: { outcome }, cursorIs });
  });

  test('a cursor that is used again after an edit: the same records with other content', async () => {
    expect((await people({ sequence: 'reordered' })).again?.outcome).toBe('the same records with other content');
  });

  test.each([
    ['refuse', 'refused', 400],
    ['refuse-empty', 'refused', 400],
    ['first-page', 'the first page', 200],
    ['empty-page', 'an empty page', 200],
  ] as const)('a bad cursor under "%s": %s', async (badCursor, outcome, status) => {
    expect((await people({ badCursor })).badCursor).toEqual({ outcome, status });
  });
});

describe('probe order', () => {
  test.each([
    ['creation', { by: 'creation', direction: 'ascending' }, 'the end'],
    ['newest-first', { by: 'creation', direction: 'descending' }, 'the start'],
    ['id', { by: 'id', direction: 'ascending' }, 'any place'],
    ['last-change', { by: 'change', direction: 'descending' }, 'the start'],
  ] as const)('lists in the order "%s"', async (order, found, growsAt) => {
    expect(await people({ order })).toMatchObject({ order: found, growsAt });
  });

  test('a list without an order', async () => {
    expect(await people({ order: 'shuffled' })).toMatchObject({ order: null, growsAt: 'unknown' });
  });
});

describe('probe fields', () => {
  test.each([
    ['ms', 'ms'],
    ['minute', 'minutes'],
  ] as const)('timestamps in "%s"', async (stamps, precision) => {
    expect(await people({ stamps })).toMatchObject({ created: precision, modified: precision });
  });

  test.each([
    ['null', 'null'],
    ['absent', 'absent'],
    ['mixed', 'both'],
  ] as const)('empty fields as "%s"', async (empties, said) => {
    expect((await people({ empties })).empties).toBe(said);
  });

  test('keys of the interface, keys of real answers, and a number of others', async () => {
    const written = await people({ drift: 'removed' });
    expect(written).toMatchObject({ written: { present: 33, missing: ['포지션'] }, seenElsewhere: [] });
    const extras = await people({ extras: true });
    expect(extras).toMatchObject({ written: { present: 34, missing: [] }, seenElsewhere: ['RecordId', '최근 연락일'] });
    expect(extras.others).toBeGreaterThan(0);
  });

  test.each([
    ['written', 'as in the interface'],
    ['wild', 'as in real answers'],
    ['both', 'both'],
  ] as const)('spelling of todos: "%s"', async (todoNames, spelling) => {
    const { report } = await probed({ behaviour: { todoNames } }, { lists: ['todo'] });
    expect(report.lists[0]?.spelling).toBe(spelling);
  });

  test('references of the activity feed', async () => {
    const { report } = await probed({}, { lists: ['activity'] });
    expect(report.lists[0]?.references).toMatchObject({ peopleId: 1 });
  });
});

describe('probe traffic', () => {
  test('latency is what the client waits', async () => {
    expect((await people({ latencyMs: 60 })).latency.p50).toBeGreaterThanOrEqual(55);
  });

  test('a 429 is counted and quoted, and pauses the budget', async () => {
    const { report, pauses } = await probed({ behaviour: { limitRequests: 4, limitWindowMs: 60_000 } });
    expect(report.limits.refused).toBeGreaterThan(0);
    expect(report.limits.words).toContain('초 후 재시도해주세요');
    expect(pauses[0]).toBeGreaterThan(1_000);
    const quiet = await probed({});
    expect(quiet.report.limits).toEqual({ refused: 0, words: null, headers: {} });
    expect(quiet.pauses).toEqual([]);
  });
});

describe('probe report', () => {
  test.each([1, 7, 13, 40])('sends at most %i requests, all of them counted', async (requests) => {
    const { report, sandbox } = await probed({ pageSize: 3 }, { lists: LIST_NAMES, requests });
    expect(report.requests).toBe(requests);
    expect(sandbox.requests).toBe(requests);
  });

  test('a list that cannot be read is reported with what the server says, the others are described', async () => {
    const behaviour = { schedules: { forbidden: { times: 1 } } };
    const { report } = await probed({ behaviour }, { lists: ['people', 'memo'] });
    expect(report.failed).toMatchObject([
      { list: 'people', status: 403, words: expect.stringContaining('IP') as string },
    ]);
    expect(report.lists.map(({ list }) => list)).toEqual(['memo']);
  });

  test('holds no contents of records and no names of custom fields, as text and as JSON', async () => {
    const { report, sandbox } = await probed({ profile: 'wild' }, { lists: LIST_NAMES, requests: 40 });
    const shown = `${probeText(report, noColours)}\n${JSON.stringify(report)}`;
    const records = Object.values(await walkAll(await sandbox.start())).flat();
    const known = new Set(LIST_NAMES.flatMap((list) => [...writtenFields(list), ...seenFields(list)]));
    const custom = new Set(records.flatMap((record) => Object.keys(record)).filter((name) => !known.has(name)));
    expect(custom.size).toBeGreaterThan(10);
    expect([...custom].filter((name) => shown.includes(name))).toEqual([]);
    const names = [...known].join(' ');
    const values = new Set(records.flatMap(textsIn).filter((value) => value.length > 3 && !names.includes(value)));
    expect(values.size).toBeGreaterThan(500);
    expect([...values].filter((value) => shown.includes(value))).toEqual([]);
  });

  test('is as wide as the terminal, and 80 columns without one', async () => {
    const { report } = await probed({ profile: 'wild' }, { lists: LIST_NAMES, requests: 40 });
    const lines = probeText(report, noColours).split('\n');
    expect(lines.length).toBeGreaterThan(80);
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
    const widest = (columns: number): number =>
      Math.max(...probeText(report, noColours, columns).split('\n').map(widthOf));
    expect(widest(60)).toBeLessThanOrEqual(60);
    expect(widest(140)).toBeGreaterThan(80);
  });
});

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
