/**
 * A soak: `changefeed start` with a private Redis polls a living sandbox, while everything of an ordinary bad day happens to it
 * in turn. At the end the events its subscription has written are scored against the sandbox's journal, and the
 * service must be healthy.
 *
 *   npm run verify:bad-days -- --minutes 10 --seed 1
 *
 * Before the state is lost on purpose the sandbox rests until all has been reported: what changes between the last sweep and
 * the new baseline is not reported, and says nothing about the soak. Everything else happens while records change.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Status } from '../../src/ops/watch/status.js';
import { addressOf } from '../../src/redis/private/address.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import { orderOf } from '../../sandbox/verify/order.js';
import { scoreEvents } from '../../sandbox/verify/score.js';
import { eventually } from '../support/eventually.js';
import { eventsIn } from '../support/ndjson.js';
import { program } from '../support/program.js';
import { startProcess, type TestProcess } from '../support/spawned.js';

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? 1);
const untilMs = Date.now() + Number(values.minutes ?? 10) * 60_000;
const RATE = 4;
const WAIT = { timeoutMs: 90_000, intervalMs: 250 };

const main = program('src/cli/main');
const folder = await mkdtemp(join(tmpdir(), 'changefeed-bad-days-'));
const stateDir = join(folder, 'state');
const env = { CHANGEFEED_STATE_DIR: stateDir, REDIS_URL: undefined, LOG_LEVEL: 'info' };
const sizes = { people: 60, history: 80, activity: 80, limit: null };
const sandbox = createSandbox({ ...sizes, seed, journalKeep: 1_000_000 });
const other = createSandbox({ ...sizes, seed: seed + 1_000 });
const [here, elsewhere] = [await sandbox.start(), await other.start()];

const HISTORIES = ['people_history', 'organization_history', 'lead_history'];
const configured = (more: { url?: string; token?: string; interval?: string; hasHistories?: boolean } = {}): object => {
  const { url = here.url, token = here.token, interval = '1s', hasHistories = true } = more;
  const names = [...LIST_NAMES, ...(hasHistories ? HISTORIES : [])];
  // What is deleted must be reported before the state is lost: two sweeps, and no waiting.
  const removals = { after: '0s' };
  const lists = Object.fromEntries(names.map((list) => [list, { interval, removals }]));
  const budget = { requests: 100_000, perSeconds: 1 };
  return {
    workspaces: [{ name: 'soak', baseUrl: url, token, budget, lists }],
    subscriptions: [
      { handler: 'ndjson', name: 'records', path: 'records.ndjson', on: ['crm.*'] },
      { handler: 'ndjson', name: 'feed', path: 'feed.ndjson', on: ['changefeed.*'] },
    ],
  };
};
const configure = (more?: Parameters<typeof configured>[0]): Promise<void> =>
  writeFile(join(folder, 'changefeed.config.json'), JSON.stringify(configured(more)));
const start = async (): Promise<TestProcess> => {
  const started = startProcess(main, { args: ['start'], cwd: folder, env });
  await started.waitForLine(/changefeed is running/, 60_000);
  return started;
};
const run = async (...args: string[]): Promise<{ code: number | null; stdout: string }> => {
  const process = startProcess(main, { args, cwd: folder, env });
  const { code } = await process.exited;
  return { code, stdout: process.stdout };
};
const statusNow = async (): Promise<Status> => JSON.parse((await run('status', '--json')).stdout) as Status;
const healthy = (): Promise<void> =>
  eventually(async () => {
    const { code, stdout } = await run('status', '--check');
    if (code !== 0) throw new Error(`status --check exits ${String(code)}:\n${stdout}`);
  }, WAIT);
const problem = (kind: string): Promise<void> =>
  eventually(async () => {
    const { problems } = await statusNow();
    if (!problems.some((one) => one.kind === kind)) throw new Error(`no problem ${kind}: ${JSON.stringify(problems)}`);
  }, WAIT);
const saidAgain = async (words: string, act: () => Promise<void>): Promise<void> => {
  const before = service.stderr.split(words).length;
  await act();
  await eventually(() => {
    if (service.stderr.split(words).length === before) throw new Error(`the log does not say: ${words}`);
  }, WAIT);
};
const restarted = (act: () => Promise<void>): Promise<void> => saidAgain('changefeed is running', act);
/** Every list was swept completely, three times, since now: a removal needs a second sweep. */
const swept = async (): Promise<void> => {
  for (let round = 0; round < 3; round += 1) {
    const from = Date.now();
    await eventually(async () => {
      const { workspaces, subscriptions } = await statusNow();
      const lists = workspaces[0]?.lists ?? [];
      const late = lists.filter(
        ({ lastSweep }) => lastSweep === null || Date.parse(lastSweep.completedAt) - (lastSweep.tookMs ?? 0) < from,
      );
      if (late.length > 0) throw new Error(`not swept: ${late.map(({ list }) => list).join(', ')}`);
      // While records change, the events of now may always be waiting.
      const isOld = (lagSeconds: number): boolean => sandbox.rate === 0 || Date.now() - lagSeconds * 1_000 < from;
      if (subscriptions.some(({ lagEvents, lagSeconds }) => lagEvents !== 0 && isOld(lagSeconds ?? Infinity)))
        throw new Error('events are not handled yet');
    }, WAIT);
  }
};
const resting = async (act: () => Promise<void>): Promise<void> => {
  sandbox.rate = 0;
  await swept();
  await onDisk();
  await act();
  sandbox.rate = RATE;
};
const withRedis = async (act: (redis: Redis) => Promise<unknown>): Promise<void> => {
  const redis = new Redis((await addressOf(stateDir)).url, { retryStrategy: () => null });
  redis.on('error', () => undefined);
  await act(redis).catch(() => undefined);
  redis.disconnect();
};
/** What appendfsync everysec has not written yet would be lost with a kill. A write that is answered under `always` is on the disk. */
const onDisk = async (): Promise<void> => {
  let answer: string | undefined;
  await withRedis(async (redis) => {
    await redis.config('SET', 'appendfsync', 'always');
    answer = await redis.set('bad-days:written', '1');
    await redis.del('bad-days:written');
    await redis.config('SET', 'appendfsync', 'everysec');
  });
  if (answer !== 'OK') throw new Error('Redis did not confirm that its data is on the disk');
};
const lostAgain = async (lose: () => Promise<void>): Promise<void> => {
  await saidAgain('STATE LOST', lose);
  await swept();
};
const restart = async (): Promise<void> => {
  const { code } = await service.kill('SIGTERM');
  if (code !== 0) throw new Error(`the service stopped with ${String(code)}:\n${service.stderr.slice(-2_000)}`);
  service = await start();
};

