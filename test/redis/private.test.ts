import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findRedis, freePort } from '../../src/redis/private/launch.js';
import { openRedis, type OpenedRedis } from '../../src/redis/private/open.js';
import { probeRedis } from '../../src/redis/probe.js';
import { silentLog } from '../../src/kit/log.js';
import { eventually } from '../support/eventually.js';
import { isGate } from '../support/night.js';
import { processesIn, redisBinary, stopLeftRedis } from '../support/private-redis.js';
import { useProcesses } from '../support/process.js';
import { startPrivateRedis } from '../support/redis.js';

const churnScript = new URL('../support/redis-churn.ts', import.meta.url);
const ownerScript = new URL('../support/redis-owner.ts', import.meta.url);
const spawnScript = useProcesses();

/** How often each process starts and stops it. */
const TURNS = isGate ? 4 : 12;

let stateDir: string;
let opened: OpenedRedis[];
let stopOwners: (signal: NodeJS.Signals) => Promise<unknown>;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'changefeed-state-'));
  opened = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const redis of opened) await redis.close();
  await stopLeftRedis(stateDir);
  await rm(stateDir, { recursive: true, force: true });
});

async function open(options: Partial<Parameters<typeof openRedis>[0]> = {}): Promise<OpenedRedis> {
  const redis = await openRedis({ stateDir, log: silentLog, ...options });
  opened.push(redis);
  return redis;
}

