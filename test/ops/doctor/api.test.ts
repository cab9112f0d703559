import { describe, expect, it, onTestFinished } from 'vitest';
import { createReadApi } from '../../../src/feed/api/client.js';
import { fieldsOf } from '../../../src/crm/known-fields.js';
import type { ListDescriptor } from '../../../src/crm/lists/descriptor.js';
import { descriptorOf, LIST_NAMES } from '../../../src/crm/lists/lists.js';
import { judgeApi } from '../../../src/ops/doctor/api.js';
import type { Finding } from '../../../src/ops/doctor/finding.js';
import { readList, type ReadList } from '../../../src/ops/doctor/read-list.js';
import type { Behaviour } from '../../../sandbox/faults/behaviour.js';
import { createSandbox } from '../../../sandbox/sandbox.js';
import { walkAll } from '../../support/read-api.js';
import { wordsFor } from '../../../src/words/words.js';

const { t } = wordsFor('en');

interface Asked {
  behaviour?: Partial<Behaviour>;
  lists?: readonly ListDescriptor[];
  pages?: number;
  profile?: 'wild';
}

async function ask({ lists = [descriptorOf('people')], pages = 2, ...options }: Asked) {
  const sandbox = createSandbox({ people: 60, pageSize: 10, limit: null, ...options });
  const { url, token } = await sandbox.start();
  const pauses: number[] = [];
  const budget = { take: () => Promise.resolve(), pause: (ms: number) => Promise.resolve(void pauses.push(ms)) };
  const api = createReadApi({ workspace: 'acme', baseUrl: url, token, budget, lists, attempts: 1 });
  onTestFinished(async () => {
    await Promise.all([api.close(), sandbox.stop()]);
  });
  const read: ReadList[] = [];
  for (const list of lists) read.push(await readList(api, { list, pages, signal: new AbortController().signal }));
  return { read, pauses, sandbox };
}

async function judged(asked: Asked): Promise<string[]> {
  const { read } = await ask(asked);
  return shown(judgeApi('acme', read, t));
}

const shown = (findings: readonly Finding[]): string[] =>
  findings.map(({ result, check, seen }) => `${result} ${check}: ${seen.replace(/127\.0\.0\.1:\d+/, 'crm')}`);

