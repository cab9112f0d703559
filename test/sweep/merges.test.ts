/** Two people who were one: what the API shows of it, against what the sandbox's journal knows. */
import { describe, expect, it } from 'vitest';
import type { ReadApi } from '../../src/api/read-api.js';
import { compileRules } from '../../src/detect/rules.js';
import { LIST_NAMES } from '../../src/events/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLog } from '../../src/runtime/log.js';
import { createSandbox, type Sandbox } from '../../src/server/sandbox/sandbox.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import { sweepList } from '../../src/sweep/runner.js';
import { useRedis } from '../support/redis.js';

const SEEDS = Number(process.env['MERGE_SEEDS'] ?? 4);

/** The world itself as the API: every list on one page. */
const apiOver = ({ world }: Sandbox): ReadApi => ({
  fetchPage: (list) => {
    const records = world
      .order(list)
      .slice(0, Infinity)
      .map((index) => ({ ...world.image(list, index)! }));
    return Promise.resolve({ list, records, nextCursor: null, bytes: 0 });
  },
  close: () => Promise.resolve(),
});

describe('a merge of people', () => {
  const redis = useRedis();

  async function lifeOf(seed: number): Promise<{ told: [string, string][]; wrong: string[]; merges: number }> {
    let minutes = 0;
    const clock = { ...systemClock, now: () => Date.UTC(2026, 2, 1) + minutes * 60_000 };
    const sandbox = createSandbox({ people: 40, memos: 80, todos: 80, history: 5, activity: 40, seed, clock });
    const workspace = `w${seed}`;
    const store = createSweepStore(redis.redis, redis.keys, workspace);
    const deps = { workspace, api: apiOver(sandbox), store, clock, log: silentLog };
    const removals = { confirm: 2, maxShare: 1, maxCount: 1_000 };
    const round = async (): Promise<void> => {
      minutes += 5;
      for (const list of LIST_NAMES)
        await sweepList(deps, { list, rules: compileRules(list), baseline: 'quiet', removals });
    };
    await round();
    for (let rounds = 0; rounds < 8; rounds += 1) {
      minutes += 1;
      // Everything that looks like a merge and is none happens beside those that are.
      for (let times = 0; times < 3; times += 1) sandbox.life.relinkTodo();
      sandbox.step(6);
      if (rounds % 2 === 0) sandbox.life.mergePeople();
      if (rounds % 3 === 0) sandbox.life.mergePeople();
      await round();
    }
    await round();
    await round();
    const truth = mergesIn(sandbox);
    const told = await toldOf(workspace);
    const wrong = told.filter(([gone, kept]) => truth.get(gone) !== kept).map((pair) => pair.join(' → '));
    return { told, wrong, merges: truth.size };
  }

  function mergesIn({ journal }: Sandbox): Map<string, string> {
    const lines = journal.lines().flatMap((line) => (line.line === 'mutation' && line.list === 'people' ? [line] : []));
    const merged = lines.filter(({ kind, after }) => kind === 'merge-people' && after === null);
    return new Map(
      merged.map(({ id, mutation }) => {
        const kept = lines.find((one) => one.mutation === mutation && one.after !== null && one.cause === 'direct');
        return [id, kept?.id ?? ''];
      }),
    );
  }

  async function toldOf(workspace: string): Promise<[string, string][]> {
    const entries = await redis.redis.xrange(redis.keys.log(workspace), '-', '+');
    return entries.flatMap(([, [, json = '']]): [string, string][] => {
      const { subject, data } = JSON.parse(json) as ChangeEvent;
      return data.mergedInto === undefined ? [] : [[subject, data.mergedInto]];
    });
  }

  it('names the survivor only where that is true, in any workspace', { timeout: 600_000 }, async () => {
    const lives = [];
    for (let seed = 1; seed <= SEEDS; seed += 1) lives.push(await lifeOf(seed));
    expect(lives.flatMap(({ wrong }) => wrong)).toEqual([]);
    const told = lives.reduce((sum, life) => sum + life.told.length, 0);
    const merges = lives.reduce((sum, life) => sum + life.merges, 0);
    if (process.env['MERGE_SEEDS'] !== undefined) process.stderr.write(`${told} of ${merges} merges told\n`);
    expect(told).toBeGreaterThan(SEEDS / 4);
  });
});
