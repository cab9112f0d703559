import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { loggedEvents, useRedis } from '../support/redis.js';

const cli = useCli();
const redis = useRedis();

it('listen: posts the signed events of the log in order, waits for a receiver that is away, and leaves no trace', async () => {
  const sandbox = createSandbox({ people: 4 });
  onTestFinished(() => sandbox.stop());
  const { url, token } = await sandbox.start();
  const off = Object.fromEntries(['organization', 'memo', 'todo', 'history', 'activity'].map((list) => [list, false]));
  const lists = { ...off, people: { baseline: 'emit' } };
  const config = { workspaces: [{ name: 'acme', baseUrl: url, token, lists }], redis: { prefix: redis.keys.prefix } };
  const folder = await cli({ 'changefeed.config.json': config });
  const env = { REDIS_URL: redis.url };
  await folder.call(['sweep', 'people'], env);
  const stored = async () => (await redis.redis.keys(`${redis.keys.prefix}:*`)).sort();
  const before = await stored();

  const answers = [204, 500];
  const received: { headers: Record<string, string>; body: string }[] = [];
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(answers.shift() ?? 200).end('a bug');
    });
  });
  onTestFinished(() => void receiver.close());
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  await new Promise((resolve) => receiver.close(resolve));

  const stop = new AbortController();
  let [said, shown] = ['', ''];
  const args = ['listen', '--forward-to', `http://127.0.0.1:${port}/hook`, '--from-start', '--on', 'crm.person.*'];
  const listening = folder.call(args, env, {
    signal: stop.signal,
    err: (line) => void (said += `${line}\n`),
    out: (line) => void (shown += `${line}\n`),
  });
  await eventually(() => expect(said).toContain(`127.0.0.1:${port}/hook could not be reached`));
  receiver.listen(port, '127.0.0.1');
  await eventually(() => expect(shown.match(/snapshot/g)).toHaveLength(4));
  const [, secret = ''] = /signed with (whsec_\S+)/.exec(said) ?? [];
  const events = received.map(({ headers, body }) => new Webhook(secret).verify(body, headers) as ChangeEvent);
  expect(events).toEqual(await loggedEvents(redis));
  expect(said).toContain('No process polls');
  expect(await stored()).toEqual(before);

  stop.abort();
  expect(await listening).toMatchObject({ code: 0 });
  const lines = shown
    .replace(/\d+ ms {2}[\d:]{8}/g, '9 ms')
    .replace(/(snapshot).*/g, '$1')
    .replace(/ {2,}/g, '  ');
  expect(lines.trimEnd().split('\n')).toEqual([
    '204  9 ms  person snapshot',
    '500  9 ms  person snapshot',
    `  Webhook "listen": 127.0.0.1:${port}/hook answered 500. a bug`,
    '200  9 ms  person snapshot',
    '200  9 ms  person snapshot',
  ]);
});