describe('doctor: the API', () => {
  it('key, rows, cursor and token', async () => {
    expect(await judged({})).toEqual([
      'ok acme: token: accepted',
      'ok acme: people: "peopleList", 10 and 10 rows; the cursor leads on',
    ]);
  });

  it.each<[string, Partial<Behaviour>, string]>([
    ['a single page that says so', { pageSize: 60 }, 'ok "peopleList", 60 rows; no cursor, the list ends there'],
    ['a full page without a cursor', { pageSize: 60, end: 'missing' }, 'ok "peopleList", 60 rows; no cursor'],
    ['a whole page without a cursor', { pageSize: 50, end: 'missing' }, 'ok "peopleList", 50 and 10 rows; the cursor'],
    [
      'an empty page at the end',
      { pageSize: 60, end: 'empty-page' },
      '60 and 0 rows; the cursor leads to an empty page',
    ],
    [
      'a field that is missing',
      { drift: 'removed' },
      'ok "peopleList", 10 and 10 rows; the cursor leads on; not found: 포지션',
    ],
    ['empty fields that are absent', { empties: 'absent' }, 'ok "peopleList", 10 and 10 rows'],
  ])('a list: %s', async (_, behaviour, expected) => {
    const [, list] = await judged({ behaviour });
    expect(list?.replace('acme: people: ', '')).toContain(expected);
  });

  it('a list: a cursor that leads nowhere, or in a circle', async () => {
    const refused = await judged({ behaviour: { schedules: { 'empty-400': { after: 1 } } } });
    expect(refused[1]).toMatch(/^error acme: people: "peopleList", 10 rows; asked for the next page, .* answered 400/);
    const { read } = await ask({ pages: 1 });
    const circle = read.map((one) => ({ ...one, pages: [...one.pages, ...one.pages] }));
    expect(shown(judgeApi('acme', circle, t))[1]).toMatch(/^error .* leads to the same rows$/);
  });

  it('a list: its only page is as long as a whole page and names no cursor', async () => {
    const { read } = await ask({ behaviour: { pageSize: 50 }, pages: 1 });
    const missed = read.map((one) => ({ ...one, pages: one.pages.map((page) => ({ ...page, nextCursor: null })) }));
    const [, list] = judgeApi('acme', missed, t);
    expect(list).toMatchObject({ result: 'warning', todo: expect.stringContaining('another name') as string });
  });

  it('a list: names that its descriptor gives and no row has', async () => {
    const list = { ...descriptorOf('people'), name: 'own', modifiedAt: ['changed'], createdAt: ['made', 'born'] };
    const [, own] = await judged({ lists: [list] });
    expect(own).toBe('warning acme: own: "peopleList", 10 and 10 rows; the cursor leads on; not found: made, changed');
    const todos = await judged({ lists: [descriptorOf('todo')], behaviour: { todoNames: 'wild' } });
    expect(todos[1]).toMatch(/^ok acme: todo: "todoList", 10 and 10 rows; the cursor leads on$/);
  });

  it.each<[string, Partial<Behaviour>, readonly string[]]>([
    [
      'a token that is refused',
      { schedules: { unauthorised: {} } },
      ['error acme: token: refused for every list: the API at crm answered 401'],
    ],
    [
      'a token without a right',
      { schedules: { forbidden: { times: 1 } } },
      ['error acme: token: refused for people: the API at crm answered 403', 'ok acme: memo'],
    ],
    [
      'another address',
      { schedules: { 'html-404': {} } },
      ['skipped acme: token: not known', 'error acme: people: the API at crm answered 404', 'error acme: memo'],
    ],
    [
      'an answer that is no page',
      { schedules: { 'listless-200': {} } },
      ['skipped acme: token', 'error acme: people: expected'],
    ],
    [
      'no answer',
      { schedules: { dropped: { times: 1 } } },
      ['ok acme: token', 'error acme: people: the answer of the API at crm stopped', 'ok acme: memo'],
    ],
  ])('%s', async (_, behaviour, expected) => {
    const found = await judged({ behaviour, lists: [descriptorOf('people'), descriptorOf('memo')] });
    expected.forEach((start, nth) => expect(found[nth]).toContain(start));
  });

  it('a quota that is used up, which pauses the budget', async () => {
    const { read, pauses } = await ask({ behaviour: { limitRequests: 1, limitWindowMs: 60_000 } });
    const [, list] = judgeApi('acme', read, t);
    expect(list?.todo).toContain('Other clients use up the quota');
    expect(pauses[0]).toBeGreaterThan(1_000);
  });

  it('no contents of records and no names of custom fields are shown', async () => {
    const lists = LIST_NAMES.map(descriptorOf);
    const { read, sandbox } = await ask({ profile: 'wild', lists });
    const text = JSON.stringify(judgeApi('acme', read, t));
    const records = Object.values(await walkAll(await sandbox.start())).flat();
    const known = LIST_NAMES.flatMap((list) => fieldsOf(list).map(({ name }) => name));
    const custom = new Set(records.flatMap((record) => Object.keys(record)).filter((name) => !known.includes(name)));
    expect(custom.size).toBeGreaterThan(10);
    expect([...custom].filter((name) => text.includes(name))).toEqual([]);
    const values = new Set(
      records.flatMap(textsIn).filter((value) => value.length > 3 && !known.join().includes(value)),
    );
    expect(values.size).toBeGreaterThan(500);
    expect([...values].filter((value) => text.includes(value))).toEqual([]);
  });
});

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
