/**
 * The Redis of a process: that of a URL, else the private one of a state directory, shared by all that open it.
 * `redis.json` has its address and password, which stay. `redis.lock` has the identity of its keeper, alive as long.
 *
 *   keeper  server    a process that opens the directory
 *   lives   answers   joins: it opens a connection with the name of a user, and holds it
 *   lives   silent    waits: the server starts or ends
 *   ended   answers   stops the server, which has lost its keeper and would never end; then it starts another
 *   ended   silent    waits for an answer or an end: a second server would destroy the data
 *   ended   absent    spawns a keeper and takes the lock for it. If another process was faster, that keeper ends unused
 *
 * The same again after a lost connection or a killed keeper. The last user that closes waits for the server's end.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { ChangefeedError } from '../../kit/errors.js';
import { systemClock, withinTime } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import { runLoop } from '../../kit/loop.js';
import { identityOf, isAlive, type ProcessIdentity } from '../../kit/process-identity.js';
import type { OwnOptions } from '../client.js';
import { checkRedis, probeRedis } from '../probe.js';
import { ENDING, findRedis, freePort, LOG_FILE, spawnKeeper, USER, type Keeper } from './launch.js';
import { lockHolder, takeLock } from './lock.js';
import { prepareStateDir, readStateFile, withStateDir } from './state-dir.js';

export interface OpenRedisOptions {
  /** The Redis of the user (`REDIS_URL` or the configuration). Undefined: a private one. */
  url?: string | undefined;
  own?: OwnOptions | undefined;
  /** Where a private Redis keeps its data (`redis/`) and its address (`redis.json`). */
  stateDir: string;
  /** The state directory is removed when the processes that use it have ended. @defaultValue false */
  temporary?: boolean | undefined;
  log: Log;
  /** Ends the wait for a named Redis that does not answer. */
  signal?: AbortSignal | undefined;
}

export interface OpenedRedis {
  readonly url: string;
  readonly own?: OwnOptions | undefined;
  /** `named` by the user, or a `private` process. */
  readonly origin: 'named' | 'private';
  /** Stops a private Redis that no other living process uses; has no effect on a named one. May be called twice. */
  close(): Promise<void>;
}

/** @throws ChangefeedError CF_REDIS_UNREACHABLE; CF_REDIS_MISSING, with how to install one; CF_STATE_DIR; CF_CONFIG_INVALID (URL) */
export async function openRedis(options: OpenRedisOptions): Promise<OpenedRedis> {
  const { url, own, signal } = options;
  if (url === undefined) return await openPrivateRedis(options);
  await checkRedis(url, { own, signal });
  return { url, own, origin: 'named', close: () => Promise.resolve() };
}

/** Longer than Redis takes to load a large append-only file. */
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 2_000;
const RETRY_MS = 20;

async function openPrivateRedis(options: OpenRedisOptions): Promise<OpenedRedis> {
  const { stateDir, log } = options;
  const startedAt = systemClock.now();
  prepareStateDir(stateDir);
  let used = await joinOrStart(options);
  const { url } = used;
  log.info({ origin: 'private', role: roleOf(used), stateDir, ms: systemClock.now() - startedAt }, 'Redis is ready');
  const closing = new AbortController();
  const watched = runLoop({
    name: 'private-redis',
    // A turn lasts as long as the server lives.
    stallMs: null,
    signal: closing.signal,
    log,
    async run() {
      await untilEnded(used, closing.signal);
      if (closing.signal.aborted) return 0;
      used = await joinOrStart(options);
      if (roleOf(used) === 'started') log.warn({ stateDir }, 'the private Redis ended and was started again');
      if (used.url !== url) throw moved(stateDir, url);
      return 100;
    },
  });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await watched;
    await leave(stateDir, used);
  };
  return { url, origin: 'private', close: () => (closed ??= close()) };
}

interface Used {
  url: string;
  user: Redis;
  holder: ProcessIdentity;
  /** Only in the process that started the server. */
  keeper: Keeper | undefined;
}

const roleOf = ({ keeper }: Used): string => (keeper === undefined ? 'joined' : 'started');

async function joinOrStart(options: OpenRedisOptions): Promise<Used> {
  const { stateDir } = options;
  const deadline = systemClock.now() + READY_WITHIN_MS;
  let keeper: Keeper | undefined;
  for (;;) {
    const url = readUrl(stateDir);
    const server = url === undefined ? 'absent' : await connectAsUser(url);
    // Read after the answer: a keeper has the lock before its server runs, and until it has ended.
    const holder = lockHolder(lockFile(stateDir));
    const isKept = holder !== undefined && isAlive(holder);
    if (server instanceof Redis && url !== undefined) {
      if (isKept) return { url, user: server, holder, keeper: holder.pid === keeper?.pid ? keeper : undefined };
      await server.shutdown().catch(() => undefined);
    } else if (!isKept && server === 'absent') {
      if (keeper !== undefined) throw notStarted(join(stateDir, 'redis'));
      keeper = await start(options, { url, dead: holder });
    }
    if (systemClock.now() >= deadline) {
      keeper?.release();
      throw stuck(stateDir);
    }
    await systemClock.sleep(RETRY_MS);
  }
}

