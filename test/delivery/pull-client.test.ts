/** Programs that ask: the client of the package, and the programs of the guide as they are printed there. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { pull as ask, type Batch } from '../../src/client/index.js';
import { pull } from '../../src/delivery/handlers/pull/pull.js';
import { eventually } from '../support/eventually.js';
import { appendEvents, changeEvent, changesOf, firstChangesOf } from '../support/events.js';
import { openFeed } from '../support/feed.js';
import { startPageFeed, TOKENS } from '../support/page-feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useProcesses } from '../support/process.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const spawn = useProcesses();
const TOKEN = 'token-of-the-warehouse-7305918264';
const ROOT = new URL('../../', import.meta.url);
const hasPython = spawnSync('python3', ['--version']).status === 0;

async function start(visibility: `${number}s` = '1s') {
  const consumer = pull({ name: 'warehouse', token: TOKEN, start: 'beginning', visibility });
  const { url } = await startPageFeed(redis, { http: { tokens: TOKENS }, subscriptions: [consumer] });
  return { url, token: TOKEN, consumer: 'warehouse', wait: '1s' } as const;
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const idsOf = (batches: readonly Batch[]): string[] =>
  batches.flatMap(({ events }) => events.map(({ subject, data }) => `${subject}${data.sequence}`));

it('pull client: a batch is acknowledged when the loop asks for the next one, and comes again after a break', async () => {
  const call = await start();
  const last = (await appendEvents(redis, changesOf('a', 1, 2, 3))).at(-1);
  const given: Batch[] = [];
  for await (const batch of ask({ ...call, max: 1 })) {
    given.push(batch);
    if (given.length === 2) break;
  }
  expect([idsOf(given), given.map(({ more }) => more)]).toEqual([
    ['a1', 'a2'],
    [true, true],
  ]);
  const stop = new AbortController();
  const again = (async () => {
    const batches: Batch[] = [];
    for await (const batch of ask({ ...call, wait: '30s', signal: stop.signal })) batches.push(batch);
    return batches;
  })();
  const acknowledged = () => redis.redis.hget(redis.keys.offsets('warehouse'), 'acme');
  await eventually(async () => expect(await acknowledged()).toBe(last));
  // It waits for more: the loop ends without an error.
  stop.abort();
  expect(idsOf(await again)).toEqual(['a2', 'a3']);
});

it('pull client: tries again what is broken, busy or late, and asks at once again for what it has acknowledged too late', async () => {
  const { url, ...call } = await start();
  await appendEvents(redis, changesOf('a', 1, 2));
  const asked: string[] = [];
  const faults: RequestListener[] = [
    (request) => void request.socket.destroy(),
    (_, response) => void response.writeHead(503, { 'retry-after': '0' }).end('gateway'),
    (_, response) => void response.writeHead(429, { 'retry-after': '0' }).end(),
    (_, response) => void response.writeHead(200).end('<html>'),
  ];
  const proxy = await listen((request, response) => {
    asked.push(request.url ?? '');
    const fault = faults.shift();
    if (fault !== undefined) {
      fault(request, response);
      return;
    }
    void fetch(url + (request.url ?? ''), { headers: { authorization: request.headers.authorization ?? '' } }).then(
      async (answer) => response.writeHead(answer.status).end(await answer.text()),
    );
  });
  const given: Batch[] = [];
  for await (const batch of ask({ ...call, url: proxy, max: 1 })) {
    given.push(batch);
    if (given.length === 1) {
      // It takes longer than the visibility, and another program has asked meanwhile.
      const other = ask({ ...call, url, max: 1, wait: '10s' });
      expect(idsOf([(await other.next()).value as Batch])).toEqual(['a1']);
    }
    if (given.length === 3) break;
  }
  expect(idsOf(given)).toEqual(['a1', 'a1', 'a2']);
  expect(asked.slice(0, 5).every((path) => path === asked[0])).toBe(true);
});

it.each([
  [401, { token: 'a-token-of-nobody-5501938264' }, /refused with 401: Sign in/],
  [403, { token: TOKENS.read }, /refused with 403: This needs the token of the consumer/],
  [404, { consumer: 'nobody', token: TOKENS.operate }, /refused with 404: There is no consumer "nobody"/],
  [400, { max: 0 }, /refused with 400/],
])('pull client: throws what is refused with %i', async (_, wrong, said) => {
  const call = await start();
  await expect(ask({ ...call, ...wrong }).next()).rejects.toThrow(said);
  await expect(ask({ ...call, ...wrong }).next()).rejects.toMatchObject({ code: 'CF_CONSUMER_REFUSED' });
});

it('pull: a consumer of several workspaces gets them by time, and its cursor acknowledges its part of each', async () => {
  const crm = await startOtherCrm();
  const workspaces = ['acme', 'beta'].map((name) => ({ name, baseUrl: crm.url, token: crm.token }));
  const subscriptions = [
    pull({ name: 'all', start: 'beginning' }),
    pull({ name: 'beta', workspaces: ['beta'], start: 'beginning' }),
  ];
  const feed = await openFeed(redis, { workspaces, subscriptions });
  await feed.start(['dispatch']);
  for (const workspace of ['beta', 'acme', 'acme', 'beta', 'acme'])
    await appendEvents(redis, [changeEvent({ record: 'r', sequence: 1, workspace })]);
  const next = async (name: string, max: number, acknowledge?: string) => {
    const { events, cursor } = await feed.consumers.next(name, { max, acknowledge });
    return { from: events.map(({ source }) => source.split('/').at(-1)), cursor: cursor ?? '' };
  };
  const first = await next('all', 3);
  expect(first.from).toEqual(['beta', 'acme', 'acme']);
  expect((await next('all', 3, first.cursor)).from).toEqual(['beta', 'acme']);
  expect((await next('beta', 10)).from).toEqual(['beta', 'beta']);
  expect((await feed.status()).subscriptions).toMatchObject([
    { name: 'all', consumer: { underWay: 2 }, lagEvents: 2 },
    { name: 'beta', consumer: { underWay: 2 }, lagEvents: 2 },
  ]);
});

it.skipIf(!hasPython)('pull: the program of the guide in Python runs as it is printed', async () => {
  const { url } = await start('5s');
  const guide = await readFile(new URL('docs/guides/receivers.md', ROOT), 'utf8');
  const [, code = ''] = /```python\n(# pull\.py\n[^]*?)```/.exec(guide) ?? [];
  const script = join(await mkdtemp('/tmp/changefeed-pull-'), 'pull.py');
  await writeFile(script, code);
  const events = firstChangesOf('a', 'b');
  await appendEvents(redis, events);
  const program = spawn(script, { program: 'python3', env: { FEED_URL: url, PULL_TOKEN: TOKEN } });
  const printed = (): string => program.stdout;
  const lines = events.map(({ type, id }) => `${type} ${id}\n`);
  await eventually(() => expect(printed()).toBe(lines.join('')));
  const [more] = changesOf('a', 2);
  await appendEvents(redis, [more!]);
  await eventually(() => expect(printed()).toBe([...lines, `${more!.type} ${more!.id}\n`].join('')));
  await eventually(async () =>
    expect(await redis.redis.hexists(redis.keys.pulled('warehouse'), 'acknowledged')).toBe(1),
  );
});
