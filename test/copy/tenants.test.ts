import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import { openChangefeed } from '../../src/service/changefeed.js';
import { eventually } from '../support/eventually.js';
import { useRedis, type TestRedis } from '../support/redis.js';
import { startProcess, type TestProcess } from '../support/spawned.js';
import { startWorld, TAKEN_OVER_MS } from './tenants.js';

const RUNS = process.env['TEST_PART'] === 'gate' ? 1 : Math.ceil(Number(process.env['COPY_RUNS'] ?? 60) / 20);
const SEED = Number(process.env['COPY_SEED'] ?? 1);
const ACTS = process.env['TEST_PART'] === 'gate' ? 24 : 40;
const NAMES = ['a', 'b', 'c', 'd'];
const PROCESSES = 3;

const OFF = Object.fromEntries(
  ['organization', 'memo', 'todo', 'history', 'activity'].map((list) => [list, { enabled: false }]),
);
const LISTS = {
  ...OFF,
  people: { baseline: 'emit', removals: { after: '0s', maxCount: 1_000 }, creations: { maxShare: 1 } },
};

async function startHost(test: TestRedis) {
  const world = await startWorld(NAMES);
  const redis = { url: test.url, prefix: test.keys.prefix };
  const config = { workspaces: [], key: randomBytes(32).toString('base64'), redis, http: { enabled: false } };
  const env = { TENANT_CONFIG: JSON.stringify(config), TENANT_HOOKS: world.hooks };
  const start = (): TestProcess => startProcess(new URL('./tenant-child.ts', import.meta.url), { env });
  const processes = Array.from({ length: PROCESSES }, start);
  const { workspaces, ...feed } = await openChangefeed({ config: parseConfig(config, {}) });
  const stop = async (): Promise<void> => {
    await Promise.all([feed.stop(), ...processes.map((one) => one.kill())]);
    world.close();
  };
  onTestFinished(stop);
  await Promise.all(processes.map((one) => one.waitForLine(/^running/)));
  const kill = async (at: number): Promise<void> => {
    await processes[at]?.kill();
    processes[at] = start();
  };
  return { world, workspaces, kill, stop };
}

type Host = Awaited<ReturnType<typeof startHost>>;

/** One customer: what was done last, and how a random act goes on from there. */
function actsOf(name: string, { world, workspaces }: Host) {
  let state: 'none' | 'active' | 'paused' | 'removed' = 'none';
  let tokens = 0;
  const tokenOf = (): string => `${name}-token-${tokens}`;
  const put = async (): Promise<void> => {
    world.allow(name, `${name}-token-${(tokens += 1)}`);
    const options = { baseUrl: world.urlOf(name), token: tokenOf(), data: { hook: name }, lists: LISTS };
    const { state: now } = await workspaces.put(name, options as never);
    state = now as 'active' | 'paused';
  };
  const remove = async (now: boolean): Promise<void> => {
    const removed = workspaces.remove(name, { now });
    world.allow(name, null);
    await removed;
    // All that was found is gone with it, and so is what the host has made of it.
    if (now) world.of(name).copy.clear();
    state = now ? 'none' : 'removed';
  };
  return {
    put,
    async act(chance: number): Promise<void> {
      for (let nth = 0; nth < 3; nth += 1) world.change(name, (chance * 31 + nth / 3) % 1);
      if (state === 'none' || state === 'removed') {
        await put();
        return;
      }
      if (chance < 0.3) return;
      if (chance < 0.5) {
        world.allow(name, `${name}-token-${(tokens += 1)}`);
        await workspaces.rotate(name, tokenOf());
      } else if (chance < 0.65) state = (await workspaces.pause(name)).state as 'paused';
      else if (chance < 0.8) state = (await workspaces.resume(name)).state as 'active';
      else await remove(chance > 0.92);
    },
  };
}

describe('tenants', () => {
  const test = useRedis();

  it(
    `tenants: whoever comes, changes, leaves, or is killed: no token too late, no event at another's, all copies right (${RUNS} runs)`,
    async () => {
      const act = fc.record({
        who: fc.nat(NAMES.length - 1),
        chance: fc.integer({ min: 0, max: 999 }).map((one) => one / 1_000),
      });
      const acts = fc.array(act, { minLength: ACTS, maxLength: ACTS });
      await fc.assert(
        fc.asyncProperty(acts, async (history) => {
          const host = await startHost(test);
          const { world, workspaces, kill } = host;
          const tenants = NAMES.map((name) => actsOf(name, host));
          for (const [at, { who, chance }] of history.entries()) {
            await tenants[who]?.act(chance);
            if (at % 9 === 8) await kill(at % PROCESSES);
          }
          for (const tenant of tenants) await tenant.put();
          for (const name of NAMES) await workspaces.resume(name);
          await eventually(() => expect(NAMES.flatMap((name) => world.differences(name))).toEqual([]));
          for (const name of NAMES) await workspaces.remove(name, { now: true });
          expect(world.wrong).toEqual([]);
          const left = (await test.redis.keys(`${test.keys.prefix}*`)).filter((key) => /:\{?[abcd]\}?(:|$)/.test(key));
          expect([left, await workspaces.list()]).toEqual([[], []]);
          // The next history is on the same Redis.
          await host.stop();
        }),
        { numRuns: RUNS, seed: SEED, endOnFailure: true },
      );
    },
    60_000 + RUNS * 120_000 + TAKEN_OVER_MS,
  );
});
