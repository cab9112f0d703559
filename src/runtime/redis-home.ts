/**
 * The one private Redis of a state directory, shared by every process that opens it. `redis.json` keeps its address and
 * password, which stay the same from start to start, and lists the processes that use it. Each step holds the file lock:
 *
 *   open    find it, or start it; add this process to the users
 *   watch   connection lost: find it, or start it again (every user does this, so it outlives the one that started it)
 *   close   remove this process from the users; stop Redis if no other user is alive
 *
 * Whether a server is ours is proved by its password, never by its port: another program's Redis is never touched.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { ChangefeedError } from '../errors.js';
import { systemClock } from './clock.js';
import { withFileLock } from './file-lock.js';
import type { Log } from './log.js';
import { runLoop } from './loop.js';
import { freePort } from './port.js';
import { identityOf, isAlive, processSchema, thisProcess } from './process-identity.js';
import { probeRedis } from './redis-probe.js';

/** A way to start a Redis, on the loopback address. */
export interface RedisLauncher {
  readonly origin: 'private' | 'docker';
  /**
   * Gives the number of its process, unless it runs in a container.
   * @throws ChangefeedError with the fact `portTaken` when another program listens there
   */
  launch(options: LaunchOptions): Promise<number | undefined>;
}

export interface LaunchOptions {
  /** Where its data goes. */
  dir: string;
  password: string;
  port: number;
}

export interface RedisHome {
  readonly url: string;
  readonly origin: RedisLauncher['origin'];
  readonly role: 'started' | 'joined';
  /** Aborts with an error when Redis had to come up at another address: connections to `url` will never work again. */
  readonly gone: AbortSignal;
  /** Stops Redis if no other living process uses it. */
  close(): Promise<void>;
}

const homeSchema = z.object({
  origin: z.enum(['private', 'docker']),
  url: z.string(),
  /** Its process; unknown in a container, and while it is being started. */
  server: processSchema.optional(),
  /** One entry per open: a process may open it twice. */
  users: z.array(processSchema).default([]),
});
type Home = z.infer<typeof homeSchema>;

interface Context {
  stateDir: string;
  launcher: RedisLauncher;
  log: Log;
}

/** Longer than a large append-only file takes to load. */
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 10_000;
const START_ATTEMPTS = 3;

/** @throws ChangefeedError CF_REDIS_MISSING, CF_REDIS_UNREACHABLE */
export async function openRedisHome(context: Context): Promise<RedisHome> {
  const { stateDir } = context;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const { home, role } = await locked(stateDir, async () => {
    const found = await findOrStart(context);
    writeHome(stateDir, { ...found.home, users: [...found.home.users.filter(isAlive), thisProcess] });
    return found;
  });
  const closing = new AbortController();
  const gone = new AbortController();
  const watched = watch(context, { home, gone, signal: AbortSignal.any([closing.signal, gone.signal]) });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await watched;
    await locked(stateDir, () => leave(stateDir, home));
  };
  return { url: home.url, origin: home.origin, role, gone: gone.signal, close: () => (closed ??= close()) };
}

type Found = { home: Home; role: RedisHome['role'] };