/** `absent`: no program listens there, or another one. */
async function connectAsUser(url: string): Promise<Redis | 'silent' | 'absent'> {
  const problem = await probeRedis(url, { timeoutMs: ANSWER_WITHIN_MS, mustKnowPassword: true });
  if (problem !== null) return problem.message.startsWith('no answer') ? 'silent' : 'absent';
  const redis = new Redis(url, { retryStrategy: () => null, lazyConnect: true });
  redis.on('error', () => undefined);
  const isUsable = await redis
    .connect()
    .then(() => redis.client('SETNAME', USER))
    // The keeper takes its name before it looks for users, and a user looks for the keeper after it has taken its own.
    .then(async () => !(await clientsOf(redis)).includes(` name=${ENDING} `))
    .catch(() => false);
  if (isUsable) return redis;
  redis.disconnect();
  return 'silent';
}

const clientsOf = async (redis: Redis): Promise<string> => String(await redis.client('LIST'));

/** Undefined if another process was faster. */
async function start(
  { stateDir, temporary = false }: OpenRedisOptions,
  before: { url: string | undefined; dead: ProcessIdentity | undefined },
): Promise<Keeper | undefined> {
  const program = findRedis();
  if (program === undefined)
    throw missing(
      `REDIS_URL is not set, and there is neither redis-server nor valkey-server on the PATH. Install Redis: ${INSTALL_REDIS}`,
    );
  const known = before.url === undefined ? undefined : new URL(before.url);
  const password = known?.password ?? randomBytes(24).toString('hex');
  const dir = join(stateDir, 'redis');
  prepareStateDir(dir);
  const keeper = withStateDir(stateDir, () => spawnKeeper(dir));
  try {
    const lock = lockFile(stateDir);
    if (withStateDir(stateDir, () => takeLock(lock, identityOf(keeper.pid), before.dead))) {
      // Only with the lock: to find out whether a port is free takes it for a moment, also from a server that starts.
      const port = await freePort(known && Number(known.port));
      // Before the server runs: if this process is killed now, the next one still finds the server.
      withStateDir(stateDir, () => writeUrl(stateDir, `redis://:${password}@127.0.0.1:${port}/0`));
      keeper.start({ program, password, port, lock, ...(temporary && { temporary: stateDir }) });
      return keeper;
    }
  } catch (error) {
    keeper.release();
    throw error;
  }
  keeper.release();
  return undefined;
}

/** The last user waits for the end of the server. */
async function leave(stateDir: string, { user, holder, keeper }: Used): Promise<void> {
  const clients = await withinTime(clientsOf(user), ANSWER_WITHIN_MS).catch(() => '');
  const isLast = clients.split(` name=${USER} `).length === 2;
  user.disconnect();
  keeper?.release();
  const deadline = systemClock.now() + STOP_WITHIN_MS;
  while (isLast && isAlive(holder)) {
    if (systemClock.now() >= deadline) throw stuck(stateDir);
    await systemClock.sleep(RETRY_MS);
  }
}

/** Until the server or its keeper has ended; only the process that spawned the keeper notices its end. */
async function untilEnded({ user, keeper }: Used, signal: AbortSignal): Promise<void> {
  if (user.status === 'end') return;
  const disconnected = once(user, 'end', { signal }).catch(() => undefined);
  await Promise.race(keeper === undefined ? [disconnected] : [disconnected, keeper.ended]);
}

const missing = (message: string): ChangefeedError => new ChangefeedError('CF_REDIS_MISSING', { message });
const unreachable = (message: string): ChangefeedError => new ChangefeedError('CF_REDIS_UNREACHABLE', { message });

function stuck(stateDir: string): ChangefeedError {
  return unreachable(
    `The private Redis of ${stateDir} neither answers nor ends. No second one was started, because two servers would destroy the data. Kill that redis-server, then start again.`,
  );
}

function moved(stateDir: string, url: string): ChangefeedError {
  return unreachable(
    `The private Redis of ${stateDir} ended and was started again at another address, because another program now uses its port ${new URL(url).port}. Start this process again.`,
  );
}

function notStarted(dir: string): ChangefeedError {
  const last = readFileSync(join(dir, LOG_FILE), 'utf8').trim().split('\n').at(-1);
  return missing(
    `A Redis was started in ${dir} and ended at once. The last line of its log: ${last}. Correct the cause, or set REDIS_URL to another Redis.`,
  );
}

const INSTALL_REDIS =
  'sudo apt-get install redis-server (Debian, Ubuntu, WSL), sudo dnf install valkey (Fedora), sudo apk add redis (Alpine), brew install redis (macOS)';

const lockFile = (stateDir: string): string => resolve(stateDir, 'redis.lock');
const homeFile = (stateDir: string): string => join(stateDir, 'redis.json');
const homeSchema = z.object({ url: z.url() });

/** Undefined if the private Redis was never started, or the file is damaged. */
function readUrl(stateDir: string): string | undefined {
  const text = readStateFile(homeFile(stateDir));
  try {
    return text && homeSchema.parse(JSON.parse(text)).url;
  } catch {
    return undefined;
  }
}

/** Atomic: a process that is killed in between leaves the old file or the new one, never a part of one. */
function writeUrl(stateDir: string, url: string): void {
  const next = `${homeFile(stateDir)}.next`;
  // A file of a process that was killed. `wx` then creates it and follows no link.
  rmSync(next, { force: true });
  writeFileSync(next, `${JSON.stringify({ url }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, homeFile(stateDir));
}
