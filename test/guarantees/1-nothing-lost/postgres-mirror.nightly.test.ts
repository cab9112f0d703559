import { describe, expect, it } from 'vitest';
import { LIST_NAMES } from '../../../src/crm/lists/lists.js';
import { useChain, type Chain } from '../../support/chain.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { quoted, useMirrors } from '../../support/mirror.js';
import { useRedis } from '../../support/redis.js';
import { readEverything } from '../../support/api-state.js';

const { absent, admin, rows, schemaName, schema, url } = await useMirrors();

/** A timestamp that moves alone is not a change. */
const STAMPS = ['수정 날짜', 'updatedAt'];
const withoutStamps = (record: object): object =>
  Object.fromEntries(Object.entries(record).filter(([field]) => !STAMPS.includes(field)));

describe.skipIf(absent !== null)('nothing lost: the tables of a mirror', () => {
  const redis = useRedis();
  const chain = useChain();
  const cli = useCli();

  async function starter(world: Chain) {
    const options = { interval: '1s', baseline: 'emit', removals: { after: '0s' } };
    const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, options]));
    const budget = { requests: 10_000, perSeconds: 1 };
    const retry = { attempts: 50, delay: '50ms', maxDelay: '500ms' };
    const config = {
      workspaces: [{ name: 'acme', baseUrl: world.url, token: world.token, budget, lists }],
      subscriptions: [{ handler: 'postgres', name: 'mirror', url, schema: schemaName(), start: 'beginning', retry }],
      redis: { prefix: redis.keys.prefix },
    };
    const folder = await cli({ 'changefeed.config.json': config });
    return () => folder.start(['start'], { REDIS_URL: redis.url });
  }

  async function mirrored(list: string): Promise<Map<string, object>> {
    const found = (await rows('id, data, deleted', list)) as { id: string; data: object | null; deleted: boolean }[];
    expect(found.filter(({ data, deleted }) => deleted !== (data === null))).toEqual([]);
    return new Map(found.flatMap(({ id, data }) => (data === null ? [] : [[id, withoutStamps(data)]])));
  }

  it(
    'nothing lost: the tables equal the CRM after changes, removals, kills and broken connections',
    { timeout: 240_000 },
    async () => {
      const world = await chain({ sandbox: { people: 80, seed: 11 } });
      const start = await starter(world);
      let running = start();
      await eventually(async () => expect((await mirrored('people')).size).toBe(80));

      for (let round = 0; round < 3; round += 1) {
        const written = await newest();
        world.sandbox.life.step(40);
        world.sandbox.life.delete('todo');
        // In the midst of it: something of this round is written, and something is not yet.
        await eventually(async () => expect(await newest()).not.toBe(written));
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'crm-changefeed' AND query LIKE $1`,
          [`%${schema()}%`],
        );
        await running.kill();
        running = start();
      }

      await eventually(
        async () => {
          const shown = await readEverything(world);
          for (const list of LIST_NAMES) {
            const truth = [...shown[list]].map(([id, record]) => [id, withoutStamps(record)] as const);
            expect({ list, rows: await mirrored(list) }).toEqual({ list, rows: new Map(truth) });
          }
        },
        { intervalMs: 500 },
      );
      const { rows: gone } = await admin.query(`SELECT 1 FROM ${schema()}.${quoted('todo')} WHERE deleted`);
      expect(gone.length).toBeGreaterThanOrEqual(3);
    },
  );

  /** What was written last, over all tables. */
  async function newest(): Promise<string> {
    const each = LIST_NAMES.map(
      (list) => `SELECT max(observed_at) AS at, sum(sequence) AS n FROM ${schema()}.${quoted(list)}`,
    );
    const { rows: found } = await admin.query(
      `SELECT max(at)::text || sum(n)::text AS at FROM (${each.join(' UNION ALL ')}) AS t`,
    );
    return (found as { at: string }[])[0]?.at ?? '';
  }
});
