import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { getContainerRuntimeClient } from 'testcontainers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRedis, type OpenedRedis } from '../../src/redis/private/open.js';
import { silentLog } from '../../src/runtime/log.js';
import { freePort } from '../../src/redis/private/port.js';
import { startRedisServer, type RedisLauncher } from '../../src/redis/private/launch.js';
import { probeRedis } from '../../src/redis/probe.js';
import { eventually } from '../support/eventually.js';
import { redisBinary, serversIn, stopLeftRedis } from '../support/private-redis.js';
import { useProcesses } from '../support/process.js';
import { startPrivateRedis } from '../support/redis.js';

const churnScript = new URL('../support/redis-churn.ts', import.meta.url);
const ownerScript = new URL('../support/redis-owner.ts', import.meta.url);
const spawnScript = useProcesses();
const noDocker: RedisLauncher = { origin: 'docker', launch: () => Promise.reject(new Error('no container engine')) };

let stateDir: string;
let opened: OpenedRedis[];
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'changefeed-state-'));
  opened = [];
});
afterEach(async () => {
  for (const redis of opened) await redis.close();
  await stopLeftRedis(stateDir);
  await rm(stateDir, { recursive: true, force: true });
});

async function open(options: Partial<Parameters<typeof openRedis>[0]> = {}): Promise<OpenedRedis> {
  const redis = await openRedis({ stateDir, log: silentLog, ...options });
  opened.push(redis);
  return redis;
}

async function withRedis<T>(url: string, query: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { retryStrategy: () => 20 });
  redis.on('error', () => undefined);
  try {
    return await query(redis);
  } finally {
    redis.disconnect();
  }
}

const pidOf = (url: string): Promise<number> =>
  withRedis(url, async (redis) => Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]));
const isAnswering = async (url: string): Promise<boolean> => (await probeRedis(url)) === null;
const isGone = async (url: string): Promise<boolean> => /ECONNREFUSED/.test(String(await probeRedis(url)));

