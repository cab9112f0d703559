import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/index.js';
import { STACK_OR_COLOUR, useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { appendEvents, changeEvent, changesOf } from '../support/events.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { useRedis } from '../support/redis.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const KEY = SECRET.slice('whsec_'.length);
const cli = useCli();
const startReceiver = useReceivers();

const configOf = (url: string, changes: object = {}): object => ({
  workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 'tok-5f0c1e9bd2a7' }],
  subscriptions: [
    { handler: 'webhook', name: 'ops', url, secret: SECRET, allowHosts: ['127.0.0.1'], start: 'beginning', ...changes },
    { handler: 'ndjson', name: 'archive', path: 'events.ndjson' },
  ],
});

describe('paused subscriptions: the command line', () => {
  const redis = useRedis();

  it(
    'paused subscriptions: an answer 410 pauses a webhook, shown in log and status; resume continues it',
    { timeout: 240_000 },
    async () => {
      let gone = true;
      const receiver = await startReceiver(() => (gone ? { status: 410, body: `gone ${KEY}` } : {}));
      const url = `${receiver.url}/in?key=sesame-key`;
      const folder = await cli({
        'changefeed.config.json': { ...configOf(url), redis: { prefix: redis.keys.prefix } },
      });
      const env = { REDIS_URL: redis.url };
      const events = changesOf('r1', 1, 2, 3);
      await appendEvents(redis, events.slice(0, 1));
      const service = folder.start(['start', '--only', 'dispatch,handle'], env);

      const loud = await service.waitForLine(/SUBSCRIPTION PAUSED/);
      expect(loud).toContain(`127.0.0.1:${receiver.port}/in answered 410 (Gone)`);
      await appendEvents(redis, events.slice(1));
      const status = JSON.parse((await folder.call(['status', '--json'], env)).stdout) as Status;
      expect(status.subscriptions[0]).toMatchObject({
        name: 'ops',
        dead: 0,
        paused: { missing: false },
      });
      expect(status.subscriptions[1]).toMatchObject({ name: 'archive', paused: null, failingSince: null });
      const shown = await folder.call(['status'], env);
      expect(shown.stdout).toMatch(/^ops \(PAUSED\)/m);
      expect(shown.stdout).toMatch(/^ {2}subscription\.disabled .* answered 410.*changefeed resume ops/m);
      expect(receiver.received).toHaveLength(1);

      gone = false;
      const resumed = await folder.call(['resume', 'ops'], env);
      expect(resumed.stdout).toMatch(/^"ops" is resumed; it was paused at .*: Webhook "ops": .* answered 410/);
      await eventually(() =>
        expect(receiver.received.slice(1).map(({ headers }) => headers['webhook-id'])).toEqual(
          events.map(({ id }) => id),
        ),
      );
      expect((await folder.call(['resume', 'ops'], env)).stdout).toBe('"ops" was not paused.\n');
      const everything = [service.stdout, service.stderr, shown.stdout, resumed.stdout, JSON.stringify(status)].join(
        '\n',
      );
      expect(everything).not.toMatch(new RegExp(`sesame|${KEY.slice(0, 12)}`));
      expect(everything).not.toMatch(STACK_OR_COLOUR);
    },
  );

  it('paused subscriptions: the command pause pauses one', { timeout: 240_000 }, async () => {
    const folder = await cli({
      'changefeed.config.json': { ...configOf('https://ops.example/in'), redis: { prefix: redis.keys.prefix } },
    });
    const env = { REDIS_URL: redis.url };
    const run = (...args: string[]) => folder.run(args, env);
    expect(await run('pause', 'ops', '--reason', 'they move house')).toMatchObject({
      code: 0,
      stdout: '"ops" is paused: its events wait until it is resumed.\n',
    });
    expect(await run('pause', 'ops', '--json')).toMatchObject({
      code: 0,
      stdout: '{"count":0}\n',
    });
    expect((await run('status')).stdout).toMatch(/^ {2}subscription\.disabled .*: they move house\./m);
    expect((await run('resume', 'ops', '--json')).stdout).toMatch(/"was":\{"at":".*","reason":"they move house"/);
    expect(await run('resume', 'opps')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'changefeed: There is no subscription "opps". Known: "ops", "archive". [CF_USAGE]\n',
    });
  });
});

describe('dead letters: webhooks', () => {
  const redis = useRedis();

  it(
    'dead letters: contain the start of the answer; no secret, header or query is in them or in the log',
    { timeout: 240_000 },
    async () => {
      const echo = `${SECRET} ${KEY} /in?key=sesame-key ${'long '.repeat(500)}the end`;
      const receiver = await startReceiver(() => ({ status: 400, body: echo, headers: { 'x-inner': 'inner-header' } }));
      const folder = await cli({
        'changefeed.config.json': {
          ...configOf(`${receiver.url}/in?key=sesame-key`, { retry: { attempts: 1 } }),
          redis: { prefix: redis.keys.prefix },
        },
      });
      const env = { REDIS_URL: redis.url };
      await appendEvents(redis, [changeEvent({ record: 'r1', sequence: 1 })]);
      const service = folder.start(['start', '--only', 'dispatch,handle'], { ...env, LOG_LEVEL: 'debug' });
      const stored = await eventually(async () => {
        const { stdout } = await folder.call(['dead', 'list', '--json'], env);
        expect(stdout).toContain('answered 400');
        return stdout;
      });
      const { reason } = JSON.parse(stored) as { reason: string };
      expect(reason.split('It said: ')[1]).toHaveLength(200);
      expect(stored + service.stderr + service.stdout).not.toMatch(
        new RegExp(`sesame|${KEY.slice(0, 12)}|inner-header|v1,|the end`),
      );
    },
  );
});