/** Processes that use it until they get a signal. */
async function owners(count: number): Promise<{ url: string }> {
  const started = Array.from({ length: count }, () => spawnScript(ownerScript, { args: [stateDir] }));
  const lines = await Promise.all(started.map((owner) => owner.waitForLine(/^open/)));
  const [url = '', ...others] = new Set(lines.map((line) => line.slice('open '.length)));
  expect(others).toEqual([]);
  stopOwners = (signal) => Promise.all(started.map((owner) => owner.kill(signal)));
  return { url };
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
const keep = (url: string): Promise<unknown> => withRedis(url, (redis) => redis.set('kept', 'yes'));
const kept = (url: string): Promise<unknown> => withRedis(url, (redis) => redis.get('kept'));
/** A server has a subshell that waits for the end of its process. */
const A_SERVER = existsSync('/proc/self/cwd') ? 2 : 0;
const running = (): number => processesIn(join(stateDir, 'redis'));
const isGone = async (url: string): Promise<boolean> => /ECONNREFUSED/.test(String(await probeRedis(url)));

describe.skipIf(redisBinary === undefined)('private Redis', () => {
  it('private Redis: asks for a password on the loopback address, keeps everything, and shows its files to nobody else', async () => {
    const umask = process.umask(0);
    const { url, origin } = await open().finally(() => process.umask(umask));
    await keep(url);

    expect(origin).toBe('private');
    const { hostname, port, password } = new URL(url);
    expect(hostname).toBe('127.0.0.1');
    await expect(withRedis(`redis://127.0.0.1:${port}`, (other) => other.get('x'))).rejects.toThrow(/NOAUTH/);
    const settings = {
      bind: '127.0.0.1',
      appendonly: 'yes',
      'maxmemory-policy': 'noeviction',
      dir: join(stateDir, 'redis'),
    };
    for (const [name, value] of Object.entries(settings))
      expect(await withRedis(url, (ours) => ours.config('GET', name))).toEqual([name, value]);
    const modeOf = (...path: string[]): number => statSync(join(stateDir, ...path)).mode & 0o777;
    expect([modeOf('redis.conf'), modeOf('redis'), modeOf()]).toEqual([0o600, 0o700, 0o700]);
    const files = readdirSync(join(stateDir, 'redis', 'appendonlydir'));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(modeOf('redis', 'appendonlydir', file) & 0o077).toBe(0);
    const file = `/proc/${await pidOf(url)}/cmdline`;
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').not.toContain(password);
  });

  const refused = (why: string) => ({ code: 'CF_STATE_DIR', message: expect.stringContaining(why) as string });

  it('private Redis: a folder of another user, or one in which others may write, is refused', async () => {
    const { uid } = statSync(stateDir);
    const user = vi.spyOn(process, 'getuid');
    for (const other of [uid + 1, uid === 0 ? 1 : 0]) {
      user.mockReturnValue(other);
      await expect(open()).rejects.toMatchObject(refused('another user. Set CHANGEFEED_STATE_DIR'));
    }
    user.mockRestore();
    for (const mode of [0o1777, 0o777, 0o720]) {
      chmodSync(stateDir, mode);
      await expect(open()).rejects.toMatchObject(refused('others may write. Set CHANGEFEED_STATE_DIR'));
    }
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it('private Redis: an address that others could have written is not believed, nor a damaged one', async () => {
    const [file, elsewhere] = [join(stateDir, 'redis.conf'), join(stateDir, 'elsewhere')];
    const text = 'port 1\nrequirepass theirs\n';
    writeFileSync(elsewhere, text, { mode: 0o600 });
    const plants: [plant: () => void, why: string][] = [
      [() => writeFileSync(file, text, { mode: 0o644 }), 'belongs to another user, or others may'],
      [() => symlinkSync(elsewhere, file), 'belongs to another user, or others may'],
      // Nothing ever writes into it: reading it would have no end.
      [() => execFileSync('mkfifo', ['-m', '600', file]), 'belongs to another user, or others may'],
      [() => writeFileSync(file, '', { mode: 0o600 }), 'is damaged'],
    ];
    for (const [plant, why] of plants) {
      plant();
      await expect(open()).rejects.toMatchObject(refused(`${file} ${why}`));
      rmSync(file);
    }
    expect(readdirSync(join(stateDir, 'redis'))).toEqual([]);
  });

  it('private Redis: a state folder that cannot be written has one code, with the folder and what to do', async () => {
    writeFileSync(join(stateDir, 'file'), '');
    const unwritable = { ...refused('cannot be written (ENOTDIR'), cause: { code: 'ENOTDIR' } };
    await expect(open({ stateDir: join(stateDir, 'file', 'state') })).rejects.toMatchObject(unwritable);
    // The folder is fine, and what has to be created in it cannot be.
    symlinkSync(join(stateDir, 'file'), join(stateDir, 'redis'));
    await expect(open()).rejects.toMatchObject(refused('cannot be written (E'));
  });

  it('private Redis: has its address and its data again after it was closed', async () => {
    const [first, second] = [await open(), await open()];
    await keep(first.url);
    await Promise.all([first.close(), first.close()]);
    expect(await kept(second.url)).toBe('yes');
    await second.close();
    await eventually(async () => expect(await isGone(first.url)).toBe(true));

    const third = await open();
    expect(third.url).toBe(first.url);
    expect(await kept(third.url)).toBe('yes');
    await third.close();
    // The last user has waited for the end.
    expect(await isGone(first.url)).toBe(true);
  });

  it('private Redis: is started again at the same address when it ends while it is in use', async () => {
    const { url } = await open();
    await keep(url);
    const pid = await pidOf(url);
    process.kill(pid, 'SIGTERM');
    await eventually(async () => expect(await pidOf(url)).not.toBe(pid));
    expect(await kept(url)).toBe('yes');
  });

  it('private Redis: goes on without the process that started it, and ends with the last, which removes a temporary folder', async () => {
    const { url } = await open({ temporary: true });
    const first = opened.pop();
    const last = await open({ temporary: true });
    const pid = await pidOf(url);
    await first?.close();
    await owners(1);
    expect(await pidOf(url)).toBe(pid);
    await last.close();
    expect([await pidOf(url), existsSync(stateDir)]).toEqual([pid, true]);

    const removing = await open({ temporary: true });
    await stopOwners('SIGTERM');
    await removing.close();
    expect([await isGone(url), existsSync(stateDir)]).toEqual([true, false]);
  });

  it('private Redis: is started again by another process when the one that started it is killed, and nothing is lost', async () => {
    const { url } = await owners(1);
    await open();
    const pid = await pidOf(url);
    await withRedis(url, async (redis) => {
      let written = 0;
      const write = (): Promise<number> => redis.sadd('written', written++);
      await write();
      await stopOwners('SIGKILL');
      await eventually(async () => {
        await write();
        expect(await pidOf(url)).not.toBe(pid);
      });
      expect(await redis.scard('written')).toBe(written);
    });
    await eventually(() => expect(running()).toBe(A_SERVER));
  });

  it('private Redis: ends with its only process, also when that is killed', async () => {
    const { url } = await owners(1);
    await keep(url);
    await stopOwners('SIGKILL');
    await eventually(async () => expect([await isGone(url), running()]).toEqual([true, 0]));
    expect(await kept((await open()).url)).toBe('yes');
  });

  it('private Redis: one that was left without a process is taken over by the next', async () => {
    const first = await open();
    const { url } = await owners(1);
    const pid = await pidOf(url);
    await first.close();
    await stopOwners('SIGKILL');
    const next = await open();
    expect(await pidOf(url)).toBe(pid);
    await next.close();
    expect(await isGone(url)).toBe(true);
  });

  it('private Redis: nothing signals its process id after its end, as another process may have the id then', async () => {
    const redis = await open();
    process.kill(await pidOf(redis.url), 'SIGKILL');
    await eventually(async () => expect(await isGone(redis.url)).toBe(false));
    await eventually(() => expect(running()).toBe(A_SERVER));
    await redis.close();
    await eventually(() => expect(running()).toBe(0));
  });

  it('private Redis: five processes that start at the same moment share one', async () => {
    const { url } = await owners(5);
    await eventually(() => expect(running()).toBe(A_SERVER));
    await stopOwners('SIGTERM');
    // Who did not stop it ends first, and a process is seen until the system has taken it away.
    await eventually(async () => expect([await isGone(url), running()]).toEqual([true, 0]));
  });

  it(
    'private Redis: never runs twice on its data while several processes start and stop it',
    { timeout: 240_000 },
    async () => {
      const churns = [1, 2, 3, 4].map(() => spawnScript(churnScript, { args: [stateDir, String(TURNS)] }));
      const exits = await Promise.all(churns.map(({ exited }) => exited));
      expect(exits).toEqual(churns.map(() => ({ code: 0, signal: null })));
      // A second server on the same files would have lost counts of the first one.
      expect(await withRedis((await open()).url, (redis) => redis.get('count'))).toBe(String(4 * TURNS));
    },
  );

  it('private Redis: another Redis on its port is neither used nor stopped', async () => {
    const foreign = await startPrivateRedis();
    await withRedis(foreign.url, (redis) => redis.config('SET', 'requirepass', ''));
    const url = `redis://:ours@127.0.0.1:${foreign.port}/0`;
    writeFileSync(join(stateDir, 'redis.conf'), `port ${foreign.port}\nrequirepass ours\n`, { mode: 0o600 });
    const redis = await open();
    expect(new URL(redis.url).port).toBe(String(foreign.port + 1));
    // The control: without the check of the password, the other server accepts the client.
    expect(await probeRedis(url)).toBeNull();
    expect(String(await probeRedis(url, { mustKnowPassword: true }))).toContain('without any password');
    await redis.close();
    expect(await probeRedis(`redis://127.0.0.1:${foreign.port}`)).toBeNull();
  });

  it('private Redis: a copy of its folder has a server and data of its own', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'changefeed-copy-'));
    const { url } = await open();
    await keep(url);
    cpSync(stateDir, copy, { recursive: true });
    const other = await open({ stateDir: copy });
    await withRedis(other.url, (redis) => redis.set('kept', 'no'));
    expect(await kept(url)).toBe('yes');
    await other.close();
    await rm(copy, { recursive: true });
  });

  it('private Redis: the error says why it did not start, or how to install one', async () => {
    const [redis] = [await open()];
    await redis.close();
    const [file = ''] = readdirSync(join(stateDir, 'redis', 'appendonlydir')).filter((name) =>
      name.endsWith('manifest'),
    );
    writeFileSync(join(stateDir, 'redis', 'appendonlydir', file), 'damaged\n');
    const damaged = { code: 'CF_REDIS_MISSING', message: expect.stringMatching(/ended at once.*manifest/is) as string };
    await expect(open()).rejects.toMatchObject(damaged);
    vi.stubEnv('PATH', stateDir);
    const absent = {
      code: 'CF_REDIS_MISSING',
      message: expect.stringMatching(/REDIS_URL.*Install Redis: ./) as string,
    };
    await expect(open()).rejects.toMatchObject(absent);
    writeFileSync(join(stateDir, 'valkey-server'), '#!/bin/sh\n', { mode: 0o755 });
    expect(findRedis()).toBe('valkey-server');
  });
});

it('named Redis: is used and left running', async () => {
  const server = await startPrivateRedis();
  const redis = await open({ url: server.url });
  expect(redis).toMatchObject({ origin: 'named', url: server.url });
  await redis.close();
  expect(await probeRedis(server.url)).toBeNull();
  expect(existsSync(join(stateDir, 'redis.conf'))).toBe(false);
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
