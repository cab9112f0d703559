/**
 * A soak: the program, as users start it, polls a workspace of constant size in which as much changes within minutes as elsewhere in a day. What it
 * keeps must not grow: memory, handles, keys of each kind, the log, jobs, dead letters.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../src/redis/private/launch.js';
import { systemClock } from '../../src/kit/clock.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import type { JournalLine } from '../../sandbox/journal/lines.js';
import { scoreEvents, type MissedChange } from '../../sandbox/verify/score.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { eventually } from '../support/eventually.js';
import { eventsIn } from '../support/ndjson.js';
import { launchRedis } from '../support/private-redis.js';
import { program } from '../support/program.js';
import { startProcess } from '../support/spawned.js';

export interface SoakOptions {
  seconds: number;
  rate: number;
  seed: number;
  /** Entries of the log that are kept, and ten times the dead letters. */
  kept: number;
}

export type Sample = Readonly<Record<string, number>>;

export interface Soaked {
  samples: Sample[];
  expected: number;
  found: number;
  wrong: number;
  refused: number;
}

const LISTS = ['people', 'organization', 'memo', 'todo'] as const;
/** Records of a list; what is more is deleted. */
const SIZE = 500;
const TOKEN = 'token-of-the-page-in-the-soak';
const SECRET = `whsec_${Buffer.from('a secret of the soak, 32 bytes!!').toString('base64')}`;
const EVERY_MS = 5_000;
/** One delivery in so many is refused for good. */
const REFUSED = 100;

