/** "Did billing get it, when, with what answer?", asked of a running service on the command line and over HTTP. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import type { DeliveryRow, SubscriptionDetails } from '../../src/delivery/receipts/delivery-row.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { useRedis } from '../support/redis.js';

const SECRET = `whsec_${Buffer.from('receipts'.repeat(3)).toString('base64')}`;
const READ = 'read-token-7305918264';

describe('deliveries', () => {
  const cli = useCli();
  const redis = useRedis();
  const receive = useReceivers();

  it('deliveries: "did billing get it, when, with what answer?"', { timeout: 60_000 }, async () => {
    const sandbox = createSandbox({ people: 3, history: 0, activity: 0, limit: null, seed: 1 });
    const { url: baseUrl, token } = await sandbox.start();
    onTestFinished(() => sandbox.stop());
    const asked: string[] = [];
    // It fails once, and echoes what it knows of the secret.
    const billing = await receive(({ headers }) => {
      asked.push(String(headers['webhook-id']));
      return asked.length === 1 ? { status: 503, body: `try later ${SECRET.slice(6)}` } : { status: 202 };
    });
    const ops = await receive(() => ({ status: 400, body: 'no such hook' }));
    const to = { secret: SECRET, allowHosts: ['127.0.0.1'], start: 'beginning' };
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [{ name: 'acme', baseUrl, token, lists: { people: { baseline: 'emit' } } }],
        redis: { prefix: redis.keys.prefix },
        http: { port: 0, tokens: { read: READ } },
        subscriptions: [
          {
            ...{ handler: 'webhook', name: 'billing', url: `${billing.url}/hooks`, concurrency: 1, ...to },
            ...{ on: ['crm.person.snapshot'], where: { subject: { exists: true } }, retry: { delay: '10ms' } },
          },
          { handler: 'webhook', name: 'ops', url: ops.url, retry: { attempts: 1 }, ...to, on: ['crm.person.*'] },
          { handler: 'ndjson', name: 'todos', path: 'todos.ndjson', start: 'beginning', on: ['crm.todo.*'] },
          { handler: 'ndjson', name: 'unkept', path: 'memos.ndjson', on: ['crm.memo.*'], receipts: false },
        ],
      },
    });
    const env = { REDIS_URL: redis.url };
    const service = folder.start(['start'], env);
    const ask = async (...args: string[]) => await folder.call(['deliveries', ...args], env);
    const rows = async (...args: string[]): Promise<DeliveryRow[]> => {
      const { stdout } = await ask(...args, '--json');
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as DeliveryRow]));
    };
    await eventually(async () => expect(await rows('--subscription', 'billing')).toHaveLength(4), {
      timeoutMs: 30_000,
    });
    await eventually(async () => expect(await rows('--outcome', 'failed', '--subscription', 'ops')).toHaveLength(3));
    const event = asked[0]!;

    const answers = await rows(event);
    expect(
      answers.map(({ subscription, outcome, attempt, status }) => [subscription, outcome, attempt, status]),
    ).toEqual(
      expect.arrayContaining([
        ['billing', 'delivered', 2, 202],
        ['billing', 'retry', 1, 503],
        ['ops', 'dead', 1, 400],
        ['todos', 'not selected', 0, null],
      ]),
    );
    expect(answers).toHaveLength(5);
    expect(answers.find(({ outcome }) => outcome === 'retry')?.words).toBe('try later [hidden]');
    const table = (await ask(event)).stdout;
    expect(table).toMatch(/^person\.snapshot {2}\S+ {2}evt_\w+\nbegan +subscription +outcome +attempt +took +said$/m);
    expect(table).toMatch(/^\S.* +billing +delivered 202 +2 +\d+ ms$/m);
    expect(table).toMatch(/^\S.* +billing +failed 503, again .* +1 .* try later \[hidden\]$/m);
    expect(table).toMatch(/^\S.* +ops +dead letter 400 +1 .* no such hook$/m);
    expect(table).toMatch(/^ +todos +not selected +by on$/m);
    expect(table).not.toContain(SECRET.slice(6));

    const [{ record } = { record: '' }] = answers;
    expect((await rows('--record', 'people', record)).every((row) => row.record === record)).toBe(true);
    expect(await rows('--outcome', 'pending')).toEqual([]);
    expect((await ask('evt_none')).stdout).toContain('no such deliveries');
    expect((await ask('--subscription', 'unkept')).stdout).toContain('"unkept" keeps no receipts (receipts: false)');
    expect(await ask('--outcome', 'faild')).toMatchObject({ code: 2 });
    expect(await ask('--record', 'people')).toMatchObject({ code: 2 });
    expect(await ask('--subscription', 'none')).toMatchObject({ code: 2 });

    const [, page = ''] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(service.stdout + service.stderr) ?? [];
    const get = async <T>(path: string): Promise<T> =>
      (await (await fetch(`${page}${path}`, { headers: { authorization: `Bearer ${READ}` } })).json()) as T;
    expect(await get(`/api/deliveries?event=${event}`)).toEqual({
      deliveries: answers.map((answer) => ({ ...answer, title: expect.any(String) as unknown })),
    });
    expect(await get<SubscriptionDetails>('/api/subscriptions/billing')).toMatchObject({
      ...{ handler: 'webhook', address: new URL(billing.url).host },
      selection: { on: ['crm.person.snapshot'], where: { subject: { exists: true } } },
      lastAnswer: { outcome: 'delivered', status: 202 },
      lastHour: { attempts: 4, outcomes: { delivered: 3, retry: 1, dead: 0, skipped: 0 }, successShare: 0.75 },
    });
    expect(await get('/api/subscriptions/none')).toMatchObject({ error: { status: 409 } });
    const metrics = await (await fetch(`${page}/metrics`, { headers: { authorization: `Bearer ${READ}` } })).text();
    expect(metrics).toContain('changefeed_deliveries_total{subscription="billing",outcome="delivered"} 3');
    expect((await folder.call(['replay', 'billing', '1h'], env)).code).toBe(0);
    const again = /^\S.* +billing +delivered 202, of a replay +1 +/m;
    await eventually(async () => expect((await ask('--subscription', 'billing')).stdout).toMatch(again));
    expect((await service.kill('SIGTERM')).code).toBe(0);
  });
});
