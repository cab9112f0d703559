/**
 * Many small workspaces, each at its whole budget: how late changes are, what a request costs, how long `status` takes, and what a process says that has
 * too little processor. Fifty workspaces read one sandbox, all in a process of their own, so one change is to be noticed in each of the fifty.
 *
 *     npm run bench -- many --with workspaces=200 --with seconds=60 --with rate=0.2 [--with core=1] [--with cpu=0.5] [--with processes=2]
 *                           [--with interval=1h] [--with requests=400] [--with redis=cluster] [--with profile=DIR] [--with noisy=200000]
 *
 * `core` pins the service to one core, and the rest to the others; `cpu` is a share of a core for each process, given by a cgroup (Linux, as root);
 * `noisy` adds a workspace of so many records with 50 changes a second, and a receiver that is down; the delays are those of the others.
 * `requests` is the budget of each workspace per 10 s; `redis=cluster` are three servers.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/kit/clock.js';
import { openClient, parseRedisUrl, serversOf, type Redis } from '../src/redis/client.js';
import { Keys } from '../src/redis/keys.js';
import { launchCluster } from '../test/support/redis-cluster.js';
import type { Bench } from './support/bench.js';
import type { ApiStats, DownloadStats, FeedStats, ManyTask, StatusStats } from './support/many-child.js';
import { builtInLists, LIST_NAMES } from '../src/crm/lists/lists.js';
import { withRedis } from './support/stage.js';
import { quantile, rounded } from './support/turns.js';

const WORKSPACES_PER_SERVER = 50;
const POLLED: ReadonlySet<string> = new Set(LIST_NAMES);

export const many: Bench = {
  name: 'many',
  does: 'many small workspaces: delay of changes, cost of a request, time of status, also with too little processor',
  records: [500],
  run: async ({ records: [records = 500], more }) =>
    await withServers(more['redis'] === 'cluster', async (redis, redisUrl) => {
      const seconds = Number(more['seconds'] ?? 60);
      const names = Array.from({ length: Number(more['workspaces'] ?? 200) }, (_, nth) => `w${nth}`);
      const servers = Math.ceil(names.length / WORKSPACES_PER_SERVER);
      const api = await launch({ role: 'api', records, servers, redisUrl, raw: {} }, more);
      if (more['core'] !== undefined)
        for (const info of await infoOf(redis)) pin(Number(/process_id:(\d+)/.exec(info)?.[1]), others(more));
      const urls = api.started as { url: string; token: string }[];
      const lists = Object.fromEntries(
        [...POLLED].map((list) => [list, { ...(more['interval'] && { interval: more['interval'] }) }]),
      );
      const raw = {
        workspaces: names.map((name, nth) => {
          const { url = '', token = '' } = urls[nth % servers] ?? {};
          const budget = more['requests'] && { requests: Number(more['requests']), perSeconds: 10 };
          return { name, baseUrl: url, token, lists, ...(budget && { budget }) };
        }),
        subscriptions: [{ handler: 'ndjson', name: 'all', path: '/dev/null' }] as object[],
        http: { enabled: false },
      };
      const task: ManyTask = { role: 'feed', records, servers, redisUrl, raw };
      const loud = await addNoisy(raw, { lists, redisUrl }, more);
      const startedMs = systemClock.now();
      const feeds = await Promise.all(Array.from({ length: Number(more['processes'] ?? 1) }, () => launch(task, more)));
      const [first] = feeds;
      if (first === undefined) throw new Error('no process');
      const withinMs = Number(more['within'] ?? 285) * 1_000;
      let status = await first.ask<StatusStats>('status');
      while (status.baselines < status.lists && systemClock.now() - startedMs < withinMs) {
        await systemClock.sleep(2_000);
        status = await first.ask<StatusStats>('status');
      }
      const baseline = {
        seconds: rounded((systemClock.now() - startedMs) / 1_000, 1),
        done: status.baselines,
        of: status.lists,
      };
      await systemClock.sleep(5_000);
      const before = await read({ api, feeds, redis });
      const fromMs = systemClock.now();
      await api.ask<ApiStats>('rate', { rate: Number(more['rate'] ?? 0.2) });
      await loud?.ask<ApiStats>('rate', { rate: NOISE });
      await systemClock.sleep(seconds * 1_000);
      const tillMs = systemClock.now();
      const after = await read({ api, feeds, redis });
      const busy: number[] = [];
      for (let nth = 0; nth < 3; nth += 1) busy.push((await first.ask<StatusStats>('status')).ms);
      // What was changed last is noticed in this time, or counts as late.
      await systemClock.sleep(Number(more['tail'] ?? 30) * 1_000);
      const delays = await delaysOf(redis, { names, api: await api.ask<ApiStats>('stats'), fromMs, tillMs });
      const end = await first.ask<StatusStats>('status');
      const { msPerRequest: downloadMs } = await first.ask<DownloadStats>('download');
      for (const one of feeds) await one.end();
      await api.end();
      await loud?.end();
      const requests = after.requests - before.requests;
      return {
        median: delays.p95,
        unit: 'seconds, p95 of the delay',
        ratios: { download: rounded(sum(after.cpuMs, before.cpuMs) / requests / downloadMs, 1) },
        goals: {},
        facts: {
          ...{ workspaces: names.length, records, seconds, cores: cpus().length, options: more },
          baseline,
          delays,
          requestsPerSecond: rounded(requests / seconds, 1),
          downloadCpuMsPerRequest: rounded(downloadMs, 3),
          cpuMsPerRequest: rounded(sum(after.cpuMs, before.cpuMs) / requests, 3),
          cores_used: after.cpuMs.map((ms, at) => rounded((ms - (before.cpuMs[at] ?? 0)) / 1_000 / seconds)),
          redis: {
            commandsPerSecond: rounded((after.commands - before.commands) / seconds, 1),
            // One for each server.
            cores: after.redisCpu.map((used, at) => rounded((used - (before.redisCpu[at] ?? 0)) / seconds)),
            memoryMb: after.memoryMb,
            calls: Object.fromEntries(
              Object.entries(after.calls)
                .map(([name, calls]) => [name, rounded((calls - (before.calls[name] ?? 0)) / seconds, 1)] as const)
                .filter(([, calls]) => calls >= 1)
                .sort(([, one], [, other]) => other - one),
            ),
          },
          statusMs: busy,
          problems: end.problems,
          eventLoop: after.feeds.map(({ delayMs }) => delayMs),
          rssMb: after.feeds.map(({ rssMb }) => rssMb),
          logged: after.feeds.map(({ logged }) => logged),
        },
      };
    }),
};

/** Changes a second. */
const NOISE = 50;

