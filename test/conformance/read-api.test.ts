import { afterAll, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { SIX_LISTS, type ServedList } from '../../src/ops/server/read-api/lists.js';
import { rowsOfGate } from '../support/night.js';
import { walk, type Target } from '../support/read-api.js';
import { readApiContract } from './read-api-contract.js';

const DEAL: ServedList = { name: 'deal', path: 'v2/deal', key: 'dealList', object: 'deal' };
const LISTS = [...Object.values(SIX_LISTS), DEAL];

const opened: Sandbox[] = [];
afterAll(async () => {
  await Promise.all(opened.map((sandbox) => sandbox.stop()));
});

async function sandboxWith(profile: string): Promise<Target> {
  const sandbox = createSandbox({ people: 60, lists: { deal: 120 }, limit: null, profile });
  opened.push(sandbox);
  return await sandbox.start();
}

for (const profile of rowsOfGate(1, ['wild', 'calm'])) {
  readApiContract(`the sandbox (${profile})`, { strict: true, lists: LISTS, open: () => sandboxWith(profile) });
}

const { CONFORMANCE_BASE_URL: url, CONFORMANCE_TOKEN: token = '' } = process.env;
if (url !== undefined) {
  readApiContract(`the server at ${url}`, { strict: false, open: () => Promise.resolve({ url, token }) });
}

interface Operation {
  operationId: string;
  parameters: unknown[];
}

interface Document {
  paths: Record<string, { get: Operation }>;
}

function clientFrom({ paths }: Document, { url: base, token: bearer }: Target) {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  const call = (path: string) => async (cursor: string | null) => {
    const query = cursor === null ? '' : `?${new URLSearchParams({ cursor }).toString()}`;
    return (await (await fetch(`${base}${path}${query}`, { headers })).json()) as { data: Record<string, unknown> };
  };
  return Object.fromEntries(Object.entries(paths).map(([path, { get }]) => [get.operationId, call(path)]));
}

test('openapi: a client generated from the served document reads all lists', async () => {
  const target = await sandboxWith('calm');
  const document = (await (await fetch(`${target.url}/openapi.json`)).json()) as Document;
  const client = clientFrom(document, target);
  const read: Record<string, number> = {};
  for (const [operation, list] of Object.entries(client)) {
    let cursor: string | null = null;
    do {
      const { data } = await list(cursor);
      const records = Object.values(data).find((value) => Array.isArray(value)) as unknown[];
      read[operation] = (read[operation] ?? 0) + records.length;
      cursor = (data['nextCursor'] as string | null | undefined) ?? null;
    } while (cursor !== null);
  }
  const walked = await Promise.all(LISTS.map(async (list) => (await walk(target, list)).length));
  expect(Object.values(read)).toEqual(walked);
  expect(Object.keys(read)).toEqual([
    'listPerson',
    'listOrganization',
    'listMemo',
    'listTodo',
    'listDealHistory',
    'listPersonActivity',
    'listDeal',
  ]);
});
