/**
 * The one Redis of a state directory. The first process starts it and owns it; later ones join it; when its owner was
 * killed, the next process adopts it. `redis.json` says which it is. Whether it is really ours is proved by its password,
 * never by its port: a Redis that somebody else runs is never touched.
 *
 *   nobody there ── start ──> ours, owned by us      (close: stopped, redis.json removed)
 *   ours, owner lives ── join ──> used by us         (close: nothing; it goes with its owner)
 *   ours, owner dead ── adopt ──> owned by us        (close: stopped, redis.json removed)
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { ChangefeedError } from '../errors.js';
import { systemClock } from './clock.js';
import { withFileLock } from './file-lock.js';
import type { Log } from './log.js';
import { isAlive, thisProcess } from './process-identity.js';
import { probeRedis } from './redis-probe.js';

/** A way to start a Redis. */
export interface RedisLauncher {
  readonly origin: 'private' | 'docker';
  launch(options: LaunchOptions): Promise<LaunchedRedis>;
}

export interface LaunchOptions {
  /** Where its data goes. */
  dir: string;
  password: string;
  log: Log;
  /** To be called as soon as a process exists, so that it is found again even if we die the next moment. */
  onSpawn: (url: string) => void;
}

export interface LaunchedRedis {
  readonly url: string;
  stop(): Promise<void>;
}

export interface RedisHome {
  readonly url: string;
  readonly origin: RedisLauncher['origin'];
  /** How we came to it. */
  readonly role: 'started' | 'joined' | 'adopted';
  close(): Promise<void>;
}

const homeSchema = z.object({
  version: z.literal(1),
  origin: z.enum(['private', 'docker']),
  url: z.string(),
  owner: z.object({ pid: z.number(), token: z.string() }),
});
type HomeFile = z.infer<typeof homeSchema>;

interface Context {
  stateDir: string;
  launcher: RedisLauncher;
  log: Log;
}

const LOADING_MS = 60_000;

/** @throws ChangefeedError CF_REDIS_MISSING, CF_REDIS_UNREACHABLE */
export async function openRedisHome(context: Context): Promise<RedisHome> {
  mkdirSync(context.stateDir, { recursive: true, mode: 0o700 });
  return locked(context.stateDir, async () => (await useExisting(context)) ?? (await startNew(context)));
}

async function useExisting({ stateDir, log }: Context): Promise<RedisHome | undefined> {
  const home = readHome(stateDir);
  if (home === undefined) return undefined;
  const { outcome } = await probeRedis(home.url, { timeoutMs: LOADING_MS, mustKnowPassword: true });
  // Gone, or its port was taken over by a Redis that does not know our password.
  if (outcome === 'absent' || outcome === 'refused') return undefined;
  if (outcome === 'silent') throw stuck(stateDir);
  const { url, origin } = home;
  if (isAlive(home.owner)) return { url, origin, role: 'joined', close: () => Promise.resolve() };
  if (origin === 'docker') {
    // Docker's reaper takes the containers of a dead process away by itself, under our feet if we used it.
    await untilGone(url, stateDir);
    return undefined;
  }
  writeHome(stateDir, { ...home, owner: thisProcess });
  log.info({ stateDir }, 'adopted the private Redis of a process that is gone');
  return { url, origin, role: 'adopted', close: closing(stateDir, () => shutDown(url, stateDir)) };
}

async function startNew({ stateDir, launcher, log }: Context): Promise<RedisHome> {
  const { origin } = launcher;
  const launched = await launcher.launch({
    dir: join(stateDir, 'redis'),
    password: randomBytes(24).toString('hex'),
    log,
    onSpawn: (url) => writeHome(stateDir, { version: 1, origin, url, owner: thisProcess }),
  });
  return { url: launched.url, origin, role: 'started', close: closing(stateDir, () => launched.stop()) };
}

/** Under the lock, so that a process starting meanwhile waits until the data is on disk and free; and once. */
function closing(stateDir: string, stop: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () =>
    (closed ??= locked(stateDir, async () => {
      await stop();
      rmSync(homeFile(stateDir), { force: true });
    }));
}

/** An adopted Redis is not our child: it is asked over the connection that proved it to be ours. */
async function shutDown(url: string, stateDir: string): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  // It answers by hanging up.
  await redis.shutdown('NOSAVE').catch(() => undefined);
  redis.disconnect();
  await untilGone(url, stateDir);
}

async function untilGone(url: string, stateDir: string): Promise<void> {
  const deadline = systemClock.now() + 30_000;
  const isThere = async (): Promise<boolean> => {
    const { outcome } = await probeRedis(url, { timeoutMs: 2_000, mustKnowPassword: true });
    return outcome === 'ready' || outcome === 'silent';
  };
  while (await isThere()) {
    if (systemClock.now() >= deadline) throw stuck(stateDir);
    await systemClock.sleep(50);
  }
}

function stuck(stateDir: string): ChangefeedError {
  return new ChangefeedError('CF_REDIS_UNREACHABLE', {
    message:
      `The private Redis of ${stateDir} runs but neither answers nor ends. A second one on the same data would destroy ` +
      `it, so none was started: end that redis-server by hand, then start again.`,
  });
}

function locked<T>(stateDir: string, run: () => Promise<T>): Promise<T> {
  return withFileLock({ path: join(stateDir, 'redis.lock') }, run);
}

function homeFile(stateDir: string): string {
  return join(stateDir, 'redis.json');
}

function readHome(stateDir: string): HomeFile | undefined {
  try {
    return homeSchema.safeParse(JSON.parse(readFileSync(homeFile(stateDir), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** By renaming: whoever reads sees the old file or the new one, never half of one. */
function writeHome(stateDir: string, home: HomeFile): void {
  const next = `${homeFile(stateDir)}.next`;
  writeFileSync(next, `${JSON.stringify(home, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, homeFile(stateDir));
}