const acts: Record<string, () => Promise<void>> = {
  async 'another CRM at another address, and back'() {
    await restarted(() => configure({ url: elsewhere.url, token: elsewhere.token }));
    await problem('source.changed');
    await restarted(() => configure());
  },
  FLUSHALL: () => resting(() => lostAgain(() => withRedis((redis) => redis.flushall()))),
  async 'status calls'() {
    await Promise.all(Array.from({ length: 4 }, () => run('status')));
  },
  'a restart without persistence': () =>
    resting(() =>
      lostAgain(() =>
        withRedis(async (redis) => {
          await redis.flushall();
          await redis.shutdown('NOSAVE');
        }),
      ),
    ),
  async 'another interval, and back with a new process'() {
    await restarted(() => configure({ interval: '2s' }));
    await swept();
    await configure();
    await restart();
  },
  'a killed private Redis': () =>
    resting(() =>
      saidAgain('the private Redis ended and was started again', async () => {
        await withRedis(async (redis) => {
          const [, pid = ''] = /process_id:(\d+)/.exec(await redis.info('server')) ?? [];
          process.kill(Number(pid), 'SIGKILL');
        });
      }),
    ),
  async 'lists of history that are refused, lie, are late, and are switched off'() {
    sandbox.behave({ historyLists: '403' });
    await problem('sweep.failed');
    sandbox.behave({ historyLists: 'served', historyRows: 'lying' });
    await swept();
    sandbox.behave({ historyRows: 'late' });
    await restarted(() => configure({ hasHistories: false }));
    await swept();
    sandbox.behave({ historyRows: 'true' });
    await restarted(() => configure());
  },
  async 'a refused token, and the right one'() {
    await restarted(() => configure({ token: 'no-such-token' }));
    await problem('workspace.unauthorized');
    await restarted(() => configure());
  },
};

await configure();
let service = await start();
try {
  await swept();
  sandbox.rate = RATE;
  const done: Record<string, number> = {};
  while (Date.now() < untilMs) {
    for (const [name, act] of Object.entries(acts)) {
      const startedAt = Date.now();
      await act();
      await healthy();
      done[name] = (done[name] ?? 0) + 1;
      process.stderr.write(`${new Date().toISOString()}  ${name}: healthy again after ${Date.now() - startedAt} ms\n`);
    }
  }
  sandbox.rate = 0;
  await swept();
  await healthy();
  report(eventsIn(join(folder, 'records.ndjson')), eventsIn(join(folder, 'feed.ndjson')), done);
} finally {
  await service.kill('SIGTERM');
  await Promise.all([sandbox.stop(), other.stop()]);
  await rm(folder, { recursive: true, force: true });
}

function report(events: readonly ChangeEvent[], feed: readonly ChangeEvent[], done: Record<string, number>): void {
  const score = scoreEvents({ journal: sandbox.journal.lines(), events });
  const { expected, found, falseEvents, repeated, missed, inventions, actors } = score;
  // After a loss every record's sequence begins with 1 again: order is a promise between two losses.
  const losses = feed.filter(({ type }) => type === 'changefeed.state.lost').map(({ time }) => time);
  const parts = [...losses, '9999'].map((end, index) =>
    events.filter(({ data: { observedAt } }) => observedAt < end && observedAt >= (losses[index - 1] ?? '')),
  );
  const orders = parts.map((part) => orderOf(part));
  const sum = (field: 'orderViolations' | 'sequenceGaps'): number =>
    orders.reduce((total, order) => total + order[field], 0);
  const notices: Record<string, number> = {};
  for (const { type } of feed) notices[type] = (notices[type] ?? 0) + 1;
  const result = {
    ...{ seed, acts: done, notices, events: events.length, expected, found, falseEvents, repeated, actors },
    ...{ orderViolations: sum('orderViolations'), sequenceGaps: sum('sequenceGaps') },
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  const wrong = falseEvents + repeated + result.orderViolations + result.sequenceGaps + actors.wrong;
  const isPerfect = found === expected && wrong === 0;
  if (isPerfect) return;
  process.stderr.write(`${JSON.stringify({ missed, inventions }, null, 2)}\n`);
  process.exitCode = 1;
}
