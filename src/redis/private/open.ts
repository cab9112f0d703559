/**
 * Opens the Redis of a process: the one with a given URL, else the private Redis of a state directory, shared by all processes
 * that open it. `redis.json` keeps its address and password, which do not change when it is started again, and lists the
 * processes that use it. Each of these steps holds a file lock:
 *
 *   open    find it or start it; add this process to the users
 *   watch   when the connection is lost: find it or start it again (every user does this, so any of them may end)
 *   close   remove this process from the users; stop Redis if no other user is alive
 *
 * A process that is killed takes none of these steps. So each user also holds the named pipe `redis.users` open; when the last
 * one has ended, however that happened, the shell that started Redis stops it (redis-launch.ts).
 *
 * The password proves that a server is the private Redis of this directory. The port does not: another program may use it.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
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
import { withFileLock } from './file-lock.js';
import type { Log } from '../../runtime/log.js';
import { runLoop } from '../../runtime/loop.js';
import { freePort } from './port.js';
import { identityOf, isAlive, processSchema, thisProcess } from '../../runtime/process-identity.js';
import { dockerLauncher, findRedisBinary, processLauncher, INSTALL_REDIS, type RedisLauncher } from './launch.js';
import { checkRedis, probeRedis } from '../probe.js';

export interface OpenRedisOptions {
  /** The Redis of the user (`REDIS_URL` or the configuration). Undefined: a private one. */
  url?: string | undefined;
  /** Where a private Redis keeps its data (`redis/`) and its address (`redis.json`). */
  stateDir: string;
  /** The state directory is removed when the processes that use it were killed. @defaultValue false */
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
  /** Aborts with an error if a private Redis was started again at another address: `url` never works again. */
  readonly gone: AbortSignal;
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
    return { url, origin: 'named', gone: new AbortController().signal, close: () => Promise.resolve() };
  }
  const binary = findRedisBinary(searchPath);
  if (binary !== undefined)
    return await openPrivateRedis({ stateDir, temporary, log, launcher: processLauncher(binary) });
  return await openPrivateRedis({ stateDir, temporary, log, launcher: container }).catch((error: unknown) => {
    throw error instanceof ChangefeedError ? error : missing(error);
  });
}

const homeSchema = z.object({
  origin: z.enum(['private', 'docker']),
  url: z.string(),
  /** The process of the server; unknown in a container, and while the server starts. */
  server: processSchema.optional(),
  /** One entry per open: a process may open it twice. */
  users: z.array(processSchema).default([]),
});
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
const START_ATTEMPTS = 3;

async function openPrivateRedis(context: Context): Promise<OpenedRedis> {
  const { stateDir, log } = context;
  const startedAt = systemClock.now();
  prepareStateDir(stateDir);
  const { home, role, held } = await locked(stateDir, async () => {
    const held = holdUsers(stateDir);
    const found = await findOrStart(context).catch((error: unknown) => {
      release(held);
      throw error;
    });
    writeHome(stateDir, { ...found.home, users: [...found.home.users.filter(isAlive), thisProcess] });
    return { ...found, held };
  });
  const { url, origin } = home;
  log.info({ origin, role, stateDir, ms: systemClock.now() - startedAt }, 'Redis is ready');
  const closing = new AbortController();
  const gone = new AbortController();
  const watched = watch(context, { url, gone, signal: AbortSignal.any([closing.signal, gone.signal]) });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await watched;
    await locked(stateDir, () => leave(stateDir, home)).finally(() => release(held));
  };
  return { url, origin, gone: gone.signal, close: () => (closed ??= close()) };
}

/**
 * Where others may write, they could put a link or another address in place of ours.
 * @throws ChangefeedError CF_REDIS_MISSING
 */
function prepareStateDir(stateDir: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(stateDir);
  const user = process.getuid?.();
  if (user === undefined) return;
  // A container that runs as root may have a folder of the machine's user.
  const isForeign = uid !== user && user !== 0;
  // Sticky: a folder such as /tmp is for everyone.
  const isShared = (mode & 0o1000) !== 0;
  if (isForeign || isShared)
    throw new ChangefeedError('CF_REDIS_MISSING', {
      message: `The state directory ${stateDir} ${isShared ? 'is one in which everyone may write' : 'belongs to another user'}. Set CHANGEFEED_STATE_DIR to a folder of this user, such as ${join(stateDir, 'changefeed')}; it is created.`,
    });
  if ((mode & OTHERS_WRITE) !== 0) chmodSync(stateDir, mode & ~OTHERS_WRITE & 0o7777);
}

const OTHERS_WRITE = 0o022;

/**
 * Opens the named pipe that says that this process uses the Redis. Undefined where the file system has no named pipes: then Redis ends
 * with the process that started it, and the others start it again.
 */
function holdUsers(stateDir: string): number | undefined {
  const pipe = usersFile(stateDir);
  if (!existsSync(pipe)) spawnSync('mkfifo', ['-m', '600', pipe]);
  return existsSync(pipe) ? openSync(pipe, 'r+') : undefined;
}

function release(held: number | undefined): void {
  if (held !== undefined) closeSync(held);
}

function usersFile(stateDir: string): string {
  return join(stateDir, 'redis.users');
}

type Found = { home: Home; role: 'started' | 'joined' };