/** Its own server, and a subscription whose receiver refuses every connection. */
async function addNoisy(
  raw: { workspaces: object[]; subscriptions: object[] },
  { lists, redisUrl }: { lists: object; redisUrl: string },
  more: Readonly<Record<string, string>>,
): Promise<Child | null> {
  if (more['noisy'] === undefined) return null;
  const loud = await launch({ role: 'api', records: Number(more['noisy']), servers: 1, redisUrl, raw: {} }, more);
  const [started] = loud.started as { url: string; token: string }[];
  raw.workspaces.push({ name: 'noisy', baseUrl: started?.url, token: started?.token, lists });
  const where = { url: 'https://127.0.0.1:9/', allowHosts: ['127.0.0.1'], workspaces: ['noisy'] };
  const secret = `whsec_${Buffer.alloc(32, 'a').toString('base64')}`;
  raw.subscriptions.push({ handler: 'webhook', name: 'down', on: ['crm.*'], secret, ...where });
  return loud;
}

function sum(after: readonly number[], before: readonly number[]): number {
  return total(after) - total(before);
}

async function read({ api, feeds, redis }: { api: Child; feeds: readonly Child[]; redis: Redis }) {
  const stats = await Promise.all(feeds.map((one) => one.ask<FeedStats>('stats')));
  const { requests } = await api.ask<ApiStats>('stats');
  const infos = await infoOf(redis);
  const number = (pattern: RegExp): number[] => infos.map((info) => Number(pattern.exec(info)?.[1] ?? 0));
  const calls: Record<string, number> = {};
  for (const [, name = '', count] of infos.join('\n').matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm))
    calls[name] = (calls[name] ?? 0) + Number(count);
  const systemCpu = number(/used_cpu_sys:([\d.]+)/);
  return {
    feeds: stats,
    requests,
    cpuMs: stats.map(({ cpuMs }) => cpuMs),
    commands: total(number(/total_commands_processed:(\d+)/)),
    redisCpu: number(/used_cpu_user:([\d.]+)/).map((user, at) => user + (systemCpu[at] ?? 0)),
    memoryMb: rounded(total(number(/used_memory:(\d+)/)) / 1e6, 1),
    calls,
  };
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

