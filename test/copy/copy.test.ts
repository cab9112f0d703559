/** A receiver's copy is the CRM, or status names what is not: `COPY_RUNS` random histories from `COPY_SEED` on. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { obtainPostgres, type TestPostgres } from '../support/postgres.js';
import { BackedUpRedis } from './redis.js';
import { findFailure, shrink } from './run.js';
import type { Lane } from './world.js';

const RUNS = Number(process.env['COPY_RUNS'] ?? 60);
const SEED = Number(process.env['COPY_SEED'] ?? 1);
const LANES = 4;

let [lanes, postgres]: [Lane[], TestPostgres | null] = [[], null];

beforeAll(async () => {
  postgres = await obtainPostgres();
  if (postgres.outcome === 'none') process.stderr.write(`Copies in PostgreSQL are skipped: ${postgres.reason}.\n`);
  const { url } = { url: null, ...postgres };
  const database = url === null ? null : { url, pool: new pg.Pool({ connectionString: url, max: 4 }) };
  lanes = await Promise.all(
    Array.from({ length: LANES }, async () => ({ redis: await BackedUpRedis.launch(), database })),
  );
});

afterAll(async () => {
  await Promise.all(lanes.map(({ redis }) => redis.close()));
  await lanes[0]?.database?.pool.end();
  if (postgres?.outcome === 'found') await postgres.close();
});

it(`copy: after ${RUNS} random histories each receiver has what the CRM shows, or status names the record`, async () => {
  const failure = await findFailure(lanes, { runs: RUNS, seed: SEED });
  expect(failure === null ? null : await shrink(failure, lanes[0]!)).toBeNull();
}, 3_600_000);
