import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createSandbox, type Sandbox, type SandboxAddress } from '../../sandbox/sandbox.js';
import { parseJournal, withVisibility } from '../../sandbox/verify/read.js';
import { get, walk, walkAll, type Target } from '../support/read-api.js';

const open: Sandbox[] = [];
const directories: string[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.stop()));
  await Promise.all(directories.splice(0).map((path) => rm(path, { recursive: true })));
});

interface Controlled {
  sandbox: Sandbox;
  target: SandboxAddress;
  pull: (method: string, path: string, body?: unknown, token?: string) => Promise<{ status: number; body: unknown }>;
}

async function controlled(): Promise<Controlled> {
  const sandbox = createSandbox({ people: 20, control: { token: 'control-token' } });
  open.push(sandbox);
  const target = await sandbox.start();
  const control = target.control as Target;
  return {
    sandbox,
    target,
    async pull(method, path, body, token = 'control-token') {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await fetch(`${control.url}${path}`, init);
      const text = await response.text();
      return {
        status: response.status,
        body: response.headers.get('content-type')?.startsWith('application/json') === true ? JSON.parse(text) : text,
      };
    },
  };
}

test('sandbox control: the API has its own port and token', async () => {
  const { target, pull } = await controlled();
  expect(target.control?.url).not.toBe(target.url);
  expect((await pull('GET', '/', undefined, 'sandbox')).status).toBe(401);
  expect((await pull('GET', '/')).body).toMatchObject({
    profile: 'calm',
    faults: [],
    rate: 0,
    mutations: 0,
    records: { people: 20 },
  });
  expect((await get({ ...target, token: 'control-token' }, 'v2/people')).status).toBe(401);
});

test('sandbox control: every switch works over HTTP as it does in code', async () => {
  const { sandbox, target, pull } = await controlled();
  expect((await pull('POST', '/step', { count: 3 })).body).toMatchObject({ mutations: 3 });
  expect((await pull('POST', '/step')).body).toMatchObject({ mutations: 4 });
  expect((await pull('PUT', '/profile', { name: 'flaky' })).body).toMatchObject({
    profile: 'flaky',
    faults: ['html-502', 'truncated', 'dropped', 'gzip'],
  });
  expect((await pull('PUT', '/faults/extras')).body).toMatchObject({ behaviour: { extras: true } });
  expect((await pull('DELETE', '/faults/html-502')).body).toMatchObject({
    faults: ['truncated', 'dropped', 'gzip', 'extras'],
  });
  expect((await pull('PATCH', '/behaviour', { pageSize: 3, schedules: { stalled: { every: 5 } } })).body).toMatchObject(
    {
      behaviour: { pageSize: 3, schedules: { stalled: { every: 5 }, truncated: { every: 7 } } },
    },
  );
  expect((await pull('PUT', '/rate', { rate: 2.5 })).body).toMatchObject({ rate: 2.5 });
  await pull('PUT', '/token', { token: 'second' });
  expect(sandbox.token).toBe('second');
  expect((await get(target, 'v2/people')).status).toBe(401);
});

test('sandbox control: an invalid request is refused with its reason and changes nothing', async () => {
  const { sandbox, pull } = await controlled();
  const before = sandbox.behaviour;
  const wrong = [
    await pull('PUT', '/profile', { name: 'no-such' }),
    await pull('PUT', '/faults/no-such'),
    await pull('PATCH', '/behaviour', { pageSize: 0 }),
    await pull('PATCH', '/behaviour', { pagesize: 10 }),
    await pull('POST', '/step', { count: -1 }),
  ];
  expect(wrong.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  expect(JSON.stringify(wrong[0]?.body)).toContain('no-such');
  expect(JSON.stringify(wrong[2]?.body)).toContain('pageSize');
  expect(sandbox.behaviour).toBe(before);
});

test('sandbox journal: the file has the same mutations as the memory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'changefeed-'));
  directories.push(directory);
  const journal = join(directory, 'truth.ndjson');
  const sandbox = createSandbox({ people: 20, limit: null, journal });
  const target = await sandbox.start();
  sandbox.step(40);
  await walkAll(target);
  sandbox.step(5);
  await sandbox.stop();
  const lines = parseJournal(await readFile(journal, 'utf8'));
  const inMemory = sandbox.journal.lines().filter((line) => line.line === 'mutation');
  expect(inMemory.some(({ visibleAt }) => visibleAt !== null)).toBe(true);
  expect(withVisibility(lines)).toEqual(inMemory);
  expect(lines.filter(({ line }) => line === 'walk').length).toBe(6);
});

test('sandbox control: a person sets fields of a record, typed as they are, and its history says who', async () => {
  const { sandbox, target, pull } = await controlled();
  const id = sandbox.world.idOf('people', 3);
  const path = `/records/people/${id}`;
  const values = {
    등급: 'D',
    'VIP 여부': '예',
    '예상 금액': '12,000,000',
    계약일: '2026-03-01',
    담당자: '이도현',
    '주력 제품': '',
  };
  const edited = await pull('POST', path, { values, by: '윤태호' });
  expect(edited).toMatchObject({
    status: 200,
    body: {
      ...{ 등급: 'D', 'VIP 여부': true, '예상 금액': 12_000_000, '예상 금액(만원)': 1_200, '주력 제품': null },
      ...{ 계약일: '2026-02-28T15:00:00.000Z', 담당자: { name: '이도현' } },
    },
  });
  expect((await pull('GET', path)).body).toEqual(edited.body);
  expect(sandbox.journal.lines().at(-1)).toMatchObject({
    id,
    kind: 'set-fields',
    actor: { type: 'user', name: '윤태호' },
  });
  const list = {
    name: 'people/history',
    path: 'v2/people/history',
    key: 'peopleHistoryList',
    object: 'person_history',
  };
  const rows = await walk(target, list);
  expect(rows.filter(({ fieldName }) => fieldName === '등급').at(-1)).toMatchObject({
    ...{ peopleId: id, fieldValue: 'D', source: { type: 'user', name: '윤태호' } },
  });
  // Afterwards others make the changes again.
  expect(sandbox.world.actor).toBeNull();
});

test('sandbox control: what cannot be set is refused with what can, and changes nothing', async () => {
  const { sandbox, pull } = await controlled();
  const path = `/records/people/${sandbox.world.idOf('people', 3)}`;
  const before = (await pull('GET', path)).body;
  const refusals: [values: object, text: string][] = [
    [{ 등굽: 'A' }, 'did you mean "등급"?'],
    [{ '전체 TODO': '3' }, 'no field "전체 TODO" can be set'],
    [{ '첨부/파일': 'x' }, 'can be set'],
    [{ 등급: 'A', '예상 금액': 'much' }, 'allowed: a number'],
    [{ 'VIP 여부': 'maybe' }, 'allowed: true, false'],
    [{ 담당자: '이도헌' }, 'did you mean "이도현"?'],
    [{ 이름: '' }, 'it must have a value'],
  ];
  for (const [values, text] of refusals)
    expect(await pull('POST', path, { values })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(text) as string },
    });
  expect((await pull('POST', '/records/people/nobody', { values: {} })).status).toBe(400);
  expect((await pull('POST', '/records/activity/x', { values: {} })).status).toBe(400);
  expect((await pull('GET', path)).body).toEqual(before);
  expect(sandbox.world.mutations).toBe(0);
});