describe.skipIf(redisBinary === undefined)('private Redis', () => {
  it('private Redis: listens on the loopback address only, requires a password, and only its owner can read its files', async () => {
    const redis = await open();
    const { hostname, port } = new URL(redis.url);
    expect(redis.origin).toBe('private');
    expect(hostname).toBe('127.0.0.1');
    await expect(withRedis(`redis://127.0.0.1:${port}`, (other) => other.get('x'))).rejects.toThrow(/NOAUTH/);
    expect(await withRedis(redis.url, (ours) => ours.config('GET', 'bind'))).toEqual(['bind', '127.0.0.1']);
    expect(statSync(join(stateDir, 'redis.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(stateDir, 'redis')).mode & 0o777).toBe(0o700);
  });

  it('private Redis: its files are private whatever the umask, and nothing is written through a link', async () => {
    const umask = process.umask(0);
    try {
      writeFileSync(join(stateDir, 'victim'), 'mine');
      symlinkSync(join(stateDir, 'victim'), join(stateDir, 'redis.json.next'));
      chmodSync(stateDir, 0o777);
      const redis = await open();
      await withRedis(redis.url, (ours) => ours.set('a', 'b'));
      const aof = join(stateDir, 'redis', 'appendonlydir');
      const modes = readdirSync(aof).map((name) => statSync(join(aof, name)).mode & 0o077);
      expect(modes.length).toBeGreaterThan(0);
      expect(modes.filter((mode) => mode !== 0)).toEqual([]);
      expect(statSync(stateDir).mode & 0o777).toBe(0o755);
      expect(readFileSync(join(stateDir, 'victim'), 'utf8')).toBe('mine');
      expect(process.umask(0)).toBe(0);
    } finally {
      process.umask(umask);
    }
  });

  it('private Redis: a folder in which everyone may write is refused', async () => {
    chmodSync(stateDir, 0o1777);
    await expect(open()).rejects.toMatchObject({
      code: 'CF_REDIS_MISSING',
      message: expect.stringContaining('everyone may write. Set CHANGEFEED_STATE_DIR') as string,
    });
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it('private Redis: its password is not on its command line', async () => {
    const redis = await open();
    const file = `/proc/${await pidOf(redis.url)}/cmdline`;
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').not.toContain(new URL(redis.url).password);
  });

  it('private Redis: keeps its data in the state directory and evicts nothing', async () => {
    const redis = await open();
    const setting = (name: string): Promise<unknown> => withRedis(redis.url, (ours) => ours.config('GET', name));
    expect(await setting('appendonly')).toEqual(['appendonly', 'yes']);
    expect(await setting('maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    expect(await setting('dir')).toEqual(['dir', join(stateDir, 'redis')]);
  });

  it('private Redis: has its address and its data again after it was closed', async () => {
    const first = await open();
    await withRedis(first.url, (redis) => redis.set('kept', 'yes'));
    await first.close();
    expect(await isGone(first.url)).toBe(true);

    const second = await open();
    expect(second.url).toBe(first.url);
    expect(await withRedis(second.url, (redis) => redis.get('kept'))).toBe('yes');
  });

  it('private Redis: is started again at the same address when it ends while it is in use', async () => {
    const { url } = await open();
    await withRedis(url, (redis) => redis.set('kept', 'yes'));
    const pid = await pidOf(url);
    // The append-only file is flushed once a second; this test does not cover the loss of the last second.
    await withRedis(url, (redis) => redis.call('WAITAOF', '1', '0', '0').catch(() => redis.bgrewriteaof()));
    process.kill(pid, 'SIGTERM');
    await eventually(async () => {
      expect(await pidOf(url)).not.toBe(pid);
    });
    expect(await withRedis(url, (redis) => redis.get('kept'))).toBe('yes');
  });

  it('private Redis: a second process joins it and leaves it running', async () => {
    const owner = spawnScript(ownerScript, { args: [stateDir] });
    const url = (await owner.waitForLine(/^open/)).slice('open '.length);
    const joined = await open();
    expect(joined.url).toBe(url);
    await joined.close();
    expect(await isAnswering(url)).toBe(true);

    expect(await owner.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await isGone(url)).toBe(true);
  });

  it('private Redis: outlives a killed process while another one uses it, ends with the last one, and keeps its data', async () => {
    const owners = [1, 2].map(() => spawnScript(ownerScript, { args: [stateDir] }));
    const [url = ''] = await Promise.all(
      owners.map(async (owner) => (await owner.waitForLine(/^open/)).slice('open '.length)),
    );
    const pid = await pidOf(url);
    await withRedis(url, (redis) => redis.set('kept', 'yes'));
    await owners[0]?.kill();
    expect(await pidOf(url)).toBe(pid);

    await owners[1]?.kill();
    await eventually(async () => expect(await isGone(url)).toBe(true));
    const next = await open();
    expect(next.url).toBe(url);
    expect(await withRedis(next.url, (redis) => redis.get('kept'))).toBe('yes');
  });

  it('private Redis: a folder in which no named pipe can be made is refused', async () => {
    // mkfifo fails.
    symlinkSync(join(stateDir, 'nowhere', 'at', 'all'), join(stateDir, 'redis.users'));
    await expect(open()).rejects.toMatchObject({
      code: 'CF_REDIS_MISSING',
      message: expect.stringContaining('no named pipes. Set CHANGEFEED_STATE_DIR') as string,
    });
  });

  it('private Redis: a process that opens it twice and closes it once keeps it running', async () => {
    const [first, second] = [await open(), await open()];
    await Promise.all([first.close(), first.close()]);
    expect(await isAnswering(second.url)).toBe(true);
    await second.close();
    expect(await isGone(second.url)).toBe(true);
  });

  it(
    'private Redis: never runs twice on its data while several processes start and stop it',
    { timeout: 240_000 },
    async () => {
      const churns = [1, 2, 3, 4].map(() => spawnScript(churnScript, { args: [stateDir, '12'] }));
      const done = Promise.all(churns.map(({ exited }) => exited));
      const counts = new Set<number>();
      let running = true;
      void done.finally(() => (running = false));
      while (running) {
        counts.add(serversIn(join(stateDir, 'redis')));
        await setImmediate();
      }
      expect(await done).toEqual(churns.map(() => ({ code: 0, signal: null })));
      expect(Math.max(...counts)).toBeLessThanOrEqual(1);
      // A second server on the same files would have lost counts of the first one.
      expect(await withRedis((await open()).url, (redis) => redis.get('count'))).toBe('48');
    },
  );

  it('private Redis: processes that start at the same moment share one', async () => {
    const owners = [1, 2, 3].map(() => spawnScript(ownerScript, { args: [stateDir] }));
    const lines = await Promise.all(owners.map((owner) => owner.waitForLine(/^open/)));
    expect(new Set(lines).size).toBe(1);
    for (const owner of owners) await owner.kill();
  });

  it('private Redis: another Redis on its port is neither used nor stopped', async () => {
    const foreign = await startPrivateRedis();
    await withRedis(foreign.url, (redis) => redis.config('SET', 'requirepass', ''));
    const home = { origin: 'private', url: `redis://:ours@127.0.0.1:${foreign.port}/0` };
    writeFileSync(join(stateDir, 'redis.json'), JSON.stringify(home));
    const redis = await open();
    expect(new URL(redis.url).port).not.toBe(String(foreign.port));
    // The control: without the check of the password, the other server accepts the client.
    expect(await probeRedis(home.url)).toBeNull();
    expect(String(await probeRedis(home.url, { mustKnowPassword: true }))).toContain('without any password');
    await redis.close();
    expect(await isAnswering(`redis://127.0.0.1:${foreign.port}`)).toBe(true);
  });

  it('private Redis: the lock of a killed process is taken over', async () => {
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(join(stateDir, 'redis.lock'), JSON.stringify({ pid: process.pid, token: 'of an earlier life' }));
    expect((await open()).origin).toBe('private');
    expect(existsSync(join(stateDir, 'redis.lock'))).toBe(false);
  });
});

describe('private Redis in a container', () => {
  it.skipIf(redisBinary === undefined)('private Redis: runs in a container if there is no redis-server', async () => {
    const launch: RedisLauncher['launch'] = async (options) => {
      await startRedisServer({ binary: redisBinary ?? '', ...options });
    };
    const redis = await open({ searchPath: '', container: { origin: 'docker', launch } });
    expect(redis.origin).toBe('docker');
    expect(await isAnswering(redis.url)).toBe(true);
    await redis.close();
    expect(await isGone(redis.url)).toBe(true);
  });

  it(
    'private Redis: a real container keeps its data in the state directory',
    { timeout: 240_000 },
    async ({ skip }) => {
      const engine = await getContainerRuntimeClient().catch(() => undefined);
      skip(engine === undefined, 'there is no container engine on this machine');
      const first = await open({ searchPath: '' });
      await withRedis(first.url, (redis) => redis.set('kept', 'yes'));
      await first.close();
      const second = await open({ searchPath: '' });
      expect(await withRedis(second.url, (redis) => redis.get('kept'))).toBe('yes');
    },
  );

  it('private Redis: without redis-server and Docker, the error says how to install one', async () => {
    await expect(open({ searchPath: '', container: noDocker })).rejects.toMatchObject({
      code: 'CF_REDIS_MISSING',
      message: expect.stringMatching(/REDIS_URL.*redis-server.*no container engine.*Install Redis: ./) as string,
    });
  });
});

describe('named Redis', () => {
  it('named Redis: is used and left running', async () => {
    const server = await startPrivateRedis();
    const redis = await open({ url: server.url });
    expect(redis).toMatchObject({ origin: 'named', url: server.url });
    await redis.close();
    expect(await isAnswering(server.url)).toBe(true);
    expect(existsSync(join(stateDir, 'redis.json'))).toBe(false);
  });

  it('named Redis: the error for an unreachable server has its host and port, and not its password', async () => {
    const port = await freePort();
    const failure = await open({ url: `redis://:s3cret@127.0.0.1:${port}/0` }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: 'CF_REDIS_UNREACHABLE',
      message: expect.stringContaining(`127.0.0.1:${port} cannot be reached`) as string,
    });
    expect(inspect(failure, { depth: 9 })).not.toContain('s3cret');
  });

  it.each([
    ['a wrong password', 'redis://:wrong@HOST/0', /refused the user or password.*REDIS_URL/],
    ['no password', 'redis://HOST/0', /asks for a password.*redis:\/\/:password@/],
    ['a database it does not have', 'redis://:test-password@HOST/99', /has no database 99/],
  ])('named Redis: the error for %s says what to correct', async (_what, url, message) => {
    const server = await startPrivateRedis();
    await expect(open({ url: url.replace('HOST', `127.0.0.1:${server.port}`) })).rejects.toMatchObject({
      code: 'CF_REDIS_UNREACHABLE',
      message: expect.stringMatching(message) as string,
    });
  });

  it.each(['localhost:6379', 'http://localhost:6379', 'redis://localhost/first', ''])(
    'named Redis: %j is not a valid URL',
    async (url) => {
      await expect(open({ url })).rejects.toMatchObject({
        code: 'CF_CONFIG_INVALID',
        message: expect.stringMatching(/must be a URL such as redis:\/\//) as string,
      });
    },
  );
});