async function withServers<T>(isCluster: boolean, use: (redis: Redis, url: string) => Promise<T>): Promise<T> {
  if (!isCluster) return await withRedis(use);
  const cluster = await launchCluster();
  const redis = openClient(parseRedisUrl(cluster.url), {});
  try {
    return await use(redis, cluster.url);
  } finally {
    redis.disconnect();
    await cluster.close();
  }
}

/** One text for each server. */
async function infoOf(redis: Redis): Promise<string[]> {
  return await Promise.all((await serversOf(redis)).map((server) => server.info('everything')));
}

/** From the change in the API to its event in the log. */
async function delaysOf(
  redis: Redis,
  { names, api, fromMs, tillMs }: { names: readonly string[]; api: ApiStats; fromMs: number; tillMs: number },
) {
  const keys = new Keys();
  const changes = api.changes.map((own) =>
    own.filter(({ list, atMs }) => POLLED.has(list) && atMs >= fromMs && atMs < tillMs),
  );
  const delays: number[] = [];
  const means: number[] = [];
  let missing = 0;
  for (const [nth, name] of names.entries()) {
    const noticed = new Map<string, number[]>();
    for (const [id, [, json = '{}']] of (await redis.xrange(keys.log(name), '-', '+')) as [string, string[]][]) {
      const { type, subject } = JSON.parse(json) as { type: string; subject: string };
      const key = `${builtInLists.byObject(type.split('.')[1] ?? '')?.name ?? ''} ${subject}`;
      noticed.set(key, [...(noticed.get(key) ?? []), Number(id.split('-')[0])]);
    }
    const own: number[] = [];
    for (const { list, id, atMs } of changes[nth % changes.length] ?? []) {
      const seenMs = noticed.get(`${list} ${id}`)?.find((ms) => ms >= atMs);
      if (seenMs === undefined) missing += 1;
      else own.push((seenMs - atMs) / 1_000);
    }
    delays.push(...own);
    means.push(own.reduce((total, one) => total + one, 0) / own.length);
  }
  const at = (share: number): number => rounded(quantile(delays, share), 1);
  const means95 = [rounded(quantile(means, 0), 1), rounded(quantile(means, 1), 1)];
  // Changes of nothing but a time, and those that a later one has covered, have no event of their own.
  return {
    changes: changes.flat().length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    max: at(1),
    missing,
    means: means95,
  };
}

interface Child {
  started: unknown;
  ask<T>(what: string, more?: object): Promise<T>;
  end(): Promise<void>;
}

async function launch(task: ManyTask, more: Readonly<Record<string, string>>): Promise<Child> {
  const script = fileURLToPath(new URL(`./support/many-child${extname(import.meta.url)}`, import.meta.url));
  const isFeed = task.role === 'feed';
  const profile = isFeed && more['profile'] !== undefined ? ['--cpu-prof', `--cpu-prof-dir=${more['profile']}`] : [];
  const core = more['core'] === undefined ? [] : ['taskset', '-c', isFeed ? more['core'] : others(more)];
  const [command, ...args] = [...core, process.execPath, ...profile, script];
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(task);
  const release = isFeed && more['cpu'] !== undefined ? throttle(child, Number(more['cpu'])) : () => undefined;
  const [started] = (await once(child, 'message')) as [unknown];
  return {
    started,
    async ask<T>(what: string, rest?: object): Promise<T> {
      const replied = once(child, 'message') as Promise<[T]>;
      child.send({ do: what, ...rest });
      return (await replied)[0];
    },
    async end() {
      const exited = once(child, 'exit');
      if (isFeed) child.send({ do: 'stop' });
      else child.kill();
      await exited;
      release();
    },
  };
}

function others({ core }: Readonly<Record<string, string>>): string {
  return cpus()
    .map((_, at) => String(at))
    .filter((at) => at !== core)
    .join(',');
}

function pin(pid: number, cores: string): void {
  spawn('taskset', ['-a', '-cp', cores, String(pid)], { stdio: 'ignore' });
}

/** As a container with this limit. */
function throttle({ pid }: ChildProcess, share: number): () => void {
  const isOne = existsSync('/sys/fs/cgroup/cpu');
  const group = `/sys/fs/cgroup/${isOne ? 'cpu/' : ''}changefeed-bench-${pid}`;
  mkdirSync(group);
  const quotaUs = Math.round(share * 100_000);
  if (isOne) writeFileSync(`${group}/cpu.cfs_quota_us`, String(quotaUs));
  else writeFileSync(`${group}/cpu.max`, `${quotaUs} 100000`);
  writeFileSync(`${group}/cgroup.procs`, String(pid));
  return () => rmdirSync(group);
}
