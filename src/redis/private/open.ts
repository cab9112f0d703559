/**
 * Opens the Redis of a process: the one with a given URL, else the private Redis of a state directory, shared by all processes that open it.
 * `redis.json` keeps its address and password, which do not change when it is started again.
 *
 * The named pipe `redis.users` says whether the server runs and whether it is used: the server has it open for reading, and each process that
 * uses the server has it open for writing. The system closes what a process had open, however the process ended. When the last user has
 * ended, the server ends too (launch.ts).
 *
 *   open    join the server or start it
 *   watch   when the connection is lost: join it or start it again (every user does this, so any of them may end)
 *   close   close the pipe; the last user waits for the end of the server
 *
 * Each of these steps holds a file lock.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { ChangefeedError, messageOf } from '../../errors.js';
import { systemClock } from '../../runtime/clock.js';
import type { Log } from '../../runtime/log.js';
import { runLoop } from '../../runtime/loop.js';
import { checkRedis, probeRedis } from '../probe.js';
import { withFileLock } from './file-lock.js';
import { dockerLauncher, findRedisBinary, startRedisServer, INSTALL_REDIS, type RedisLauncher } from './launch.js';
import { freePort, isFree } from './port.js';

export interface OpenRedisOptions {
  /** The Redis of the user (`REDIS_URL` or the configuration). Undefined: a private one. */
  url?: string | undefined;
  /** Where a private Redis keeps its data (`redis/`) and its address (`redis.json`). */
  stateDir: string;
  /** The state directory is removed when the processes that use it have ended. @defaultValue false */
  temporary?: boolean | undefined;
  log: Log;
  /** Ends the wait for a named Redis that does not answer. */
  signal?: AbortSignal | undefined;
  /** Where to find redis-server and valkey-server. @defaultValue the PATH of the process */
  searchPath?: string | undefined;
  /** Used if neither program is found. @defaultValue Docker */
  container?: RedisLauncher;
}

export interface OpenedRedis {
  readonly url: string;
  /** `named` by the user, a `private` process, or a `docker` container. */
  readonly origin: 'named' | 'private' | 'docker';
  /** Stops a private Redis that no other living process uses; has no effect on a named one. May be called twice. */
  close(): Promise<void>;
}

/**
 * @throws ChangefeedError CF_REDIS_UNREACHABLE if Redis cannot be used, CF_REDIS_MISSING if none can be started, with the
 *   commands that install one, CF_CONFIG_INVALID if the URL is not valid
 */
export async function openRedis(options: OpenRedisOptions): Promise<OpenedRedis> {
  const { url, stateDir, temporary = false, log, signal } = options;
  const { searchPath = process.env['PATH'], container = dockerLauncher } = options;
  if (url !== undefined) {
    await checkRedis(url, { signal });
    return { url, origin: 'named', close: () => Promise.resolve() };
  }
  const binary = findRedisBinary(searchPath);
  const launcher: RedisLauncher =
    binary === undefined
      ? container
      : { origin: 'private', launch: (started) => startRedisServer({ binary, ...started }) };
  return await openPrivateRedis({ stateDir, temporary, log, launcher }).catch((error: unknown) => {
    throw binary !== undefined || error instanceof ChangefeedError ? error : missing(error);
  });
}

const homeSchema = z.object({ origin: z.enum(['private', 'docker']), url: z.string() });
/** The content of `redis.json`. */
type Home = z.infer<typeof homeSchema>;

interface Context {
  stateDir: string;
  temporary: boolean;
  launcher: RedisLauncher;
  log: Log;
}

/** Longer than Redis takes to load a large append-only file. */
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 10_000;
const RETRY_MS = 20;

async function openPrivateRedis(context: Context): Promise<OpenedRedis> {
  const { stateDir, log } = context;
  const startedAt = systemClock.now();
  prepareStateDir(stateDir);
  const { home, role, user } = await locked(stateDir, () => joinOrStart(context));
  const { url, origin } = home;
  log.info({ origin, role, stateDir, ms: systemClock.now() - startedAt }, 'Redis is ready');
  const closing = new AbortController();
  const watched = watch(context, url, closing.signal);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await watched;
    await locked(stateDir, () => leave(stateDir, user));
  };
  return { url, origin, close: () => (closed ??= close()) };
}

