/**
 * How long a start snapshot of people into PostgreSQL takes: `POSTGRES_URL=postgres://… npm run bench -- snapshot [--with concurrency=20]`. Each
 * turn is a new subscription into a schema that was dropped before.
 */
import pg from 'pg';
import type { Changefeed } from '../src/actions/feed.js';
import { openChangefeed } from '../src/service/changefeed.js';
import { parseConfig } from '../src/config/parse.js';
import { LIST_NAMES } from '../src/crm/lists/lists.js';
import { silentLog } from '../src/kit/log.js';
import { systemClock } from '../src/kit/clock.js';
import type { Bench } from './support/bench.js';
import { withPages, withRedis } from './support/stage.js';
import { median } from './support/turns.js';

const SCHEMA = 'changefeed_bench';
const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, { enabled: list === 'people' }]));
const budget = { requests: 10_000, perSeconds: 1 };

export const snapshot: Bench = {
  name: 'snapshot',
  does: 'a start snapshot into PostgreSQL (POSTGRES_URL)',
  records: [5_000],
  run: async ({ records: [records = 0], turns, more }) => {
    const url = process.env['POSTGRES_URL'];
    if (url === undefined)
      throw new Error('Set POSTGRES_URL to a database whose schema changefeed_bench may be dropped.');
    const database = new pg.Pool({ connectionString: url, max: 1 });
    const times = await withRedis(
      async (_redis, redisUrl) =>
        await withPages(records, async (pages) => {
          const open = async (subscriptions: readonly object[]): Promise<Changefeed> => {
            const workspaces = [{ name: 'bench', baseUrl: pages.url, token: 'bench', budget, lists }];
            const config = parseConfig({ workspaces, subscriptions }, { source: 'bench', redisUrl });
            return await openChangefeed({ config, log: silentLog, reportsProblems: false });
          };
          const polling = await open([]);
          await polling.sweep({ lists: ['people'] });
          await polling.stop();
          const taken: { ms: number; cpuMs: number }[] = [];
          for (let turn = 0; turn < turns; turn += 1) {
            await database.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
            const mirror = { handler: 'postgres', name: `mirror-${turn}`, url, schema: SCHEMA, start: 'snapshot' };
            const feed = await open([
              more['concurrency'] === undefined ? mirror : { ...mirror, concurrency: Number(more['concurrency']) },
            ]);
            const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
            await feed.start(['dispatch', 'handle']);
            while ((await countRows(database)) < records) await systemClock.sleep(20);
            const { user, system } = process.cpuUsage(cpu);
            taken.push({ ms: performance.now() - startedAt, cpuMs: (user + system) / 1_000 });
            await feed.stop();
          }
          return taken;
        }),
    );
    await database.end();
    const [ms, cpuMs] = [median(times.map((one) => one.ms)), median(times.map((one) => one.cpuMs))];
    const facts = { records, turns, perSecond: Math.round((records / ms) * 1_000), cpuMs: Math.round(cpuMs) };
    return { median: Math.round(ms), unit: 'ms', ratios: {}, goals: {}, facts };
  },
};

async function countRows(database: pg.Pool): Promise<number> {
  const { rows } = await database
    .query<{ count: string }>(`SELECT count(*) FROM ${SCHEMA}.people`)
    .catch(() => ({ rows: [] }));
  return Number(rows[0]?.count ?? 0);
}
