import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createProcessRegistry } from '../../../src/redis/process-registry.js';
import { differences, readEverything } from '../../support/api-state.js';
import { useChain } from '../../support/chain.js';
import { useCli } from '../../support/cli.js';
import { deliveredSequences, expectNoGap, live } from '../../support/delivered.js';
import { eventually } from '../../support/eventually.js';
import { useProcesses, type TestProcess } from '../../support/process.js';
import { program } from '../../support/program.js';
import { useRedis } from '../../support/redis.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A copy of the product that says it has this version. Returns the path of its entry point. */
async function buildOf(version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'changefeed-version-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const entry = relative(ROOT, fileURLToPath(program('src/cli/main')));
  const sources = entry.startsWith('dist') ? ['dist'] : ['src', 'workers'];
  for (const one of [...sources, 'tsconfig.json']) await cp(join(ROOT, one), join(folder, one), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const description = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as object;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...description, version }));
  return join(folder, entry);
}

const TOKEN = 'token-of-the-page-7305918264';

const redis = useRedis();
const chain = useChain();
const spawn = useProcesses();
const cli = useCli();

it(
  'nothing lost: two versions run next to each other, and each event is delivered once, in order and without a gap',
  { timeout: 240_000 },
  async () => {
    const world = await chain({ sandbox: { people: 150, seed: 5 } });
    const config = { ...world.config('1s', redis.keys.prefix), http: { port: 0, tokens: { read: TOKEN } } };
    const { cwd } = await cli({ 'changefeed.config.json': config });
    const [older, newer] = await Promise.all([buildOf('0.1.0'), buildOf('0.2.0')]);
    const start = async (entry: string, version: string): Promise<TestProcess> => {
      const service = spawn(entry, { args: ['start'], cwd, env: { REDIS_URL: redis.url, LOG_LEVEL: 'info' } });
      await service.waitForLine(/changefeed is running/);
      const url = /"url":"([^"]+)"/.exec(service.stderr)?.[1] ?? '';
      expect(await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text()).toContain(
        `changefeed_info{version="${version}"`,
      );
      return service;
    };
    const together = async (): Promise<void> => {
      const registry = createProcessRegistry(redis.redis, redis.keys);
      await eventually(async () => expect(await registry.list()).toHaveLength(2));
    };
    /** Changes that one of the running processes finds and one of them delivers. */
    const changes = async (): Promise<void> => {
      const before = world.deliveries().length;
      live(world.sandbox.life);
      await eventually(() => expect(world.deliveries().length).toBeGreaterThan(before + 5));
    };
    const before = await readEverything(world);
    let running = await start(older, '0.1.0');
    await eventually(() => expect(new Set(running.stderr.match(/"list":"\w+"(?=.*"sweep complete")/g)).size).toBe(6));
    // An update, then back to the earlier version.
    for (const [entry, version] of [
      [newer, '0.2.0'],
      [older, '0.1.0'],
    ] as const) {
      live(world.sandbox.life);
      const next = await start(entry, version);
      await together();
      await changes();
      live(world.sandbox.life);
      expect(await running.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      await changes();
      running = next;
    }

    const truth = differences(before, await readEverything(world));
    const stories = await eventually(() => deliveredSequences(world.changes(), truth), { intervalMs: 250 });
    expectNoGap(stories, truth);
    expect(await running.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const ids = world.deliveries().map(({ id }) => id);
    expect(ids).toHaveLength(new Set(ids).size);
  },
);
