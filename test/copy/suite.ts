/** A receiver's copy is the CRM, or status names what is not: `COPY_RUNS` random histories from `COPY_SEED` on, and those that failed in the past. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { obtainPostgres, type TestPostgres } from '../support/postgres.js';
import type { History } from './history.js';
import { BackedUpRedis } from './redis.js';
import { findFailure, shrink, violationsOf } from './run.js';
import type { Lane } from './world.js';

const RUNS = Number(process.env['COPY_RUNS'] ?? 60);
const IN_GATE = 12;
const SEED = Number(process.env['COPY_SEED'] ?? 1);
/** While one history waits, another computes. */
const LANES = 4;
const PATIENCE_MS = 7_200_000;

/** @param part of how many files this one runs its share: a file has one processor */
export function describeCopies(
  regressions: readonly { found: string; history: History }[],
  part: [at: number, of: number],
): void {
  let [lanes, postgres]: [Lane[], TestPostgres | null] = [[], null];

  beforeAll(async () => {
    postgres = await obtainPostgres();
    if (postgres.outcome === 'none') process.stderr.write(`Copies in PostgreSQL are skipped: ${postgres.reason}.\n`);
    const url = postgres.outcome === 'found' ? postgres.url : null;
    const database = url === null ? null : { url, pool: new pg.Pool({ connectionString: url, max: LANES }) };
    const launches = Array.from({ length: LANES }, () => BackedUpRedis.launch());
    lanes = (await Promise.all(launches)).map((redis) => ({ redis, database }));
  });

  afterAll(async () => {
    await Promise.all(lanes.map(({ redis }) => redis.close()));
    await lanes[0]?.database?.pool.end();
    if (postgres?.outcome === 'found') await postgres.close();
  });

  it.each(regressions)('copy: $found', async ({ history }) => {
    expect(await violationsOf(history, lanes[0]!)).toEqual([]);
  });

  const [at, of] = part;
  // The gate runs the histories that have failed before, and few others.
  const runs = process.env['TEST_PART'] === 'gate' ? IN_GATE : Math.ceil(RUNS / of);
  it(
    `copy: after each of ${runs} random histories, a receiver has what the CRM shows, or status names the record`,
    async () => {
      const failure = await findFailure(lanes, { runs, seed: SEED + at * runs });
      expect(failure === null ? null : await shrink(failure, lanes[0]!)).toBeNull();
    },
    PATIENCE_MS,
  );
}