async function findOrStart(context: Context): Promise<Found> {
  const { stateDir } = context;
  for (let attempt = 1; ; attempt++) {
    const home = readHome(stateDir);
    const state = home === undefined ? 'gone' : await waitFor(home, ['ready', 'gone'], READY_WITHIN_MS);
    if (home !== undefined && state === 'ready') return { home, role: 'joined' };
    if (state === 'unclear') throw stuck(stateDir);
    try {
      return { home: await start(context, home, { mayMove: attempt > 1 }), role: 'started' };
    } catch (error) {
      // The program on the port may be our own server, if the process that started it was killed: check again before moving.
      const isPortTaken = error instanceof ChangefeedError && error.facts['portTaken'] === true;
      if (!isPortTaken || attempt === START_ATTEMPTS) throw error;
    }
  }
}

/**
 * The first attempt uses the previous port even if it is taken: a server that is still starting or ending there makes it fail.
 * At another port, two servers would run on the same data. A container keeps its port for the same reason.
 */
async function start(
  { stateDir, temporary, launcher }: Context,
  previous: Home | undefined,
  { mayMove }: { mayMove: boolean },
): Promise<Home> {
  const known = previous === undefined ? undefined : new URL(previous.url);
  const password = known?.password ?? randomBytes(24).toString('hex');
  const keepsPort = known !== undefined && (!mayMove || previous?.origin === 'docker');
  const port = keepsPort ? Number(known.port) : await freePort();
  const { origin } = launcher;
  const home = { origin, url: `redis://:${password}@127.0.0.1:${port}/0`, users: previous?.users ?? [] };
  // Written before the launch: if this process is killed during the launch, the next one still finds the server.
  writeHome(stateDir, home);
  const users = existsSync(usersFile(stateDir)) ? usersFile(stateDir) : undefined;
  const whenUnused = temporary ? { temporary: stateDir } : {};
  const pid = await launcher.launch({ dir: join(stateDir, 'redis'), password, port, users, ...whenUnused });
  const started = { ...home, ...(pid !== undefined && { server: identityOf(pid) }) };
  writeHome(stateDir, started);
  return started;
}

interface Watching {
  url: string;
  signal: AbortSignal;
  gone: AbortController;
}

async function watch(context: Context, { url, signal, gone }: Watching): Promise<void> {
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
      const { home, role } = await locked(stateDir, () => findOrStart(context));
      if (role === 'started') log.warn({ stateDir }, 'the private Redis ended and was started again');
      if (home.url !== url) gone.abort(moved(stateDir, url));
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

async function leave(stateDir: string, opened: Home): Promise<void> {
  const home = readHome(stateDir) ?? opened;
  const users = home.users.filter(isAlive);
  const own = users.findIndex(({ pid }) => pid === thisProcess.pid);
  if (own !== -1) users.splice(own, 1);
  if (users.length === 0) await shutDown(home, stateDir);
  writeHome(stateDir, { ...home, users });
}

async function shutDown(home: Home, stateDir: string): Promise<void> {
  const redis = new Redis(home.url, { retryStrategy: () => null, commandTimeout: STOP_WITHIN_MS });
  redis.on('error', () => undefined);
  // AUTH first: the port may belong to another Redis by now, which rejects the password. SHUTDOWN closes the connection.
  const stopped = redis.auth(new URL(home.url).password).then(() => redis.shutdown('NOSAVE'));
  await stopped.catch(() => undefined);
  redis.disconnect();
  if ((await waitFor(home, ['gone'], STOP_WITHIN_MS)) === 'gone') return;
  if (home.server !== undefined && isAlive(home.server)) process.kill(home.server.pid, 'SIGKILL');
  if ((await waitFor(home, ['gone'], STOP_WITHIN_MS)) !== 'gone') throw stuck(stateDir);
}

/** `unclear`: not usable, and possibly still running. A second server must not be started on the same data. */
type State = 'ready' | 'gone' | 'unclear';

async function waitFor(home: Home, wanted: readonly State[], withinMs: number): Promise<State> {
  const deadline = systemClock.now() + withinMs;
  for (;;) {
    const state = await stateOf(home);
    if (wanted.includes(state) || systemClock.now() >= deadline) return state;
    await systemClock.sleep(20);
  }
}

async function stateOf({ url, server }: Home): Promise<State> {
  const { outcome } = await probeRedis(url, { timeoutMs: 2_000, mustKnowPassword: true });
  if (outcome === 'ready') return 'ready';
  // A closed port is not enough to conclude that the server ended: the port is also closed while the server starts or ends.
  const ended = server === undefined ? outcome !== 'silent' : !isAlive(server);
  return ended ? 'gone' : 'unclear';
}

function stuck(stateDir: string): ChangefeedError {
  return new ChangefeedError('CF_REDIS_UNREACHABLE', {
    message:
      `The private Redis of ${stateDir} is running, but it neither answers nor ends. No second one was started, because two ` +
      `servers would destroy the data. Kill that redis-server, then start again.`,
  });
}

function moved(stateDir: string, url: string): ChangefeedError {
  return new ChangefeedError('CF_REDIS_UNREACHABLE', {
    message:
      `The private Redis of ${stateDir} ended and was started again at another address, because another program now uses ` +
      `its port ${new URL(url).port}. Start this process again.`,
  });
}

function missing(cause: unknown): ChangefeedError {
  return new ChangefeedError('CF_REDIS_MISSING', {
    message:
      `REDIS_URL is not set, neither redis-server nor valkey-server is on the PATH, and Docker could not start a Redis ` +
      `(${messageOf(cause)}). Install Redis: ${INSTALL_REDIS}`,
    cause,
  });
}

function locked<T>(stateDir: string, run: () => Promise<T>): Promise<T> {
  return withFileLock(join(stateDir, 'redis.lock'), run);
}

function homeFile(stateDir: string): string {
  return join(stateDir, 'redis.json');
}

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