const OTHERS_WRITE = 0o022;

/**
 * Where others may write, they could put a link or another address in place of ours.
 * @throws ChangefeedError CF_REDIS_MISSING
 */
export function prepareStateDir(stateDir: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(stateDir);
  const user = process.getuid?.();
  if (user !== undefined) {
    // A container that runs as root may have a folder of the machine's user.
    if (uid !== user && user !== 0) throw unsafe(stateDir, 'belongs to another user');
    // Sticky: a folder such as /tmp is for everyone.
    if ((mode & 0o1000) !== 0) throw unsafe(stateDir, 'is one in which everyone may write');
    if ((mode & OTHERS_WRITE) !== 0) chmodSync(stateDir, mode & ~OTHERS_WRITE & 0o7777);
  }
  const pipe = usersFile(stateDir);
  if (!existsSync(pipe)) spawnSync('mkfifo', ['-m', '600', pipe]);
  if (lstatSync(pipe, { throwIfNoEntry: false })?.isFIFO() !== true)
    throw new ChangefeedError('CF_REDIS_MISSING', {
      message: `The file system of the state directory ${stateDir} has no named pipes. Set CHANGEFEED_STATE_DIR to a folder on another one, or REDIS_URL to a Redis.`,
    });
}

interface Joined {
  home: Home;
  role: 'started' | 'joined';
  /** The end of the pipe that says that this process uses the server. */
  user: number;
}

async function joinOrStart(context: Context): Promise<Joined> {
  const home = readHome(context.stateDir);
  const user = home === undefined ? undefined : await joinServer(context.stateDir, home);
  if (home !== undefined && user !== undefined) return { home, role: 'joined', user };
  return await start(context, home);
}

/** Undefined if no server runs. One that is ending is waited for: a second one must not be started on the same data. */
async function joinServer(stateDir: string, { url }: Home): Promise<number | undefined> {
  const deadline = systemClock.now() + READY_WITHIN_MS;
  for (;;) {
    const user = openAsUser(stateDir);
    if (user === undefined) return undefined;
    if ((await probeRedis(url, { timeoutMs: 2_000, mustKnowPassword: true })) === null) return user;
    closeSync(user);
    if (systemClock.now() >= deadline) throw stuck(stateDir);
    await systemClock.sleep(RETRY_MS);
  }
}

async function start({ stateDir, temporary, launcher }: Context, previous: Home | undefined): Promise<Joined> {
  const { origin } = launcher;
  const known = previous === undefined ? undefined : new URL(previous.url);
  const password = known?.password ?? randomBytes(24).toString('hex');
  // Docker may not have removed the former container yet. At another port, two would run on the same data.
  const keepsPort = known !== undefined && (origin === 'docker' || (await isFree(Number(known.port))));
  const port = keepsPort ? Number(known.port) : await freePort();
  const home: Home = { origin, url: `redis://:${password}@127.0.0.1:${port}/0` };
  // Written before the launch: if this process is killed during the launch, the next one still finds the server.
  writeHome(stateDir, home);
  const users = usersFile(stateDir);
  // With both ends open, neither the server nor this process waits for the other one to open its end.
  const bothEnds = openSync(users, 'r+');
  const user = openSync(users, 'w');
  try {
    const whenUnused = temporary ? { temporary: stateDir } : {};
    await launcher.launch({ dir: join(stateDir, 'redis'), password, port, users, ...whenUnused });
    return { home, role: 'started', user };
  } catch (error) {
    closeSync(user);
    throw error;
  } finally {
    closeSync(bothEnds);
  }
}

