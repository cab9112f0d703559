/** A process of the bench `many`: the API of a small workspace that lives, or a whole Changefeed. Answers the commands of its parent. */
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Pool } from 'undici';
import { builtInLists } from '../../src/crm/lists/lists.js';
import { openChangefeed } from '../../src/service/changefeed.js';
import { parseConfig } from '../../src/config/parse.js';
import type { Log } from '../../src/kit/log.js';
import type { MutationLine } from '../../sandbox/journal/lines.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';

export interface ManyTask {
  role: 'api' | 'feed';
  records: number;
  /** Servers of the API. */
  servers: number;
  redisUrl: string;
  raw: Record<string, unknown>;
}

type Changes = { list: string; id: string; atMs: number }[];

export interface ApiStats {
  requests: number;
  /** Changes of each server, without removals. */
  changes: Changes[];
}

export interface FeedStats {
  cpuMs: number;
  /** The delay of the event loop since the last question. */
  delayMs: { p50: number; p99: number };
  rssMb: number;
  /** Lines of the log by message, code and level. */
  logged: Record<string, number>;
}

export interface StatusStats {
  ms: number;
  baselines: number;
  lists: number;
  problems: Record<string, number>;
}

/** Processor time of a request for one of the same pages, whose bytes are dropped. */
export interface DownloadStats {
  msPerRequest: number;
}

/** `slow`: the first server alone. */
type Command =
  | { do: 'rate'; rate: number }
  | { do: 'slow'; ms: number }
  | { do: 'stats' }
  | { do: 'status' }
  | { do: 'download' }
  | { do: 'stop' };

const START_MS = Date.UTC(2026, 0, 1);
// A thousand workspaces do not fit into an environment variable.
const [task] = (await once(process, 'message')) as [ManyTask];
const reply = (answer: object): void => void process.send?.(answer);
process.on('disconnect', () => process.exit(0));
if (task.role === 'api') await serve();
else await poll();

/** Several, each on a port of its own: a server here takes 1,000 connections. */
async function serve(): Promise<void> {
  const sandboxes = Array.from({ length: task.servers }, (_, nth) =>
    createSandbox({ records: task.records, start: START_MS, seed: nth + 1, limit: null, journalKeep: 1_000_000 }),
  );
  const started = await Promise.all(sandboxes.map((one) => one.start()));
  const changesOf = (sandbox: Sandbox): Changes =>
    sandbox.journal
      .lines()
      .filter((line): line is MutationLine => line.line === 'mutation' && line.after !== null)
      .map(({ list, id, at }) => ({ list, id, atMs: Date.parse(at) }));
  process.on('message', (command: Command) => {
    if (command.do === 'rate') for (const one of sandboxes) one.rate = command.rate;
    if (command.do === 'slow') sandboxes[0]?.behave({ latencyMs: command.ms });
    const requests = sandboxes.reduce((sum, one) => sum + one.requests, 0);
    reply({ requests, changes: sandboxes.map(changesOf) } satisfies ApiStats);
  });
  reply(started.map(({ url, token }) => ({ url, token })));
}

async function poll(): Promise<void> {
  const logged: Record<string, number> = {};
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const feed = await openChangefeed({
    config: parseConfig(task.raw, { source: 'bench', redisUrl: task.redisUrl }),
    log: counting(logged),
  });
  await feed.start();
  process.on('message', (command: Command) => void answer(command));
  const answer = async (command: Command): Promise<void> => {
    if (command.do === 'stop') {
      await feed.stop();
      process.exit(0);
    }
    if (command.do === 'status') {
      const startedMs = performance.now();
      const { workspaces, problems } = await feed.status();
      const ms = Math.round(performance.now() - startedMs);
      const lists = workspaces.flatMap((one) => one.lists.filter(({ enabled }) => enabled));
      const baselines = lists.filter(({ baselineAt }) => baselineAt !== null).length;
      const kinds: Record<string, number> = {};
      for (const { kind } of problems) kinds[kind] = (kinds[kind] ?? 0) + 1;
      reply({ ms, baselines, lists: lists.length, problems: kinds } satisfies StatusStats);
      return;
    }
    if (command.do === 'download') {
      await feed.stop();
      reply({ msPerRequest: await bareDownload() } satisfies DownloadStats);
      return;
    }
    const { user, system } = process.cpuUsage();
    const delayMs = { p50: delays.percentile(50) / 1e6, p99: delays.percentile(99) / 1e6 };
    delays.reset();
    const rssMb = Math.round(process.memoryUsage().rss / 1e6);
    reply({ cpuMs: (user + system) / 1_000, delayMs, rssMb, logged } satisfies FeedStats);
  };
  reply({});
}

const DOWNLOADS = 6_000;
const IN_FLIGHT = 8;

async function bareDownload(): Promise<number> {
  const { workspaces: [first] = [] } = task.raw as { workspaces?: { baseUrl: string; token: string }[] };
  const { baseUrl = '', token = '' } = first ?? {};
  const { origin, pathname } = new URL(baseUrl);
  const under = pathname.replace(/\/+$/, '');
  const pool = new Pool(origin, { connections: IN_FLIGHT });
  const asText = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const headers = { ...asText, 'accept-encoding': 'gzip' };
  const get = async (path: string): Promise<void> => {
    const { body, statusCode } = await pool.request({ path, method: 'GET', headers });
    await body.arrayBuffer();
    if (statusCode !== 200) throw new Error(`download: ${path} was answered ${statusCode}`);
  };
  const paths: string[] = [];
  for (const { path: list } of builtInLists.all) {
    let cursor: string | null = '';
    while (cursor !== null) {
      const path: string = `${under}/${list}${cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`}`;
      paths.push(path);
      const { body } = await pool.request({ path, method: 'GET', headers: asText });
      cursor = ((await body.json()) as { data: { nextCursor?: string | null } }).data.nextCursor ?? null;
    }
  }
  const before = process.cpuUsage();
  let next = 0;
  const ask = async (): Promise<void> => {
    while (next < DOWNLOADS) await get(paths[next++ % paths.length] ?? '');
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask));
  const { user, system } = process.cpuUsage(before);
  await pool.close();
  return (user + system) / 1_000 / DOWNLOADS;
}

function counting(logged: Record<string, number>): Log {
  const count =
    (level: string) =>
    (facts: object, message: string): void => {
      const { problem = '', code = '', reason = '', loop = '' } = facts as Record<string, string | undefined>;
      const key = [level, message.slice(0, 60), problem, code, reason, loop].join(' ').trim();
      logged[key] = (logged[key] ?? 0) + 1;
    };
  const ignored = (): void => undefined;
  const log = { debug: ignored, info: count('info'), warn: count('warn'), error: count('error') };
  return { ...log, child: () => counting(logged) };
}
