import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Behaviour } from '../../sandbox/faults/behaviour.js';
import { FAULTS } from '../../sandbox/faults/faults.js';
import { composed, PROFILES } from '../../sandbox/faults/profiles.js';
import type { SandboxOptions } from '../../sandbox/options.js';
import { get, readPage, walk, type Fields } from '../support/read-api.js';
import { served as servedWith } from '../support/sandbox.js';

const served = (behaviour: Partial<Behaviour> = {}, options: SandboxOptions = {}) =>
  servedWith({ ...options, behaviour: { pageSize: 10, ...behaviour } });

const idsOf = (records: Fields[]): string[] => records.map(({ id }) => id);
const always = { every: 1 };

describe('sandbox paging', () => {
  test.each([
    ['null', null],
    ['missing', undefined],
    ['empty-text', ''],
  ] as const)('the last page is marked with "%s"', async (end, said) => {
    const { target } = await served({ end, pageSize: 100 });
    expect((await readPage(target, 'people')).nextCursor).toBe(said);
  });

  test('with "empty-page" the last cursor leads to an empty page', async () => {
    const { target } = await served({ end: 'empty-page', pageSize: 100 });
    const first = await readPage(target, 'people');
    expect(await readPage(target, 'people', first.nextCursor)).toEqual({ records: [], nextCursor: null });
  });

  test('a last-id cursor stays valid when its record is gone, unless the switch says otherwise', async () => {
    const { sandbox, target } = await served();
    const all = idsOf(await walk(target, 'people'));
    const first = await readPage(target, 'people');
    expect(first.nextCursor).toBe(all[9]);
    sandbox.life.delete('people', all[9]);
    expect(idsOf((await readPage(target, 'people', first.nextCursor)).records)).toEqual(all.slice(10, 20));
    sandbox.behave({ cursorOfGoneRecord: 'bad' });
    expect((await get(target, `v2/people?cursor=${all[9] ?? ''}`)).status).toBe(400);
  });

  test('with an offset cursor, a removal makes the next page skip a record', async () => {
    const { sandbox, target } = await served({ cursor: 'offset' });
    const all = idsOf(await walk(target, 'people'));
    const first = await readPage(target, 'people');
    sandbox.life.delete('people', all[3]);
    expect(idsOf((await readPage(target, 'people', first.nextCursor)).records)[0]).toBe(all[11]);
  });

  test('a walk with a snapshot cursor shows the state at its first page, the next walk the current state', async () => {
    const { sandbox, target } = await served({ cursor: 'snapshot' });
    const all = await walk(target, 'people');
    const first = await readPage(target, 'people');
    sandbox.life.editPerson(all[15]?.id, { position: '고문' });
    sandbox.life.delete('people', all[16]?.id);
    expect((await readPage(target, 'people', first.nextCursor)).records).toEqual(all.slice(10, 20));
    const edits = sandbox.journal
      .lines()
      .filter((line) => line.line === 'mutation' && line.cause === 'direct' && line.list === 'people');
    expect(edits).toMatchObject([{ visibleAt: null }, { visibleAt: null }]);
    expect((await walk(target, 'people')).length).toBe(29);
    expect(edits).toMatchObject([
      { visibleAt: expect.any(String) as string },
      { visibleAt: expect.any(String) as string },
    ]);
  });

  test('a single-use cursor is refused the second time, an expiring one after its lifetime', async () => {
    const once = await served({ cursor: 'single-use' });
    const { nextCursor } = await readPage(once.target, 'people');
    await readPage(once.target, 'people', nextCursor);
    await expect(readPage(once.target, 'people', nextCursor)).rejects.toThrow('400');
    const expiring = await served({ cursor: 'expiring', cursorLifetimeMs: 0 });
    const late = (await readPage(expiring.target, 'people')).nextCursor;
    await expect(readPage(expiring.target, 'people', late)).rejects.toThrow('400');
  });

  test('an invalid cursor gets the answer that the switch sets', async () => {
    const { sandbox, target } = await served();
    const first = await readPage(target, 'people');
    const bad = 'v2/people?cursor=no-such-cursor';
    expect(JSON.parse((await get(target, bad)).text)).toMatchObject({ success: false, message: 'Bad Request' });
    sandbox.behave({ badCursor: 'refuse-empty' });
    expect(await get(target, bad)).toMatchObject({ status: 400, text: '' });
    sandbox.behave({ badCursor: 'first-page' });
    expect(await readPage(target, 'people', 'no-such-cursor')).toEqual(first);
    sandbox.behave({ badCursor: 'empty-page' });
    expect(await readPage(target, 'people', 'no-such-cursor')).toEqual({ records: [], nextCursor: null });
  });

  test('a stale replica shows old records, and they do not count as visible', async () => {
    const { sandbox, target } = await served({ pageSize: 100, schedules: { stale: always }, staleMs: 60_000 });
    const before = await walk(target, 'people');
    sandbox.life.editPerson(before[0]?.id, { position: '고문' });
    expect(await walk(target, 'people')).toEqual(before);
    expect(sandbox.journal.lines().find((line) => line.line === 'mutation')).toMatchObject({ visibleAt: null });
    sandbox.behave({ schedules: { stale: { times: 0 } } });
    expect((await walk(target, 'people'))[0]?.['포지션']).toBe('고문');
  });
});

