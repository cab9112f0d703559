import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createSandbox, type Sandbox, type SandboxAddress } from '../../sandbox/sandbox.js';
import { parseJournal, withVisibility } from '../../sandbox/verify/read.js';
import { get, walkAll, type Target } from '../support/read-api.js';

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
