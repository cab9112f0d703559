/** A program that embeds the feed, in one file as esbuild makes it: no package is beside it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Format } from 'esbuild';
import { expect, it } from 'vitest';
import { testFolder } from '../support/folder.js';
import { useProcesses } from '../support/process.js';
import { useRedis } from '../support/redis.js';

const root = new URL('../../', import.meta.url).pathname;
const redis = useRedis();
const spawn = useProcesses();

const PROGRAM = `
import { defineHandler, openChangefeed } from 'crm-changefeed';
import { startSandbox } from 'crm-changefeed/testing';

async function run() {
  const sandbox = await startSandbox({ people: 3 });
  let handled = () => undefined;
  const first = new Promise((resolve) => (handled = resolve));
  const feed = await openChangefeed({
    config: {
      workspaces: [{ name: 'bundled', ...sandbox.workspace, lists: { people: { baseline: 'emit' } } }],
      subscriptions: [defineHandler({ name: 'own', on: ['crm.person.snapshot'], handle: ({ type }) => handled(type) })],
      redis: { url: process.env.BUNDLED_REDIS, prefix: process.env.BUNDLED_PREFIX },
      http: { port: 0, tokens: { operate: 'operate-7f1e9a4c02d8b635' } },
    },
    http: true,
  });
  await feed.start();
  const type = await first;
  const { status } = await fetch(feed.pageUrl + '/api/status', { headers: { authorization: 'Bearer operate-7f1e9a4c02d8b635' } });
  await feed.stop();
  await sandbox.stop();
  console.log(type, status);
}
void run();
`;

it.each<[Format, string]>([
  ['esm', 'program.mjs'],
  ['cjs', 'program.cjs'],
])('bundled: a program in one file (%s) polls, handles and serves', async (format, name) => {
  const folder = testFolder();
  writeFileSync(join(folder, 'program.js'), PROGRAM);
  const { errors, warnings } = await build({
    entryPoints: [join(folder, 'program.js')],
    outfile: join(folder, name),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    // As docs/guides/inside-your-service.md says: the form of jsonc-parser that "main" names cannot be bundled.
    mainFields: ['module', 'main'],
    logLevel: 'silent',
    alias: {
      'crm-changefeed/testing/kind': join(root, 'dist/src/testing/kind.js'),
      'crm-changefeed/testing': join(root, 'dist/src/testing/index.js'),
      'crm-changefeed': join(root, 'dist/src/index.js'),
    },
    // Packages of CommonJS within.
    ...(format === 'esm' && {
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
      },
    }),
  });
  expect([errors, warnings.map(({ text }) => text).filter((text) => !text.includes('import.meta'))]).toEqual([[], []]);
  const program = spawn(join(folder, name), {
    cwd: folder,
    env: { BUNDLED_REDIS: redis.url, BUNDLED_PREFIX: redis.keys.prefix },
  });
  expect({ ...(await program.exited), out: program.stdout, err: program.stderr }).toEqual({
    code: 0,
    signal: null,
    out: 'crm.person.snapshot 200\n',
    err: '',
  });
});
