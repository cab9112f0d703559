/** Configurations that are nearly right: they are loaded, or every problem is said, at its place, without a secret. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { configReport } from '../../src/cli/program.js';
import { loadConfig } from '../../src/config/load.js';
import { ChangefeedError } from '../../src/kit/errors.js';
import { bent, jsonText, torn } from './hostile.js';
import { runs } from './runs.js';

const SECRET = 'leak-me-leak-me-leak-me-leak-me';
const GOOD = {
  redis: { url: 'redis://127.0.0.1:6379', prefix: 'acme' },
  workspaces: [
    {
      ...{ name: 'acme', baseUrl: 'https://crm.example/api', token: SECRET },
      ...{ budget: { requests: 80, perSeconds: 10 }, todos: { dueSoon: '1d' } },
      lists: {
        people: { interval: '1m', ignore: ['메모'] },
        todo: true,
        people_history: true,
        deal: { path: 'v2/deal' },
      },
    },
  ],
  subscriptions: [
    {
      handler: 'webhook',
      name: 'ops',
      on: ['crm.*'],
      url: 'https://ops.example',
      secret: `whsec_${btoa(SECRET)}`,
      retry: { attempts: 3 },
    },
    { handler: 'ndjson', name: 'all', on: ['crm.person.*'], path: 'all.ndjson', where: { 'after.이름': 'x' } },
  ],
  log: { retention: { age: '7d', events: 1_000 } },
  http: { port: 0, tokens: { read: SECRET } },
};

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'changefeed-fuzz-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const text = fc.oneof(
  { weight: 4, arbitrary: bent(GOOD).map((value) => Buffer.from(JSON.stringify(value, null, 1))) },
  { weight: 2, arbitrary: torn(JSON.stringify(GOOD, null, 1)) },
  jsonText.map((json) => Buffer.from(json)),
);

const FOUND = [
  '{"a":'.repeat(2_000) + '1' + '}'.repeat(2_000),
  '['.repeat(20_000),
  '{"workspaces":[{"lists":{"deal":{"path":["v2"]}}}]}',
];

it('fuzz: whatever a configuration file holds, it is loaded, or what is wrong is said without a secret', async () => {
  expect((await loaded(Buffer.from(JSON.stringify(GOOD)))).error).toBeNull();
  await fc.assert(
    fc.asyncProperty(text, async (bytes) => {
      const { error } = await loaded(bytes);
      if (error === null) return;
      expect(error).toBeInstanceOf(ChangefeedError);
      expect(['CF_CONFIG_INVALID', 'CF_CONFIG_UNLOADABLE']).toContain((error as ChangefeedError).code);
      const said = `${(error as Error).message}\n${configReport(error, 100) ?? ''}`;
      expect(said).not.toContain('leak-me');
      expect(said.length).toBeLessThan(50_000);
    }),
    { ...runs({ part: 4 }), examples: FOUND.map((json): [Buffer] => [Buffer.from(json)]) },
  );
});

async function loaded(bytes: Buffer): Promise<{ error: unknown }> {
  writeFileSync(join(cwd, 'changefeed.config.json'), bytes);
  return await loadConfig({ cwd, env: {} }).then(
    () => ({ error: null }),
    (error: unknown) => ({ error }),
  );
}