async function findOrStart(context: Context): Promise<Found> {
  const { stateDir } = context;
  for (let attempt = 1; ; attempt++) {
    const home = readHome(stateDir);
    const state = home === undefined ? 'gone' : await waitFor(home, ['ready', 'gone'], READY_WITHIN_MS);
    if (home !== undefined && state === 'ready') return { home, role: 'joined' };
    if (state === 'unclear') throw stuck(stateDir);
    try {
      return { home: await start(context, home), role: 'started' };
    } catch (error) {
      // The program that took the port may be a server of ours whose starter was killed: find out before trying another.
      const portTaken = error instanceof ChangefeedError && error.facts['portTaken'] === true;
      if (!portTaken || attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function start({ stateDir, launcher }: Context, before: Home | undefined): Promise<Home> {
  const known = before === undefined ? undefined : new URL(before.url);
  const password = known?.password ?? randomBytes(24).toString('hex');
  // A container that is still stopping occupies its port; at another port a second one would run on the same data.
  const port = before?.origin === 'docker' ? Number(known?.port) : await freePort(known && Number(known.port));
  const { origin } = launcher;
  const home = { origin, url: `redis://:${password}@127.0.0.1:${port}/0`, users: before?.users ?? [] };
  // Before it exists: it is found even if this process is killed the next moment.
  writeHome(stateDir, home);
  const pid = await launcher.launch({ dir: join(stateDir, 'redis'), password, port });
  const started = { ...home, ...(pid !== undefined && { server: identityOf(pid) }) };
  writeHome(stateDir, started);
  return started;
}

interface Watching {
  home: Home;
  signal: AbortSignal;
  gone: AbortController;
}

async function watch(context: Context, { home: { url }, signal, gone }: Watching): Promise<void> {
  const { stateDir, log } = context;
  await runLoop({
    name: 'private-redis',
    // It waits for as long as the server lives.
    stallMs: null,
    signal,
    log,
    async run() {
      await untilDisconnected(url, signal);
      if (signal.aborted) return 0;
      const { home, role } = await locked(stateDir, () => findOrStart(context));
      if (role === 'started') log.warn({ stateDir }, 'the private Redis had ended and was started again');
      if (home.url !== url) gone.abort(moved(stateDir, url));
      return 100;
    },
  });
}

async function untilDisconnected(url: string, signal: AbortSignal): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => null });
  redis.on('error', () => undefined);
  // It rejects when the connection fails, or the signal aborts: both end the wait.
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

/** Another program may listen at the port by now. A Redis without a password lets us in, but refuses AUTH. */
async function shutDown(home: Home, stateDir: string): Promise<void> {
  const redis = new Redis(home.url, { retryStrategy: () => null, commandTimeout: STOP_WITHIN_MS });
  redis.on('error', () => undefined);
  // It answers SHUTDOWN by closing the connection.
  const asked = redis.auth(new URL(home.url).password).then(() => redis.shutdown('NOSAVE'));
  await asked.catch(() => undefined);
  redis.disconnect();
  if ((await waitFor(home, ['gone'], STOP_WITHIN_MS)) === 'gone') return;
  if (home.server !== undefined && isAlive(home.server)) process.kill(home.server.pid, 'SIGKILL');
  if ((await waitFor(home, ['gone'], STOP_WITHIN_MS)) !== 'gone') throw stuck(stateDir);
}

/** `unclear`: neither usable nor certainly ended; a second server on its data must not be started. */
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
  // The process says more than the port, which also refuses while the server starts or ends.
  const ended = server === undefined ? outcome !== 'silent' : !isAlive(server);
  return ended ? 'gone' : 'unclear';
}

function stuck(stateDir: string): ChangefeedError {
  return new ChangefeedError('CF_REDIS_UNREACHABLE', {
    message:
      `The private Redis of ${stateDir} runs but neither answers nor ends. A second one on the same data would destroy ` +
      `it, so none was started: end that redis-server by hand, then start again.`,
  });
}

function moved(stateDir: string, url: string): ChangefeedError {
  return new ChangefeedError('CF_REDIS_UNREACHABLE', {
    message:
      `The private Redis of ${stateDir} ended and came up at another address, because another program listens at its ` +
      `port ${new URL(url).port} now. Start this process again.`,
  });
}

function locked<T>(stateDir: string, run: () => Promise<T>): Promise<T> {
  return withFileLock(join(stateDir, 'redis.lock'), run);
}

function homeFile(stateDir: string): string {
  return join(stateDir, 'redis.json');
}

/** @throws when the file exists and may not be read: starting another Redis on the same data would be wrong then */
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

/** By renaming: a process killed in between leaves the old file or the new one, never half of one. */
function writeHome(stateDir: string, home: Home): void {
  const next = `${homeFile(stateDir)}.next`;
  writeFileSync(next, `${JSON.stringify(home, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, homeFile(stateDir));
}
