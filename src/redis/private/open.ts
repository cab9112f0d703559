/**
 * The Redis of a process: that of a URL, else the private one of a state directory, shared by all that open it. `redis.conf` has
 * its port and password, which stay: the port is the lock. Only one server can listen there, and it does before it reads its data.
 *
 *   answers as ours   joins: it opens a connection with the name of a user, and holds it
 *   is another's      chooses the next port: another program, or the server of a folder that was copied
 *   gives no answer   waits: the server starts or ends
 *   is absent         starts a server as a child. If another process was faster, that child ends by itself
 *
 * The same again after a lost connection: the server was killed, or with the process that started it. The last user that closes
 * stops the server, whoever started it. A process that joins sees that by the name of the connection that stops it.
 */
import { once } from 'node:events';
import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { ChangefeedError } from '../../kit/errors.js';
import { systemClock, withinTime } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import { runLoop } from '../../kit/loop.js';
import type { OwnOptions } from '../client.js';
import { checkRedis, probeRedis } from '../probe.js';
import { addressFile, addressOf, movePort, type Address } from './address.js';
import { findRedis, LOG_FILE, startServer, type ServerProcess } from './launch.js';
import { prepareStateDir, withStateDir } from './state-dir.js';

export interface OpenRedisOptions {
  /** The Redis of the user (`REDIS_URL` or the configuration). Undefined: a private one. */
  url?: string | undefined;
  own?: OwnOptions | undefined;
  /** Where a private Redis keeps its data (`redis/`) and its address (`redis.conf`). */
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
/** A start also fails if another process was faster, whose server may have ended since: that is rare ten times in a row. */
const STARTS = 10;

/** Names of connections: of one that keeps the server running, and of one that stops it. */
const [USER, ENDING] = ['changefeed-user', 'changefeed-ending'];

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
      if (used.user.status !== 'end') await once(used.user, 'end', { signal: closing.signal }).catch(() => undefined);
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
    await leave(used, options);
  };
  return { url, origin: 'private', close: () => (closed ??= close()) };
}

interface Used {
  url: string;
  user: Redis;
  /** Only in the process that started the server. */
  server: ServerProcess | undefined;
}

const roleOf = ({ server }: Used): string => (server === undefined ? 'joined' : 'started');

async function joinOrStart(options: OpenRedisOptions): Promise<Used> {
  const { stateDir } = options;
  const deadline = systemClock.now() + READY_WITHIN_MS;
  prepareStateDir(dataDir(stateDir));
  let server: ServerProcess | undefined;
  let starts = 0;
  for (;;) {
    const address = await addressOf(stateDir);
    const found = await connectAsUser(address, dataDir(stateDir));
    if (typeof found === 'object')
      return { url: address.url, user: found.redis, server: found.pid === server?.pid ? server : undefined };
    if (found === 'foreign') movePort(stateDir, address);
    if (found === 'absent' && server?.isRunning() !== true) {
      if (starts === STARTS) throw notStarted(dataDir(stateDir));
      server = start(stateDir);
      starts += 1;
    }
    if (systemClock.now() >= deadline) {
      server?.stop();
      throw stuck(stateDir);
    }
    await systemClock.sleep(RETRY_MS);
  }
}

const FOREIGN = /WRONGPASS|NOAUTH|invalid password|without any password|Protocol error/i;

async function connectAsUser(
  { url }: Address,
  dir: string,
): Promise<{ redis: Redis; pid: number } | 'foreign' | 'silent' | 'absent'> {
  const problem = await probeRedis(url, { timeoutMs: ANSWER_WITHIN_MS, mustKnowPassword: true });
  if (problem?.message.startsWith('no answer')) return 'silent';
  // In doubt it is absent: the start shows it, and no second server can listen there.
  if (problem) return FOREIGN.test(problem.message) ? 'foreign' : 'absent';
  const redis = new Redis(url, { retryStrategy: () => null, lazyConnect: true });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const isOurs = (await redis.config('GET', 'dir'))[1] === realpathSync(dir);
    if (isOurs) {
      await redis.client('SETNAME', USER);
      // The one that stops it takes its name before it looks for users, and a user looks for it after it has taken its own.
      const pid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
      if (!(await hasClient(redis, ENDING))) return { redis, pid };
    }
    redis.disconnect();
    return isOurs ? 'silent' : 'foreign';
  } catch {
    redis.disconnect();
    return 'silent';
  }
}

const hasClient = async (redis: Redis, name: string): Promise<boolean> =>
  String(await redis.client('LIST')).includes(` name=${name} `);

function start(stateDir: string): ServerProcess {
  const program = findRedis();
  if (program === undefined)
    throw missing(
      `REDIS_URL is not set, and there is neither redis-server nor valkey-server on the PATH. Install Redis: ${INSTALL_REDIS}`,
    );
  const dir = dataDir(stateDir);
  return withStateDir(stateDir, () => startServer({ program, dir, file: addressFile(stateDir) }));
}

async function leave({ user, server }: Used, { stateDir, temporary = false }: OpenRedisOptions): Promise<void> {
  const ending = user.client('SETNAME', ENDING).then(() => hasClient(user, USER));
  const isUsed = await withinTime(ending, ANSWER_WITHIN_MS).catch(() => 'late');
  if (isUsed === false) {
    await shutDown(user, stateDir);
    if (temporary) rmSync(stateDir, { recursive: true, force: true });
    return;
  }
  user.disconnect();
  if (isUsed === true) return server?.leave();
  if (server === undefined) return;
  // It is silent for its other users as well.
  server.stop();
  await withinTime(server.ended, STOP_WITHIN_MS);
}

async function shutDown(user: Redis, stateDir: string): Promise<void> {
  try {
    // The reset of a connection comes before its end.
    const ended = new Promise((resolve) => user.once('end', resolve));
    user.shutdown().catch(() => undefined);
    if ((await withinTime(ended, STOP_WITHIN_MS)) === 'late') throw stuck(stateDir);
  } finally {
    user.disconnect();
  }
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

const dataDir = (stateDir: string): string => join(stateDir, 'redis');