/** @throws Error when a change was not reported, or a problem stays: but for the deliveries that are refused */
export async function soak({ seconds, rate, seed, kept }: SoakOptions): Promise<Soaked> {
  const folder = await mkdtemp(join(tmpdir(), 'changefeed-soak-'));
  const sizes = { people: SIZE, organizations: SIZE, memos: SIZE, todos: SIZE, history: 50, activity: 50 };
  const sandbox = createSandbox({ ...sizes, seed, limit: null, journalKeep: 1_000_000 });
  const { url, token } = await sandbox.start();
  const server = await launchRedis();
  const receiver = await refusing();
  const port = await freePort();
  const config = configFor({ url, token, receiver: receiver.url, port, kept });
  await writeFile(join(folder, 'changefeed.config.json'), JSON.stringify(config));
  const service = startProcess(program('src/cli/main'), {
    args: ['start'],
    cwd: folder,
    env: { REDIS_URL: server.url },
  });
  const redis = new Redis(server.url);
  const ask = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const metrics = async (): Promise<string> => (await ask('/metrics')).text();
  const events = (): ChangeEvent[] => eventsIn(join(folder, 'records.ndjson'));
  try {
    await service.waitForLine(/changefeed is running/, 60_000);
    const status = async (): Promise<StatusPart> => (await (await ask('/api/status')).json()) as StatusPart;
    await eventually(async () => {
      const lists = (await status()).workspaces.flatMap((one) => one.lists);
      if (lists.some(({ enabled, baselineAt }) => enabled && baselineAt === null)) throw new Error('no baseline yet');
    });
    sandbox.rate = rate;
    const samples: Sample[] = [];
    let oldestMs = 0;
    const endMs = systemClock.now() + seconds * 1_000;
    while (systemClock.now() < endMs) {
      await systemClock.sleep(EVERY_MS);
      for (const list of LISTS) shrink(sandbox, list);
      oldestMs = Math.max(oldestMs, ...agesIn(await status()));
      samples.push({ ...numbersIn(await metrics()), ...(await numbersOf(redis)) });
    }
    sandbox.rate = 0;
    const isPolled = (line: JournalLine): boolean =>
      line.line !== 'mutation' || (LISTS as readonly string[]).includes(line.list);
    const journal = sandbox.journal.lines().filter(isPolled);
    // The last removals take 35 s.
    const score = await eventually(
      () => {
        const now = scoreEvents({ journal, events: events() });
        const missed = now.missed.filter((one) => !isTakenBack(one, now.missed, oldestMs + EVERY_MS));
        if (missed.length > 0)
          throw new Error(
            `${now.found} of ${now.expected} changes were reported: ${JSON.stringify(missed.slice(0, 5))}`,
          );
        return { ...now, found: now.expected };
      },
      { timeoutMs: 180_000, intervalMs: 1_000 },
    );
    const { expected, found, falseEvents, repeated, orderViolations, sequenceGaps } = score;
    // Judging takes long. Meanwhile the sandbox, in this process, does not answer, and the page closes a connection that is not used.
    await eventually(
      async () => {
        const problems = (await status()).problems.filter(
          ({ kind }) => kind !== 'subscription.failing' && kind !== 'delivery.dead',
        );
        if (problems.length > 0) throw new Error(`problems: ${JSON.stringify(problems)}`);
      },
      { timeoutMs: 60_000 },
    );
    const wrong = falseEvents + repeated + orderViolations + sequenceGaps;
    return { samples, expected, found, wrong, refused: receiver.refused() };
  } finally {
    await service.kill('SIGTERM');
    redis.disconnect();
    await Promise.all([sandbox.stop(), server.close(), receiver.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

interface StatusPart {
  workspaces: { lists: { enabled: boolean; baselineAt: string | null; freshness: { ageMs: number } | null }[] }[];
  problems: { kind: string }[];
}

function configFor({
  url,
  token,
  receiver,
  port,
  kept,
}: {
  url: string;
  token: string;
  receiver: string;
  port: number;
  kept: number;
}): object {
  // Many go at once, and nobody is here to accept it.
  const often = { removals: { after: '1s' } };
  const lists = { people: often, organization: often, memo: often, todo: often, history: false, activity: false };
  const retry = { attempts: 1 };
  return {
    workspaces: [{ name: 'soak', baseUrl: url, token, budget: { requests: 100_000, perSeconds: 1 }, lists }],
    subscriptions: [
      {
        handler: 'ndjson',
        name: 'records',
        path: 'records.ndjson',
        on: ['crm.*.created', 'crm.*.updated', 'crm.*.deleted'],
      },
      {
        handler: 'webhook',
        name: 'hook',
        url: receiver,
        allowHosts: ['127.0.0.1'],
        on: ['crm.*'],
        retry,
        secret: SECRET,
      },
    ],
    log: { retention: { events: kept } },
    deadLetters: { retention: { count: Math.ceil(kept / 10) } },
    http: { port, tokens: { read: TOKEN } },
  };
}

/** So that the lists keep their size. */
function shrink({ life, world }: Sandbox, list: (typeof LISTS)[number]): void {
  for (let length = world.order(list).length; length > SIZE; length -= 1) life.delete(list);
}

/** What has grown: the median of the last third against that of the middle one, in parts of it. */
export function grown(samples: readonly Sample[]): {
  growing: string[];
  medians: Record<string, [middle: number, last: number]>;
} {
  const third = Math.floor(samples.length / 3);
  const names = [...new Set(samples.flatMap((sample) => Object.keys(sample)))].sort();
  const medianOf = (name: string, from: number): number => {
    const values = samples.slice(from, from + third).map((sample) => sample[name] ?? 0);
    return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
  };
  const medians = Object.fromEntries(
    names.map((name): [string, [number, number]] => [
      name,
      [medianOf(name, third), medianOf(name, samples.length - third)],
    ]),
  );
  // A few more are a matter of the moment. Deleted records are remembered (docs/redis.md), and up to 1,000 records wait to be looked up.
  const judged = names.filter((name) => !/^entries (?:records|aimed) /.test(name));
  const growing = judged.filter((name) => (medians[name]?.[1] ?? 0) > 1.1 * (medians[name]?.[0] ?? 0) + 20);
  return { growing, medians };
}

interface Refusing {
  url: string;
  refused(): number;
  close(): Promise<void>;
}

async function refusing(): Promise<Refusing> {
  let [taken, refused] = [0, 0];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      taken += 1;
      const isRefused = taken % REFUSED === 0;
      if (isRefused) refused += 1;
      response.writeHead(isRefused ? 422 : 204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused: () => refused,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const MEASURED: Readonly<Record<string, string>> = {
  process_resident_memory_bytes: 'resident bytes',
  nodejs_heap_size_used_bytes: 'heap bytes',
  nodejs_active_handles: 'handles',
  process_open_fds: 'descriptors',
};

function numbersIn(metrics: string): Sample {
  const numbers: Record<string, number> = {};
  for (const [, name = '', value] of metrics.matchAll(/^(\w+)(?:\{.*\})? (\S+)$/gm)) {
    const measured = MEASURED[name];
    if (measured !== undefined) numbers[measured] = (numbers[measured] ?? 0) + Number(value);
  }
  return numbers;
}

async function numbersOf(redis: Redis): Promise<Sample> {
  const memory = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  const numbers: Record<string, number> = { 'Redis bytes': memory };
  for await (const found of redis.scanStream({ count: 1_000 })) {
    const names = found as string[];
    const types = await Promise.all(names.map((name) => redis.type(name)));
    const lengths = await Promise.all(names.map((name, at) => lengthOf(redis, name, types[at])));
    names.forEach((name, at) => {
      const kind = kindOf(name);
      numbers[`keys ${kind}`] = (numbers[`keys ${kind}`] ?? 0) + 1;
      numbers[`entries ${kind}`] = (numbers[`entries ${kind}`] ?? 0) + (lengths[at] ?? 0);
    });
  }
  return numbers;
}

/** `changefeed:{sub:hook}:group:acme/todo/1` is a `group`; jobs of a queue are one kind. */
function kindOf(name: string): string {
  const [, ...parts] = name
    .replace(/\{[^}]*\}/, '')
    .split(':')
    .filter((part) => part !== '');
  return parts
    .map((part) => (/^\d+$|^evt_|\d{4,}|[0-9a-f-]{30,}/.test(part) ? '*' : part))
    .join(' ')
    .slice(0, 60);
}

async function lengthOf(redis: Redis, name: string, type: string | undefined): Promise<number> {
  if (type === 'hash') return await redis.hlen(name);
  if (type === 'list') return await redis.llen(name);
  if (type === 'set') return await redis.scard(name);
  if (type === 'zset') return await redis.zcard(name);
  if (type === 'stream') return await redis.xlen(name);
  return 1;
}

function agesIn({ workspaces }: StatusPart): number[] {
  return workspaces
    .flatMap(({ lists }) => lists)
    .flatMap(({ enabled, freshness }) => (enabled && freshness !== null ? [freshness.ageMs] : []));
}

/**
 * Of two changes so near to each other, the second took the first back before a sweep read the list. How near depends on the machine: two reads of a
 * record are never further apart than the age of what is stored, at its oldest, which is looked at every `EVERY_MS`.
 */
function isTakenBack(change: MissedChange, missed: readonly MissedChange[], withinMs: number): boolean {
  const { list, id, visibleAt } = change;
  return missed.some(
    (one) =>
      one !== change &&
      one.list === list &&
      one.id === id &&
      Math.abs(Date.parse(one.visibleAt) - Date.parse(visibleAt)) < withinMs,
  );
}