/** For this time, a server that runs does not end. Undefined if none runs. */
function openAsUser(stateDir: string): number | undefined {
  try {
    return openSync(usersFile(stateDir), constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    // No process has it open for reading, or a temporary directory is gone.
    if (error instanceof Error && 'code' in error && ['ENXIO', 'ENOENT'].includes(String(error.code))) return undefined;
    throw error;
  }
}

function isUsed(stateDir: string): boolean {
  const end = openSync(usersFile(stateDir), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readSync(end, Buffer.alloc(1)) > 0;
  } catch (error) {
    // There is nothing to read yet, because a process has it open for writing.
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return true;
    throw error;
  } finally {
    closeSync(end);
  }
}

async function leave(stateDir: string, user: number): Promise<void> {
  closeSync(user);
  if (isUsed(stateDir)) return;
  const deadline = systemClock.now() + STOP_WITHIN_MS;
  for (let server = openAsUser(stateDir); server !== undefined; server = openAsUser(stateDir)) {
    closeSync(server);
    if (systemClock.now() >= deadline) throw stuck(stateDir);
    await systemClock.sleep(RETRY_MS);
  }
}

async function watch(context: Context, url: string, signal: AbortSignal): Promise<void> {
  const { stateDir, log } = context;
  await runLoop({
    name: 'private-redis',
    // A turn lasts as long as the server lives.
    stallMs: null,
    signal,
    log,
    async run() {
      await untilDisconnected(url, signal);
      if (signal.aborted) return 0;
      const { home, role, user } = await locked(stateDir, () => joinOrStart(context));
      closeSync(user);
      if (role === 'started') log.warn({ stateDir }, 'the private Redis ended and was started again');
      if (home.url !== url) throw moved(stateDir, url);
      return 100;
    },
  });
}

async function untilDisconnected(url: string, signal: AbortSignal): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => null });
  redis.on('error', () => undefined);
  // Rejects if the connection fails or the signal aborts; both end the wait.
  await once(redis, 'end', { signal }).catch(() => undefined);
  redis.disconnect();
}

function unsafe(stateDir: string, why: string): ChangefeedError {
  const message = `The state directory ${stateDir} ${why}. Set CHANGEFEED_STATE_DIR to a folder of this user, such as ${join(stateDir, 'changefeed')}; it is created.`;
  return new ChangefeedError('CF_REDIS_MISSING', { message });
}

function stuck(stateDir: string): ChangefeedError {
  const message =
    `The private Redis of ${stateDir} is running, but it neither answers nor ends. No second one was started, because two ` +
    `servers would destroy the data. Kill that redis-server, then start again.`;
  return new ChangefeedError('CF_REDIS_UNREACHABLE', { message });
}

function moved(stateDir: string, url: string): ChangefeedError {
  const message =
    `The private Redis of ${stateDir} ended and was started again at another address, because another program now uses ` +
    `its port ${new URL(url).port}. Start this process again.`;
  return new ChangefeedError('CF_REDIS_UNREACHABLE', { message });
}

function missing(cause: unknown): ChangefeedError {
  const message =
    `REDIS_URL is not set, neither redis-server nor valkey-server is on the PATH, and Docker could not start a Redis ` +
    `(${messageOf(cause)}). Install Redis: ${INSTALL_REDIS}`;
  return new ChangefeedError('CF_REDIS_MISSING', { message, cause });
}

function locked<T>(stateDir: string, run: () => Promise<T>): Promise<T> {
  return withFileLock(join(stateDir, 'redis.lock'), run);
}

const usersFile = (stateDir: string): string => join(stateDir, 'redis.users');
const homeFile = (stateDir: string): string => join(stateDir, 'redis.json');

/** @throws if the file exists and cannot be read: a second Redis must not be started on the same data */
function readHome(stateDir: string): Home | undefined {
  const file = homeFile(stateDir);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  try {
    return homeSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Atomic: a process that is killed in between leaves the old file or the new one, never a part of one. */
function writeHome(stateDir: string, home: Home): void {
  const next = `${homeFile(stateDir)}.next`;
  // A file of a process that was killed. `wx` then creates it and follows no link.
  rmSync(next, { force: true });
  writeFileSync(next, `${JSON.stringify(home, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, homeFile(stateDir));
}