describe('sandbox rate limit', () => {
  test.each([
    ['reason', { reason: '0.316초 후 재시도해주세요.' }],
    ['message', { message: 'Too Many Requests: 0.316초 후 재시도해주세요.' }],
    ['list', { reason: ['0.316초 후 재시도해주세요.'] }],
    ['none', { success: false, message: 'Too Many Requests' }],
  ] as const)('a 429 with the hint "%s"', async (limitHint, said) => {
    const { target } = await served({ limitHint, schedules: { 'rate-limited': always } });
    const { status, text } = await get(target, 'v2/people');
    expect(status).toBe(429);
    expect(JSON.parse(text)).toMatchObject(said);
  });

  test('a 429 can have Retry-After, no body, or an HTML page', async () => {
    const { sandbox, target } = await served({ limitHint: 'header', schedules: { 'rate-limited': always } });
    expect((await get(target, 'v2/people')).headers.get('retry-after')).toBe('1');
    sandbox.behave({ limitHint: 'empty' });
    expect(await get(target, 'v2/people')).toMatchObject({ status: 429, text: '' });
    sandbox.behave({ limitHint: 'html' });
    expect((await get(target, 'v2/people')).text).toMatch(/^<!DOCTYPE html>/);
  });
});

describe('sandbox faults', () => {
  test.each([
    ['unauthorised', 401, 'Unauthorized'],
    ['forbidden', 403, '203.0.113.7'],
    ['html-404', 404, '<!DOCTYPE html>'],
    ['html-502', 502, '<!DOCTYPE html>'],
    ['json-500', 500, '"success":false'],
    ['refused-200', 200, '"success":false'],
    ['listless-200', 200, '{"success":true,"data":{}}'],
  ] as const)('"%s" replaces the page', async (fault, status, said) => {
    const { target } = await served({ schedules: { [fault]: always } });
    const got = await get(target, 'v2/people');
    expect(got.status).toBe(status);
    expect(got.text).toContain(said);
  });

  test('an answer can be an empty 400, half a body, or a closed connection', async () => {
    const { sandbox, target } = await served({ schedules: { 'empty-400': always } });
    expect(await get(target, 'v2/people')).toMatchObject({ status: 400, text: '' });
    sandbox.behave({ schedules: { truncated: always } });
    const { text } = await get(target, 'v2/people');
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    sandbox.behave({ schedules: { dropped: always } });
    await expect(get(target, 'v2/people')).rejects.toThrow();
  });

  test('a stalled body arrives later, an oversized one is padded, a compressed one has its header', async () => {
    const { sandbox, target } = await served({ schedules: { stalled: always }, stallMs: 40, oversizedBytes: 200_000 });
    const started = performance.now();
    const page = await readPage(target, 'people');
    expect(performance.now() - started).toBeGreaterThan(35);
    sandbox.behave({ schedules: { oversized: always } });
    const { text } = await get(target, 'v2/people');
    expect(text.length).toBeGreaterThan(200_000);
    expect(JSON.parse(text)).toMatchObject({ data: { nextCursor: page.nextCursor } });
    sandbox.behave({ schedules: { gzip: always } });
    const compressed = await get(target, 'v2/people');
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(() => gunzipSync(compressed.text)).toThrow();
    expect(JSON.parse(compressed.text)).toMatchObject({ data: { nextCursor: page.nextCursor } });
  });

  test('a scheduled fault occurs as often as its schedule says', async () => {
    const { target } = await served({ schedules: { 'json-500': { every: 3, after: 3, times: 2 } } });
    const statuses: number[] = [];
    for (let request = 1; request <= 13; request++) statuses.push((await get(target, 'v2/people')).status);
    expect(statuses.flatMap((status, nth) => (status === 500 ? [nth + 1] : []))).toEqual([6, 9]);
  });
});

test('sandbox faults: every fault changes a switch and has a unique name', () => {
  const calm = composed([], {});
  for (const { behaviour } of Object.values(FAULTS)) expect(composed([], behaviour)).not.toEqual(calm);
  expect(new Set(PROFILES.map(({ name }) => name)).size).toBe(PROFILES.length);
});
