/**
 * What a saved rule costs the rest of the service: one process with all roles and a page, events at a fixed rate to another subscription, and a save
 * each third of a second. In the middle, Redis is silent for some seconds; what is saved then is written by hand.
 *
 *     npm run bench -- rules [--with saves=100] [--with rate=50] [--with away=5]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Redis } from 'ioredis';
import inject from 'light-my-request';
import { parseConfig } from '../src/config/parse.js';
import { defineHandler } from '../src/delivery/handlers/define.js';
import type { Changefeed } from '../src/actions/feed.js';
import { isoTime, systemClock } from '../src/kit/clock.js';
import { silentLog, type Log } from '../src/kit/log.js';
import { Keys } from '../src/redis/keys.js';
import { openChangefeed } from '../src/service/changefeed.js';
import { appendEvents, changeEvent, WORKSPACE } from '../test/support/events.js';
import { launchRedis, type PrivateRedis } from '../test/support/private-redis.js';
import { atMost, type Bench } from './support/bench.js';
import type { SandboxAddress } from './support/sandbox-child.js';
import { median, rounded } from './support/turns.js';

const OPERATE = 'operate-token-of-the-benchmark';
const HEADERS = { authorization: `Bearer ${OPERATE}`, 'content-type': 'application/json', 'x-changefeed-action': '1' };
const RULES = 20;
const PAUSE_MS = 300;

export const rules: Bench = {
  name: 'rules',
  does: 'saved rules under 50 events a second, with Redis away in between: what other subscriptions notice',
  records: [],
  run: async ({ more }) => {
    const [saves, rate, awayS] = [more['saves'] ?? 100, more['rate'] ?? 50, more['away'] ?? 5].map(Number) as [
      number,
      number,
      number,
    ];
    const server = await launchRedis({ settings: ['appendonly no'] });
    const folder = mkdtempSync(join(tmpdir(), 'changefeed-bench-rules-'));
    const script = new URL(`./support/sandbox-child${extname(import.meta.url)}`, import.meta.url);
    const sandbox = fork(script, ['400']);
    try {
      const [address] = (await once(sandbox, 'message')) as [SandboxAddress];
      return await measure({ server, folder, address, saves, rate, awayMs: awayS * 1_000 });
    } finally {
      sandbox.disconnect();
      await server.close();
      rmSync(folder, { recursive: true });
    }
  },
};

interface Given {
  server: PrivateRedis;
  folder: string;
  address: SandboxAddress;
  saves: number;
  rate: number;
  awayMs: number;
}

async function measure({ server, folder, address, saves, rate, awayMs }: Given) {
  const said: string[] = [];
  const file = join(folder, 'rules.json');
  const handled: { id: string; ms: number }[] = [];
  const plain = defineHandler({
    name: 'plain',
    on: ['crm.person.updated'],
    handle: ({ id, data }) => void handled.push({ id, ms: systemClock.now() - Date.parse(data.observedAt) }),
  });
  const { token, url: baseUrl } = address;
  const raw = {
    workspaces: [{ name: WORKSPACE, baseUrl, token, budget: { requests: 1_000, perSeconds: 1 } }],
    subscriptions: [plain],
    destinations: { chat: { handler: 'message', url: 'http://127.0.0.1:9/', allowHosts: ['127.0.0.1'] } },
    ...{ rules: file, http: { tokens: { operate: OPERATE } } },
  };
  const config = parseConfig(raw, { source: 'the benchmark', redisUrl: server.url });
  const feed = await openChangefeed({ config, log: listening(said), http: '/page', stateDir: folder });
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  const state = { redis, keys: new Keys(config.redis.prefix) };
  await feed.start();
  await baselined(feed);
  const before = await markOf(feed);
  said.length = 0;

  const ending = new AbortController();
  const appending = appendAtRate(state, rate, ending.signal);
  const tookMs: number[] = [];
  const save = async (n: number): Promise<void> => {
    const startedAtMs = systemClock.monotonic();
    await saveRule(feed, n);
    tookMs.push(systemClock.monotonic() - startedAtMs);
    await systemClock.sleep(PAUSE_MS);
  };
  for (let n = 0; n < saves / 2; n += 1) await save(n);
  const calm = handled.splice(0);
  process.kill(server.pid, 'SIGSTOP');
  await systemClock.sleep(awayMs / 2);
  writeByHand(file);
  await systemClock.sleep(awayMs / 2);
  process.kill(server.pid, 'SIGCONT');
  const backAtMs = systemClock.monotonic();
  const runs = async (): Promise<boolean> => (await markOf(feed)).names.includes('rule-by-hand');
  while (!(await runs().catch(() => false))) await systemClock.sleep(20);
  const byHandMs = systemClock.monotonic() - backAtMs;
  for (let n = 0; n < saves / 2; n += 1) await save(n);
  ending.abort();
  const appended = await appending;
  const all = (): { id: string; ms: number }[] => [...calm, ...handled].filter(({ id }) => appended.includes(id));
  while (new Set(all().map(({ id }) => id)).size < appended.length) await systemClock.sleep(50);
  await systemClock.sleep(1_000);
  const after = await markOf(feed);
  await feed.stop();
  redis.disconnect();
  const waits = (some: readonly { ms: number }[]): number[] => some.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    median: rounded(median(tookMs)),
    unit: 'ms, until a saved rule runs',
    ratios: {
      'slowest save, ms': rounded(Math.max(...tookMs)),
      'slowest event of the other subscription, ms': waits(calm).at(-1) ?? 0,
      'epochs begun': said.filter((line) => line.includes('another Redis')).length,
      'sweeps begun anew': said.filter((line) => line === 'sweep resumed').length,
      'other processes than before': before.process === after.process ? 0 : 1,
      'events lost': appended.length - new Set(all().map(({ id }) => id)).size,
      'events repeated': all().length - appended.length,
      'written while Redis was away, until it ran, ms': rounded(byHandMs),
    },
    goals: {
      'slowest event of the other subscription, ms': atMost(1_000),
      'epochs begun': atMost(0),
      'sweeps begun anew': atMost(0),
      'other processes than before': atMost(0),
      'events lost': atMost(0),
      'events repeated': atMost(0),
    },
    facts: {
      saves,
      events: appended.length,
      awayMs,
      eventsP50: median(waits(calm)),
      afterReturnP50: median(waits(handled)),
    },
  };
}

function listening(said: string[]): Log {
  const keep = (_facts: object, message: string): void => void said.push(message);
  const log: Log = { ...silentLog, info: keep, warn: keep, error: keep, child: () => log };
  return log;
}

async function markOf(feed: Changefeed) {
  const { processes, subscriptions } = await feed.status();
  return { process: processes.map(({ id }) => id).join(), names: subscriptions.map(({ name }) => name) };
}

async function baselined(feed: Changefeed): Promise<void> {
  for (;;) {
    const { workspaces } = await feed.status();
    const lists = workspaces.flatMap((one) => one.lists).filter(({ enabled }) => enabled);
    if (lists.every(({ baselineAt }) => baselineAt !== null)) return;
    await systemClock.sleep(100);
  }
}

/** One is added, changed, switched off, or removed. */
async function saveRule(feed: Changefeed, n: number): Promise<void> {
  const ask = async (path: string, payload?: object): Promise<{ revision?: string; outcome?: string }> => {
    const method = payload === undefined ? 'GET' : 'POST';
    const call = { method, url: `/page/api/rules${path}`, headers: HEADERS, ...(payload && { payload }) } as const;
    return (await inject(feed.handler, call)).json();
  };
  const { revision } = await ask('');
  const id = `r${n % RULES}`;
  const round = Math.floor(n / RULES);
  const rule = { on: ['crm.todo.completed'], to: 'chat', title: String(n), enabled: round % 3 !== 2 };
  const { outcome } = round === 3 ? await ask(`/${id}/remove`, { revision }) : await ask(`/${id}`, { revision, rule });
  if (outcome !== 'saved') throw new Error(`The rule was not saved: ${outcome}.`);
}

function writeByHand(file: string): void {
  const { rules: all } = JSON.parse(readFileSync(file, 'utf8')) as { rules: object[] };
  const own = { id: 'by-hand', on: ['crm.todo.completed'], to: 'chat' };
  writeFileSync(`${file}.new`, JSON.stringify({ rules: [...all, own] }));
  renameSync(`${file}.new`, file);
}

async function appendAtRate(state: { redis: Redis; keys: Keys }, rate: number, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  const startedAtMs = systemClock.now();
  for (let n = 0; !signal.aborted; n += 1) {
    await systemClock.sleep(Math.max(0, startedAtMs + (n * 1_000) / rate - systemClock.now()));
    const event = changeEvent({ record: `r${n % 500}`, sequence: Math.floor(n / 500) + 1 });
    const observedAt = isoTime(systemClock.now());
    await appendEvents(state, [{ ...event, data: { ...event.data, observedAt } }]);
    ids.push(event.id);
  }
  return ids;
}
