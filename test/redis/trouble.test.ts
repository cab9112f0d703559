import { writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { isGate, rowsOfGate } from '../support/night.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { redisBinary, type PrivateRedis } from '../support/private-redis.js';
import type { TestProcess } from '../support/process.js';
import { startPrivateRedis } from '../support/redis.js';

interface Line {
  level: string;
  msg: string;
  [fact: string]: unknown;
}

const linesOf = ({ stderr }: TestProcess): Line[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
const logged = (service: TestProcess, message: RegExp): Line[] =>
  linesOf(service).filter(({ msg }) => message.test(msg));
const alarms = (service: TestProcess): string[] =>
  linesOf(service)
    .filter(({ level }) => level === 'warn' || level === 'error')
    .map(({ msg }) => msg);

/** Waits until the outage has caused a failure, which is logged at the debug level only. */
async function untilFailureIsQuieted(service: TestProcess): Promise<void> {
  const failures = (): Line[] => logged(service, /a turn failed/).filter(({ level }) => level === 'debug');
  await eventually(() => expect(failures().length).toBeGreaterThan(0));
}

/** Waits until the service has checked Redis three times more, which takes 6 to 9 s. Each check tries one SETRANGE. */
async function threeChecks(admin: Redis): Promise<void> {
  const checks = async (): Promise<number> => {
    const stats = /^cmdstat_setrange:.*$/m.exec(await admin.info('commandstats'))?.[0] ?? '';
    return [...stats.matchAll(/(?:calls|rejected_calls)=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
  };
  const before = await checks();
  await eventually(async () => expect(await checks()).toBeGreaterThanOrEqual(before + 3), { intervalMs: 500 });
}

async function commandsTo({ url }: PrivateRedis): Promise<Redis> {
  const redis = new Redis(url);
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  await redis.ping();
  return redis;
}

describe.skipIf(redisBinary === undefined)('redis trouble', { timeout: 240_000 }, () => {
  const cli = useCli();

  async function folderOf(
    crm: OtherCrm,
    redis: PrivateRedis,
    { handle = '', options = {}, logLevel = 'info', interval = '1s' } = {},
  ) {
    const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, { interval }]));
    const workspace = { name: 'acme', baseUrl: crm.url, token: crm.token, lists };
    const folder = await cli({
      'changefeed.config.mjs': `
        import { existsSync, writeSync } from 'node:fs';
        import { defineHandler } from 'crm-changefeed';
        export default {
          workspaces: [${JSON.stringify(workspace)}],
          redis: ${JSON.stringify(options)},
          subscriptions: [defineHandler({ name: 'out', concurrency: 2, async handle(event, { signal }) {
            writeSync(1, JSON.stringify({ subject: event.subject, type: event.type }) + '\\n');
            ${handle}
          } })],
        };`,
    });
    const env = { REDIS_URL: redis.url, LOG_LEVEL: logLevel };
    return {
      cwd: folder.cwd,
      start: (more: readonly string[] = []) => folder.start(['start', ...more], env),
      run: (args: readonly string[]) => folder.run(args, env),
    };
  }
  async function spoilt(options?: Parameters<typeof folderOf>[2]) {
    const [crm, redis] = await Promise.all([startOtherCrm(), startPrivateRedis()]);
    const [admin, folder] = await Promise.all([commandsTo(redis), folderOf(crm, redis, options)]);
    return { crm, redis, admin, folder };
  }
  async function running(folder: { start: () => TestProcess }): Promise<TestProcess> {
    const service = folder.start();
    await service.waitForLine(/changefeed is running/);
    const swept = (): Set<unknown> => new Set(logged(service, /^sweep complete$/).map(({ list }) => list));
    await eventually(() => expect(swept().size).toBe(6));
    return service;
  }
  const edit = (crm: OtherCrm, index: number, name: string): void => {
    crm.lists.people[index] = { ...crm.lists.people[index]!, 이름: name };
  };
  const handled = (service: TestProcess): number => service.stdout.split('\n').filter((line) => line !== '').length;

  const absences: [string, (redis: PrivateRedis) => unknown, (redis: PrivateRedis) => unknown][] = [
    ['killed and started again', (redis) => redis.kill(), (redis) => redis.restart()],
    ['silent', ({ pid }) => process.kill(pid, 'SIGSTOP'), ({ pid }) => process.kill(pid, 'SIGCONT')],
  ];
  it.each(rowsOfGate(1, absences))(
    'redis trouble: a Redis that is %s is logged once when it goes away and once when it is back',
    async (_what, begin, end) => {
      const { crm, redis, folder } = await spoilt({ logLevel: 'debug' });
      const service = await running(folder);
      await begin(redis);
      await service.waitForLine(/Redis went away/);
      await untilFailureIsQuieted(service);
      await end(redis);
      await service.waitForLine(/Redis is back/);
      edit(crm, 0, 'after');
      await eventually(() => expect(handled(service)).toBe(1));
      expect(alarms(service)).toEqual(['Redis went away']);
      expect(logged(service, /^Redis is back$/)).toEqual([
        expect.objectContaining({ redis: `127.0.0.1:${redis.port}`, forMs: expect.any(Number) as number }),
      ]);
      expect(service.stderr).not.toContain('test-password');
      expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
  );

  it.skipIf(isGate).each(['SIGSTOP', 'SIGKILL'] as const)(
    'redis trouble: a stop while Redis is away (%s) ends within seconds, with exit code 0 if no work was in progress',
    async (signal) => {
      // No sweep after the baselines: a commit that is in progress would rightly make the exit code 1.
      const { redis, folder } = await spoilt({ interval: '1h' });
      const service = await running(folder);
      process.kill(redis.pid, signal);
      await service.waitForLine(/Redis went away/);
      const started = performance.now();
      expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(alarms(service)).toEqual(['Redis went away']);
      expect(logged(service, /^Redis is back$/)).toEqual([]);
    },
  );

  it('redis trouble: a stop while Redis is away names the handlers that were running, and the exit code is 1', async () => {
    const handle = `await new Promise((resolve) => signal.addEventListener('abort', resolve));`;
    const { crm, redis, folder } = await spoilt({ handle });
    const service = await running(folder);
    edit(crm, 0, 'slow');
    await eventually(() => expect(handled(service)).toBe(1));
    await redis.kill();
    await service.waitForLine(/Redis went away/);
    const started = performance.now();
    expect(await service.kill('SIGTERM')).toEqual({ code: 1, signal: null });
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(service.stderr).toMatch(
      /^changefeed: Redis at 127\.0\.0\.1:\d+ gave no answer .*under way: .*handling of "out".*\[CF_STOP_TIMEOUT\]$/m,
    );
  });

  it('redis trouble: a policy that evicts is refused at the start with one message, unless the configuration allows it', async () => {
    const { crm, redis, admin, folder } = await spoilt();
    await admin.config('SET', 'maxmemory-policy', 'volatile-lru');
    const refused = folder.start();
    expect(await refused.exited).toEqual({ code: 1, signal: null });
    expect(refused.stderr).toMatch(
      /^changefeed: Redis at 127\.0\.0\.1:\d+ has maxmemory-policy "volatile-lru" .*CONFIG SET maxmemory-policy noeviction.*redis\.conf.*allowEviction: true.*\[CF_REDIS_EVICTS\]\n$/,
    );
    const { code, stderr } = await folder.run(['sweep']);
    expect(code).toBe(1);
    expect(stderr).toContain(refused.stderr);
    expect(crm.asked).toEqual([]);

    const tolerant = await folderOf(crm, redis, { options: { allowEviction: true } });
    const service = await running(tolerant);
    expect(alarms(service)).toEqual(['Redis may evict keys, which redis.allowEviction allows: state may be lost']);
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it.skipIf(isGate)(
    'redis trouble: if INFO and CONFIG are forbidden, the policy is not checked, and a warning says so',
    async () => {
      const [crm, redis] = await Promise.all([startOtherCrm(), startPrivateRedis()]);
      const admin = await commandsTo(redis);
      await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-config', '-info');
      const url = redis.url.replace(/:\/\/:[^@]+@/, '://app:secret@');
      const folder = await folderOf(crm, { ...redis, url });
      const service = folder.start();
      await service.waitForLine(/the eviction policy of Redis may not be read/);
      await service.kill('SIGKILL');
    },
  );

  it.skipIf(isGate)(
    'redis trouble: when the policy begins to evict, polling stops with one error, and it continues when the policy is safe',
    async () => {
      const { crm, admin, folder } = await spoilt();
      const service = await running(folder);
      await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await service.waitForLine(/Redis may evict keys/);
      edit(crm, 0, 'while paused');
      const asked = crm.asked.length;
      await threeChecks(admin);
      expect(crm.asked.length - asked).toBeLessThanOrEqual(3);
      expect(handled(service)).toBe(0);
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      await eventually(() => expect(handled(service)).toBe(1));
      expect(alarms(service)).toEqual(['Redis may evict keys: polling, dispatching and handling are paused']);
      expect(logged(service, /^Redis evicts no keys any more/)).toEqual([
        expect.objectContaining({ forMs: expect.any(Number) as number }),
      ]);
      expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
  );

  const refusals = [
    {
      what: 'is full',
      begin: (admin: Redis) => admin.config('SET', 'maxmemory', '1mb'),
      end: (admin: Redis) => admin.config('SET', 'maxmemory', '0'),
      begins: 'Redis is out of memory and refuses writes: polling, dispatching and handling are paused',
      ends: 'Redis has memory again; work goes on',
    },
    {
      what: 'cannot save',
      begin: async (admin: Redis, { dir }: PrivateRedis) => {
        await admin.config('SET', 'save', '3600 1');
        // A folder where the snapshot belongs.
        await mkdir(join(dir, 'dump.rdb'));
        await admin.bgsave();
        const hasFailed = async () => expect(await admin.info('persistence')).toContain('rdb_last_bgsave_status:err');
        await eventually(hasFailed);
      },
      end: async (admin: Redis, { dir }: PrivateRedis) => {
        await rm(join(dir, 'dump.rdb'), { recursive: true });
        await admin.bgsave();
      },
      begins: 'Redis cannot save its data and refuses writes: polling, dispatching and handling are paused',
      ends: 'Redis can save its data again; work goes on',
    },
    ...[
      ['-eval', '-evalsha'],
      ['-zadd', '-xadd', '-hset', '-set'],
    ].map((rights) => ({
      what: `has a user that lost ${rights.join(' ')}`,
      begin: (admin: Redis) => admin.call('ACL', 'SETUSER', 'default', ...rights),
      end: (admin: Redis) => admin.call('ACL', 'SETUSER', 'default', '+@all'),
      begins: 'The user of Redis lacks a right: polling, dispatching and handling are paused',
      ends: 'The user of Redis has its rights again; work goes on',
    })),
  ];
  it.each(rowsOfGate(1, refusals))(
    'redis trouble: a Redis that $what is logged once when it begins and once when it ends, and no event is lost',
    async ({ begin, end, begins, ends }) => {
      const { crm, redis, admin, folder } = await spoilt();
      const service = await running(folder);
      await begin(admin, redis);
      edit(crm, 0, 'first');
      await eventually(() => expect(alarms(service)).toEqual([begins]));
      edit(crm, 1, 'second');
      const status = await folder.run(['status']);
      expect(`${status.stdout}${status.stderr}`).toMatch(/Redis refuses (writes: |"eval).*(maxmemory|save|rights)/u);
      const lines = linesOf(service).length;
      await threeChecks(admin);
      expect(linesOf(service).length - lines).toBeLessThan(10);
      await end(admin, redis);
      await eventually(() => expect(logged(service, new RegExp(ends))).toHaveLength(1));
      await eventually(() => expect(handled(service)).toBe(2));
      expect(alarms(service)).toEqual([begins]);
      expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
  );

  it.skipIf(isGate)(
    'redis trouble: while events wait, a full Redis gets some commands per second and not thousands',
    async () => {
      const handle = `while (!existsSync('released')) await new Promise((resolve) => setTimeout(resolve, 20));`;
      const { crm, admin, folder } = await spoilt({ handle });
      const service = await running(folder);
      for (let index = 0; index < 10; index++) edit(crm, index, `name ${index}`);
      await eventually(async () => expect(await admin.xlen('changefeed:{acme}:log')).toBe(10));
      await eventually(() => expect(handled(service)).toBeGreaterThan(1));
      await admin.config('SET', 'maxmemory', '1mb');
      await service.waitForLine(/Redis is out of memory/);
      writeFileSync(join(folder.cwd, 'released'), '');
      const commands = async (): Promise<number> =>
        Number(/total_commands_processed:(\d+)/.exec(await admin.info('stats'))?.[1]);
      const before = await commands();
      await threeChecks(admin);
      expect((await commands()) - before).toBeLessThan(1_000);
      await admin.config('SET', 'maxmemory', '0');
      const subjects = (): Set<string> => new Set(service.stdout.split('\n').filter((line) => line !== ''));
      await eventually(() => expect(subjects().size).toBe(10));
      expect(alarms(service)).toHaveLength(1);
      expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
  );
});
