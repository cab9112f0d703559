import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Finding } from '../../src/service/doctor.js';
import { Keys } from '../../src/redis/keys.js';
import { useCli } from '../support/cli.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { launchRedis, redisBinary } from '../support/private-redis.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe.skipIf(redisBinary === undefined)('doctor', () => {
  const cli = useCli();
  const configOf = (crm: OtherCrm, token: string, endpoint: string) => ({
    workspaces: [{ name: 'acme', baseUrl: crm.url, token }],
    subscriptions: [
      { name: 'desk', on: ['crm.*'], handler: 'webhook', url: endpoint, secret: SECRET, allowHosts: ['127.0.0.1'] },
    ],
  });
  const examine = async (config: object, redisUrl: string) => {
    const folder = await cli({ 'changefeed.config.json': config });
    // A handler reads it there.
    vi.stubEnv('REDIS_URL', redisUrl);
    const { code, stdout, stderr } = await folder.call(['doctor', '--json'], { REDIS_URL: redisUrl });
    expect(stderr).toBe('');
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    const resultOf = (check: string) => findings.find((one) => one.check === check)?.result;
    return { code, stdout, findings, resultOf, folder };
  };

  it('doctor: everything in order is exit code 0, and an endpoint gets no request', async () => {
    const crm = await startOtherCrm();
    const redis = await launchRedis();
    onTestFinished(() => redis.close());
    let requests = 0;
    const receiver = createServer((_, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void receiver.close());
    const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

    const { code, findings, resultOf } = await examine(configOf(crm, crm.token, endpoint), redis.url);

    expect(findings.filter(({ result }) => result === 'error')).toEqual([]);
    expect(code).toBe(0);
    for (const check of ['Redis', 'Redis: eviction', 'Redis: persistence', 'acme: token'])
      expect([check, resultOf(check)]).toEqual([check, 'ok']);
    // This server has only some fields of the interface.
    expect(resultOf('acme: people')).toBe('warning');
    expect(resultOf('endpoint of desk')).toBe('ok');
    expect(requests).toBe(0);
    // Two pages of each list that has them, all within the shared budget.
    const lists = ['people', 'organization', 'memo', 'todo'].flatMap((list) => [list, list]);
    expect(crm.asked.map(({ list }) => list)).toEqual([...lists, 'history', 'activity']);
    const client = new Redis(redis.url);
    onTestFinished(() => client.disconnect());
    expect(await client.zcard(new Keys().budgetWindow('acme'))).toBeGreaterThan(0);
  });

  it('doctor: the target of every handler is checked, with what to do', async () => {
    const crm = await startOtherCrm();
    const redis = await launchRedis();
    onTestFinished(() => redis.close());
    const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token }];
    const subscriptions = [
      { name: 'folder', handler: 'ndjson', path: '.' },
      { name: 'file', handler: 'ndjson', path: 'made/events.ndjson' },
      { name: 'database', handler: 'postgres', url: 'postgres://me:leak-me@127.0.0.1:1/crm' },
      { name: 'queue', handler: 'bullmq', queue: 'q', redis: 'redis://:leak-me@127.0.0.1:1' },
      { name: 'queue-there', handler: 'bullmq', queue: 'q' },
    ];
    const { code, stdout, findings } = await examine({ workspaces, subscriptions }, redis.url);
    expect(code).toBe(1);
    const found = findings.filter(({ check }) => / of /.test(check) && !check.startsWith('acme'));
    expect(found.map(({ result, check, seen, todo }) => [result, check, seen, todo])).toEqual([
      [
        'error',
        'endpoint of database',
        'Postgres "database": 127.0.0.1:1/crm: could not be reached (ECONNREFUSED).',
        'Start PostgreSQL, or correct url; check DNS and firewalls.',
      ],
      [
        'error',
        'endpoint of queue',
        'Bullmq "queue": 127.0.0.1:1 could not be reached (ECONNREFUSED).',
        'Start the Redis of your workers, or correct the option redis (without it: REDIS_URL).',
      ],
      ['ok', 'endpoint of queue-there', `${new URL(redis.url).host} can be reached; nothing was sent`, null],
      ['error', 'handler of folder', '.: it is a folder', 'Change path to the name of a file.'],
      ['ok', 'handler of file', 'what ndjson needs on this machine is there', null],
    ]);
    expect(stdout).not.toContain('leak-me');
  });

  it('doctor: each thing that is wrong is named, without secrets', async () => {
    const crm = await startOtherCrm();
    const redis = await launchRedis({ settings: ['appendonly no', 'maxmemory-policy allkeys-lru'] });
    onTestFinished(() => redis.close());
    const wrongToken = 'tok-that-is-not-valid';
    const { code, stdout, resultOf, folder } = await examine(
      configOf(crm, wrongToken, 'http://127.0.0.1:1/hook'),
      redis.url,
    );
    expect(code).toBe(1);
    expect(resultOf('Redis: eviction')).toBe('error');
    expect(resultOf('Redis: persistence')).toBe('warning');
    expect(resultOf('acme: token')).toBe('error');
    expect(resultOf('endpoint of desk')).toBe('error');
    expect(stdout).not.toContain(wrongToken);
    expect(stdout).not.toContain(SECRET.slice('whsec_'.length));

    await redis.kill();
    const text = await folder.call(['doctor'], { REDIS_URL: redis.url });
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/^error +Redis: /m);
    expect(text.stdout).toMatch(/acme: token: refused for every list: the API at \S+\s+answered\s+401/);
    expect(text.stdout).toMatch(/\n3 errors, 0 warnings, \d+ in order\n$/);
  });
});
