import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createReadApi } from '../../../src/feed/api/client.js';
import type { Budget } from '../../../src/feed/api/budget.js';
import { createSharedBudget } from '../../../src/feed/api/shared-budget.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { systemClock } from '../../../src/kit/clock.js';
import { silentLog } from '../../../src/kit/log.js';
import { openConnections } from '../../../src/redis/connections.js';
import { createBudgetWindow } from '../../../src/feed/api/budget-window.js';
import { Keys } from '../../../src/redis/keys.js';
import { createScheduleStore } from '../../../src/feed/store/schedule.js';
import { createSweepStore } from '../../../src/feed/store/sweep-store.js';
import { createFailureLog } from '../../../src/feed/list/failures.js';
import { sweepList } from '../../../src/feed/list/loop.js';
import { eventually } from '../../support/eventually.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { redisBinary, type PrivateRedis } from '../../support/private-redis.js';
import { startPrivateRedis } from '../../support/redis.js';

interface Trouble {
  begin: (server: PrivateRedis, admin: Redis) => unknown;
  end: (server: PrivateRedis, admin: Redis) => unknown;
}

/** A connection that is only for this question: `admin` waits for its own script. */
async function call(server: PrivateRedis, ...command: [string, ...string[]]): Promise<unknown> {
  const redis = new Redis(server.url, { enableReadyCheck: false });
  return await redis.call(...command).finally(() => redis.disconnect());
}

const freeze: Trouble = {
  begin: ({ pid }) => process.kill(pid, 'SIGSTOP'),
  end: ({ pid }) => process.kill(pid, 'SIGCONT'),
};
const replicate = async (admin: Redis): Promise<unknown> => admin.call('REPLICAOF', '127.0.0.1', '1');
const promote = async (admin: Redis): Promise<unknown> => admin.call('REPLICAOF', 'NO', 'ONE');

/** What makes the command for the request budget fail, and what the sweep's error then contains. */
const TROUBLES: readonly (readonly [name: string, says: RegExp, trouble: Trouble])[] = [
  ['stopped', /Command timed out/, freeze],
  [
    'killed, and started again later',
    /Command timed out|Connection is closed|max retries per request/,
    { begin: (server) => server.kill(), end: (server) => server.restart() },
  ],
  ['a read-only replica', /READONLY/, { begin: (_, admin) => replicate(admin), end: (_, admin) => promote(admin) }],
  [
    'a replica without its primary',
    /MASTERDOWN/,
    {
      begin: async (_, admin) => {
        await admin.config('SET', 'replica-serve-stale-data', 'no');
        await replicate(admin);
      },
      end: (_, admin) => promote(admin),
    },
  ],
  [
    'without the replicas that it needs',
    /NOREPLICAS/,
    {
      begin: (_, admin) => admin.config('SET', 'min-replicas-to-write', '1'),
      end: (_, admin) => admin.config('SET', 'min-replicas-to-write', '0'),
    },
  ],
  [
    'busy with a script',
    /BUSY \w+ is busy/,
    {
      begin: async (server, admin) => {
        await admin.config('SET', 'busy-reply-threshold', '1');
        void admin.eval('while true do end', 0).catch(() => undefined);
        await eventually(() => expect(call(server, 'PING')).rejects.toThrow('BUSY'));
      },
      end: async (server) => {
        await call(server, 'SCRIPT', 'KILL');
        await eventually(() => expect(call(server, 'PING')).resolves.toBe('PONG'));
      },
    },
  ],
];

describe.skipIf(redisBinary === undefined)('redis failures of a sweep', () => {
  async function prepared() {
    const [crm, server] = await Promise.all([startOtherCrm(), startPrivateRedis()]);
    const connections = openConnections({ url: server.url, limits: { commandTimeoutMs: 1_000 } });
    onTestFinished(() => connections.cut());
    const redis = connections.general();
    const admin = new Redis(server.url).on('error', () => undefined);
    onTestFinished(() => admin.disconnect());
    await admin.ping();
    const [keys, workspace, clock, log] = [new Keys(), 'acme', systemClock, silentLog];
    const limits = { requests: 80, perSeconds: 10 };
    const shared = createSharedBudget({ window: createBudgetWindow({ redis, keys, workspace }), limits, clock });
    let trouble: Trouble = { begin: () => undefined, end: () => undefined };
    // It is over before the sweep ends: then nothing but the cause keeps the failure from being stored.
    const budget: Budget = {
      ...shared,
      async take(request) {
        await trouble.begin(server, admin);
        await shared.take(request).finally(() => trouble.end(server, admin));
      },
    };
    const api = createReadApi({ workspace, baseUrl: crm.url, token: crm.token, budget, attempts: 1 });
    onTestFinished(() => api.close());
    const store = createSweepStore(redis, keys, workspace);
    const rules = compileRules('people');
    const sweep = (): Promise<unknown> =>
      sweepList({ workspace, api, store, clock, log }, { list: 'people', rules, baseline: 'quiet', pagesAhead: 0 });
    const schedule = createScheduleStore(redis, keys, workspace);
    const outages = { away: { holds: false }, refused: { holds: false } };
    const failures = createFailureLog({ workspace, lists: ['people'], schedule, outages, log, clock });
    return {
      ...{ crm, sweep, schedule },
      inTrouble: (wanted: Trouble) => void (trouble = wanted),
      failed: (error: unknown) => failures.failed('people', { error, pace: { intervalMs: 1_000 } }),
    };
  }

  it.each(TROUBLES)(
    'redis failures: a sweep that stops because Redis is %s is no failure of the list',
    { timeout: 60_000 },
    async (_name, says, trouble) => {
      const { sweep, schedule, inTrouble, failed } = await prepared();
      await sweep();
      inTrouble(trouble);
      const error: unknown = await sweep().catch((thrown: unknown) => thrown);

      expect(error).toMatchObject({ code: 'CF_SWEEP_INCOMPLETE', message: expect.stringMatching(says) as string });
      await expect(failed(error)).rejects.toBe(error);
      expect((await schedule.times('people')).failure).toBeNull();
    },
  );

  it('redis failures: what the API says of its own Redis is a failure of the list', async () => {
    const { crm, sweep, schedule, failed } = await prepared();
    crm.fault = () => ({ status: 503, body: { message: "READONLY You can't write against a read only replica." } });
    const error: unknown = await sweep().catch((thrown: unknown) => thrown);

    expect(String(error)).toContain('READONLY');
    await failed(error);
    expect((await schedule.times('people')).failure).toMatchObject({ code: 'CF_UNAVAILABLE' });
  });

  it('redis failures: a connection that the API breaks is a failure of the list', async () => {
    const { schedule, failed } = await prepared();
    const socket = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    const facts = { list: 'people', status: null, words: '', retryAfterMs: null };
    const cause = new ChangefeedError('CF_UNAVAILABLE', { ...facts, message: 'no answer', cause: socket });
    await failed(new ChangefeedError('CF_SWEEP_INCOMPLETE', { list: 'people', page: 3, message: 'stopped', cause }));
    expect((await schedule.times('people')).failure).toMatchObject({ code: 'CF_UNAVAILABLE' });
  });
});
