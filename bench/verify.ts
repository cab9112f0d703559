/**
 * How long the comparison of a copy takes, and how much memory: `POSTGRES_URL=postgres://… npm run bench -- verify --records 1000000`. The records
 * are written into Redis and PostgreSQL as a sweep and a snapshot would have; then `verify` reads the tables, and a file, each time in a process of its own.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { parseConfig } from '../src/config/parse.js';
import { LIST_NAMES } from '../src/crm/lists/lists.js';
import { packRecord } from '../src/feed/store/packing.js';
import { silentLog } from '../src/kit/log.js';
import { DEFAULT_PREFIX, Keys, recordField } from '../src/redis/keys.js';
import { openChangefeed } from '../src/service/changefeed.js';
import type { Bench } from './support/bench.js';
import { person } from './support/person.js';
import { withPages, withRedis } from './support/stage.js';
import { rounded } from './support/turns.js';
import { verifyApart } from './support/verifier.js';

const SCHEMA = 'changefeed_bench';
const STEP = 1_000;
const SWEPT = 100;
const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, { enabled: list === 'people' }]));

const idOf = (number: number): string => `0190b3c4-7f2e-7c1d-9a51-${number.toString(16).padStart(12, '0')}`;

export const verify: Bench = {
  name: 'verify',
  does: 'the comparison of a copy in PostgreSQL (POSTGRES_URL), and in a file',
  records: [100_000],
  run: async ({ records: [records = 0] }) => {
    const url = process.env['POSTGRES_URL'];
    if (url === undefined)
      throw new Error('Set POSTGRES_URL to a database whose schema changefeed_bench may be dropped.');
    const database = new pg.Pool({ connectionString: url, max: 1 });
    const folder = await mkdtemp(join(tmpdir(), 'changefeed-bench-'));
    const file = join(folder, 'rows.csv');
    const found = await withRedis(
      async (redis, redisUrl) =>
        await withPages(SWEPT, async (pages) => {
          await database.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
          const workspaces = [{ name: 'bench', baseUrl: pages.url, token: 'bench', lists }];
          const subscriptions = [{ handler: 'postgres', name: 'mirror', url, schema: SCHEMA, start: 'snapshot' }];
          const raw = { workspaces, subscriptions };
          const config = parseConfig(raw, { source: 'bench', redisUrl });
          const feed = await openChangefeed({ config, log: silentLog, reportsProblems: false });
          await feed.sweep({ lists: ['people'] });
          await feed.start(['dispatch', 'handle']);
          await feed.waitUntilHandled({ timeoutMs: 60_000 });
          const out = createWriteStream(file);
          out.write('list,id,sequence\n');
          const hash = new Keys(DEFAULT_PREFIX).records('bench', 'people');
          for (let at = 0; at < records; at += STEP) {
            const ids = Array.from({ length: Math.min(STEP, records - at) }, (_, index) => idOf(at + index));
            const image = JSON.stringify(person(at));
            // One for all of a step, since packing takes most of the time: the contents of records that are equal are not read.
            const packed = packRecord(ids[0] ?? '', { digest: '0123456789abcdef', sequence: 0, image });
            await redis.hset(hash, ...ids.flatMap((id) => [recordField(id), packed]));
            if (!out.write(ids.map((id) => `people,${id},0\n`).join(''))) await once(out, 'drain');
          }
          out.end();
          await once(out, 'finish');
          await database.query(
            `INSERT INTO ${SCHEMA}.people ("workspace", "id", "data", "sequence", "observed_at")
               SELECT 'bench', '0190b3c4-7f2e-7c1d-9a51-' || lpad(to_hex(n), 12, '0'), '{}', 0, now() FROM generate_series(0, $1::int - 1) n`,
            [records],
          );
          await feed.stop();
          const tables = await verifyApart({ raw, redisUrl });
          return { tables, file: await verifyApart({ raw, redisUrl, file }) };
        }),
    );
    await database.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
    await database.end();
    await rm(folder, { recursive: true, force: true });
    const cpuUsPerRecord = (cpuMs: number): number => rounded((cpuMs / records) * 1_000, 1);
    const facts = Object.fromEntries(
      Object.entries(found).map(([name, { cpuMs, ...rest }]) => [
        name,
        { ...rest, cpuUsPerRecord: cpuUsPerRecord(cpuMs) },
      ]),
    );
    return { median: found.tables.ms, unit: 'ms', ratios: {}, goals: {}, facts: { records, ...facts } };
  },
};
