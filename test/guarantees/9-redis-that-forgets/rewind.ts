/**
 * One run: a sandbox that changes, processes of the product, and a Redis that goes back to an earlier state. Then it is compared what receivers
 * have with what the lists show: one that applies each event when it arrives, one that keeps the highest sequence of each record, one of these that
 * gets no snapshot, and the tables of `postgres`.
 */
import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { LIST_NAMES } from '../../../src/crm/lists/lists.js';
import { SNAPSHOT_COMPLETE } from '../../../src/events/notices.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { scoreEvents } from '../../../sandbox/verify/score.js';
import { Keys } from '../../../src/redis/keys.js';
import { readEverything, type Shown } from '../../support/api-state.js';
import type { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { openFeed } from '../../support/feed.js';
import { startForgetfulRedis, type Loss } from '../../support/forgetful-redis.js';
import { mirroredRecords, type TestMirrors } from '../../support/mirror.js';
import { eventsIn } from '../../support/ndjson.js';
import type { TestProcess } from '../../support/process.js';
import { missingIn, pendingOf, sweptSince } from '../../support/quiescence.js';
import { foldsOf, isOfRecord, outOfOrderIn, recordsIn, wrongIn } from '../../support/receiver.js';
import { served } from '../../support/sandbox.js';

export interface RewindOptions {
  loss: Loss;
  /** What was acknowledged in these last milliseconds is lost. */
  lostMs: number;
  /** Changes of the CRM, before and after. */
  changes: number;
  perSecond: number;
  seed: number;
  /** The roles of each process. Those that only poll do not follow the log, and know less of it. */
  processes: readonly ('all' | 'poll' | 'dispatch,handle')[];
  /** All processes are killed with Redis, and others are started. `told`: a person then sends snapshots. */
  restarts?: 'none' | 'untold' | 'told';
}

export interface RewindDeps {
  cli: ReturnType<typeof useCli>;
  mirrors: Pick<TestMirrors, 'url' | 'absent' | 'schemaName'>;
  /** Starts one process. @defaultValue the product */
  start?: (folder: string, args: readonly string[], env: Record<string, string>) => TestProcess;
}

export interface Outcome {
  /** Of records that a receiver knows wrongly, or not at all: what is wrong. */
  wrong: Record<'arrival' | 'highest' | 'unsnapped' | 'postgres', string[]>;
  /** Sequences of a record that were used for different contents. */
  usedTwice: string[];
  /** New events whose sequence is not above those of the record that were delivered before. */
  outOfOrder: string[];
  invented: number;
  /** Times that it was reported by an event. */
  reported: number;
  /** Whether within a minute. */
  saidInTime: boolean;
  /** Problems at the end. */
  problems: string[];
  pending: number;
}

/** What the runs are about, for a table. */
export interface Measured {
  changes: number;
  saidMs: number;
  events: number;
}

/** Only a process that ran before knows that something was lost. */
export const rightOf = ({ restarts = 'none' }: RewindOptions): Outcome => ({
  wrong: { arrival: [], highest: [], unsnapped: [], postgres: [] },
  ...{ usedTwice: [], outOfOrder: [], invented: 0 },
  ...{ reported: restarts === 'none' ? 1 : 0, saidInTime: true, problems: [], pending: 0 },
});

const BUDGET = { requests: 1_000, perSeconds: 1 };
const FOR_LONG = { timeoutMs: 300_000, intervalMs: 200 };
const LINES = { snapped: 'snapped.ndjson', unsnapped: 'unsnapped.ndjson' };

export async function rewind(
  options: RewindOptions,
  { cli, mirrors, start }: RewindDeps,
): Promise<{ outcome: Outcome; measured: Measured }> {
  const { loss, lostMs, changes, perSecond, seed, processes, restarts = 'none' } = options;
  const redis = await startForgetfulRedis(loss);
  const { sandbox, target } = await served({ people: 60, history: 60, activity: 60, seed, journalKeep: 1_000_000 });
  const keys = new Keys();
  const schema = mirrors.schemaName();
  const config = configOf(target, { ...mirrors, schema });
  const folder = await cli({ 'changefeed.config.json': config });
  const env = { REDIS_URL: redis.url };
  const startAll = (): TestProcess[] =>
    processes.map((roles) => {
      const args = ['start', ...(roles === 'all' ? [] : ['--only', roles])];
      return start?.(folder.cwd, args, env) ?? folder.start(args, env);
    });
  const written = (file: string): ChangeEvent[] => eventsIn(join(folder.cwd, file));
  const delivered = (): ChangeEvent[] => written(LINES.snapped);

  let running = startAll();
  // Only reads.
  const feed = await openFeed({ url: redis.url, keys }, config);
  const before = await readEverything(target);
  for (const file of Object.values(LINES))
    await eventually(() => expect(wrongIn(recordsIn(foldsOf(written(file)).arrival), before)).toEqual([]), FOR_LONG);
  const mutated = (): number => sandbox.world.mutations;
  const until = (count: number): Promise<void> =>
    eventually(() => expect(mutated()).toBeGreaterThanOrEqual(count), FOR_LONG);

  sandbox.rate = perSecond;
  await until(changes / 3);
  await redis.remember();
  const rememberedMs = Date.now();
  await eventually(() => expect(Date.now() - rememberedMs).toBeGreaterThanOrEqual(lostMs), FOR_LONG);
  // Otherwise no commit is forgotten: on a busy machine, what is delivered may have been committed long before.
  const isForgotten = (event: ChangeEvent): boolean =>
    /^crm\.\w+\.(created|updated|deleted)$/u.test(event.type) && Date.parse(event.data.observedAt) > rememberedMs;
  await eventually(() => expect(delivered().some(isForgotten)).toBe(true), FOR_LONG);
  await redis.die();
  if (restarts !== 'none') await Promise.all(running.map((one) => one.kill()));
  const backMs = Date.now();
  await redis.comeBack();
  if (restarts !== 'none') running = startAll();
  const snapshots = mirrors.absent === null ? ['snapped', 'mirror'] : ['snapped'];
  for (const name of restarts === 'told' ? snapshots : [])
    expect(await folder.call(['snapshot', name], env)).toMatchObject({ code: 0 });
  const isSaid = (): boolean => delivered().some(({ type }) => type === 'changefeed.state.rewound');
  const said = restarts !== 'none' ? Promise.resolve() : eventually(() => expect(isSaid()).toBe(true)).catch(() => 0);
  const saidMs = await said.then(() => Date.now() - backMs);
  await until(changes);
  sandbox.rate = 0;
  // The second walk confirms removals. The removal of a new record waits for longer.
  for (let walk = 0; walk < 3; walk += 1) await sweptSince(feed, Date.now());
  const after = await readEverything(target);
  const isUndone = (one: string): boolean => {
    const known = written(LINES.unsnapped).filter(({ data }) => Date.parse(data.observedAt) <= rememberedMs);
    const record = one.slice(0, one.indexOf(':') + 1);
    return !wrongIn(recordsIn(foldsOf(known).highest), after).some((other) => other.startsWith(record));
  };
  const wrongNow = async () => ({
    arrival: wrongIn(recordsIn(foldsOf(delivered()).arrival), after),
    highest: wrongIn(recordsIn(foldsOf(delivered()).highest), after),
    // Only a snapshot tells what makes no event: that a record is gone which Redis has never known since, and that a change which
    // Redis forgot was undone before it could be read again.
    unsnapped: wrongIn(recordsIn(foldsOf(written(LINES.unsnapped)).highest), after).filter(
      (one) => !one.endsWith(': a ghost') && !isUndone(one),
    ),
    postgres:
      mirrors.absent === null ? (await tablesOf(mirrors.url, schema)).flatMap((shown) => wrongIn(shown, after)) : [],
  });
  const isQuiet = async (): Promise<void> => {
    expect(await missingIn(feed)).toEqual([]);
    expect(await pendingOf(feed)).toBe(0);
    const marks = delivered().filter(({ type }) => type === SNAPSHOT_COMPLETE);
    expect(marks.length).toBe(restarts === 'untold' ? 0 : LIST_NAMES.length);
    // The snapshot for another receiver may not be complete yet.
    if (restarts !== 'untold') expect(await wrongNow()).toEqual(rightOf(options).wrong);
  };
  await eventually(isQuiet, FOR_LONG).catch(() => undefined);
  const wrong = await wrongNow();
  const outcome = judge(delivered(), sandbox.journal.lines());
  const problems = (await feed.status()).problems.map(({ kind }) => kind);
  for (const one of running) await one.kill('SIGTERM');
  return {
    outcome: { ...outcome, wrong, saidInTime: saidMs < 60_000, problems, pending: await pendingOf(feed) },
    measured: { changes: mutated(), saidMs, events: delivered().length },
  };
}

function configOf(
  target: { url: string; token: string },
  { url, absent, schema }: Pick<TestMirrors, 'url' | 'absent'> & { schema: string },
) {
  // On a busy machine, more records come and go between two sweeps than the guards let pass without a person.
  const options = { removals: { after: '1s', maxShare: 1 }, creations: { maxShare: 1 } };
  const lists = Object.fromEntries(LIST_NAMES.map((name) => [name, options]));
  const all = { on: ['crm.*', 'changefeed.*'], start: 'snapshot' };
  const retry = { delay: '50ms', maxDelay: '500ms' };
  return {
    workspaces: [{ name: 'acme', baseUrl: target.url, token: target.token, budget: BUDGET, lists }],
    subscriptions: [
      { handler: 'ndjson', name: 'snapped', path: LINES.snapped, afterRewind: 'snapshot', ...all },
      { handler: 'ndjson', name: 'unsnapped', path: LINES.unsnapped, ...all },
      ...(absent === null
        ? [{ handler: 'postgres', name: 'mirror', url, schema, start: 'snapshot', history: true, retry }]
        : []),
    ],
    http: { enabled: false },
  };
}

async function tablesOf(url: string, schema: string): Promise<Shown[]> {
  const database = new pg.Pool({ connectionString: url });
  return (await mirroredRecords(database, schema, LIST_NAMES).finally(() => database.end())) as unknown as Shown[];
}

function judge(delivered: readonly ChangeEvent[], journal: Parameters<typeof scoreEvents>[0]['journal']) {
  const changes = delivered.filter(isOfRecord);
  const contents = new Map<string, string>();
  const usedTwice = new Set<string>();
  // A snapshot says once more that a record is gone: with the id and the sequence of the event that said so, and without its contents.
  const isOfSnapshot = ({ type, data }: ChangeEvent): boolean =>
    type.endsWith('.snapshot') || (type.endsWith('.deleted') && data.before === null);
  for (const { type, subject, data } of changes.filter((event) => !isOfSnapshot(event))) {
    const one = `${type.split('.')[1] ?? ''} ${subject} ${data.sequence}`;
    const said = JSON.stringify([type, data.before, data.after]);
    if ((contents.get(one) ?? said) !== said) usedTwice.add(one);
    contents.set(one, said);
  }
  const score = scoreEvents({ journal, events: changes, removalAfterMs: 1_000 });
  return {
    usedTwice: [...usedTwice],
    outOfOrder: outOfOrderIn(delivered),
    invented: score.falseEvents,
    reported: delivered.filter(({ type }) => type === 'changefeed.state.rewound').length,
  };
}
