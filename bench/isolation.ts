/**
 * What a tenth subscription costs the first nine: a dispatcher in one process, each subscription's handlers in a process of
 * their own, events at a fixed rate. Phases in turns: nine alone; and with a tenth that is fast, slow (a second per
 * event), failing (every try), or paused. Medians over the rounds of
 *   p50, p99    from the log to the handlers of the nine, milliseconds
 *   cpuMs       processor time of the nine processes per event and subscription
 *   handling    commands the nine processes send to Redis per event and subscription
 *   dispatching commands the dispatcher sends per event, for all its subscriptions
 *   readings    of the log, per event, for all subscriptions
 *
 * Usage: npm run bench -- isolation [events per second] [seconds per phase] [rounds]
 */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { queueOptions } from '../src/delivery/queues.js';
import { isoTime, systemClock } from '../src/kit/clock.js';
import { Keys } from '../src/redis/keys.js';
import { appendEvents, changeEvent } from '../test/support/events.js';
import { launchRedis } from '../test/support/private-redis.js';
import { startProcess, type TestProcess } from '../test/support/spawned.js';
import type { IsolationTask } from './support/isolation-child.js';

const [rate = 40, seconds = 6, rounds = 5] = process.argv.slice(2).map(Number);
const RECORDS = 200;
const WAYS = ['nine', 'fast', 'slow', 'failing', 'paused'] as const;
type Way = (typeof WAYS)[number];

const server = await launchRedis({ settings: ['appendonly no'] });
const redis = new Redis(server.url, { maxRetriesPerRequest: null });
const keys = new Keys('bench');
const child = new URL(`./support/isolation-child${extname(import.meta.url)}`, import.meta.url);
const nine = Array.from({ length: 9 }, (_, n) => `sub${n + 1}`);

async function launch(role: IsolationTask['role'], subscriptions: string[]): Promise<TestProcess> {
  const whole: IsolationTask = { url: server.url, prefix: keys.prefix, role, subscriptions };
  const launched = startProcess(child, { env: { ISOLATION_TASK: JSON.stringify(whole) } });
  await launched.waitForLine(/^running/, 60_000);
  return launched;
}

interface Used {
  cpuMs: number;
  handling: number;
  dispatching: number;
  readings: number;
}

interface Measured extends Used {
  p50: number;
  p99: number;
}

const asked = new Map<TestProcess, number>();

/** Commands a process has sent so far. */
async function commandsOf(one: TestProcess): Promise<number> {
  const times = (asked.get(one) ?? 0) + 1;
  asked.set(one, times);
  process.kill(one.pid, 'SIGUSR2');
  return Number((await one.waitForLine(new RegExp(`^asked ${times}: `), 60_000)).split(': ')[1]);
}

let phases = 0;
async function measure(way: Way, handlers: readonly TestProcess[]): Promise<Measured> {
  const phase = `p${(phases += 1)}`;
  const tenth = way === 'nine' ? [] : [`tenth-${way}-${phase}`];
  const dispatcher = await launch('dispatch', [...nine, ...tenth]);
  const tenthHandlers = await Promise.all(tenth.map((name) => launch('handle', [name])));
  const queues = tenth.map((name) => new Queue(name, queueOptions(name, { keys, redis })));
  if (way === 'paused') await Promise.all(queues.map((queue) => queue.pause()));
  const before = await readStats(handlers, dispatcher);
  await appendAtRate(phase);
  const waits = await heardFrom(phase, handlers);
  const after = await readStats(handlers, dispatcher);
  await Promise.all([dispatcher, ...tenthHandlers].map((one) => one.kill('SIGTERM')));
  await Promise.all(queues.map((queue) => queue.close()));
  const events = rate * seconds;
  const handled = events * handlers.length;
  return {
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    cpuMs: (after.cpuMs - before.cpuMs) / handled,
    handling: (after.handling - before.handling) / handled,
    dispatching: (after.dispatching - before.dispatching) / events,
    readings: (after.readings - before.readings) / events,
  };
}

async function readStats(handlers: readonly TestProcess[], dispatcher: TestProcess): Promise<Used> {
  const sent = await Promise.all(handlers.map(commandsOf));
  return {
    cpuMs: handlers.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0),
    handling: sent.reduce((sum, one) => sum + one, 0),
    dispatching: await commandsOf(dispatcher),
    readings: Number(/cmdstat_xrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0),
  };
}

/** Linux only: user and system time, in the kernel's ticks of 10 ms. */
function cpuMsOf(pid: number): number {
  const [, , , , , , , , , , , user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .map(Number);
  return (user + system) * 10;
}

const sequences = new Map<string, number>();
async function appendAtRate(phase: string): Promise<void> {
  const startedAt = systemClock.now();
  for (let n = 0; n < rate * seconds; n += 1) {
    await systemClock.sleep(Math.max(0, startedAt + (n * 1_000) / rate - systemClock.now()));
    const record = `${phase}-r${n % RECORDS}`;
    const sequence = (sequences.get(record) ?? 0) + 1;
    sequences.set(record, sequence);
    const event = changeEvent({ record, sequence, weight: 1_500 });
    await appendEvents({ redis, keys }, [
      { ...event, data: { ...event.data, observedAt: isoTime(systemClock.now()) } },
    ]);
  }
}

/** All nine have handled all of it when no more comes: the last of a phase are said with the next, so they are left out. */
async function heardFrom(phase: string, handlers: readonly TestProcess[]): Promise<number[]> {
  const heard = (): number[] =>
    handlers.flatMap(({ stdout }) =>
      stdout.split('\n').flatMap((line) => (line.startsWith(`${phase} `) ? line.split(' ').slice(1).map(Number) : [])),
    );
  const wanted = handlers.length * Math.floor((rate * seconds) / 50) * 50;
  while (heard().length < wanted) await systemClock.sleep(100);
  return heard();
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const handlers: TestProcess[] = [];
try {
  for (const name of nine) handlers.push(await launch('handle', [name]));
  await measure('nine', handlers);
  const results = new Map<Way, Measured[]>(WAYS.map((way) => [way, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const way of WAYS) results.get(way)?.push(await measure(way, handlers));
  }
  const median = (way: Way, of: keyof Measured): number =>
    Number(
      quantile(
        (results.get(way) ?? []).map((one) => one[of]),
        0.5,
      ).toFixed(2),
    );
  const table = WAYS.map((way) => {
    const columns = (['p50', 'p99', 'cpuMs', 'handling', 'dispatching', 'readings'] as const).map((of) => [
      of,
      median(way, of),
    ]);
    return [way, Object.fromEntries(columns) as Record<string, number>];
  });
  console.log(JSON.stringify({ rate, seconds, rounds, ...Object.fromEntries(table) }, null, 2));
} finally {
  await Promise.all(handlers.map((one) => one.kill('SIGKILL')));
  redis.disconnect();
  await server.close();
}
