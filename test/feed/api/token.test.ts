/** A token that a function gives: when it is asked, how often, and what is shown of its answers. */
import { expect, it } from 'vitest';
import { createReadApi, type ReadApiOptions } from '../../../src/feed/api/client.js';
import { systemClock } from '../../../src/kit/clock.js';
import { startApiServer } from '../../support/api-server.js';
import { eventually } from '../../support/eventually.js';
import { FIRST, PEOPLE, shown } from '../../support/first-page.js';

const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };

/** A CRM that accepts one token, and a client whose clock is put forward. */
async function asking(token: (n: number) => string | Promise<string>, options: Partial<ReadApiOptions> = {}) {
  const crm = { token: 'token-1' };
  let [asked, aheadMs] = [0, 0];
  // It repeats every token that it has got.
  const got = new Set<string>();
  const server = await startApiServer(({ headers: { authorization = '' } }) => {
    got.add(authorization.slice('Bearer '.length));
    return authorization === `Bearer ${crm.token}` ? PEOPLE : { status: 401, body: { message: [...got].join() } };
  });
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  const give = (): string | Promise<string> => token((asked += 1));
  const api = createReadApi({ workspace: 'acme', ...server, token: give, budget, clock, ...options });
  const read = (): Promise<string> =>
    api.fetchPage('people', FIRST).then(
      ({ list }) => list,
      (error: unknown) => shown(error),
    );
  const pass = (ms: number): void => void (aheadMs += ms);
  return {
    crm,
    read,
    pass,
    asked: () => asked,
    requests: server.requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

it('token: the function is asked once by all first requests, and the answer is kept', async () => {
  await using client = await asking(() => Promise.resolve('token-1\n'));
  expect(await Promise.all([1, 2, 3, 4].map(() => client.read()))).toEqual(['people', 'people', 'people', 'people']);
  client.pass(3_600_000);
  await client.read();
  expect(client.asked()).toBe(1);
});

it('token: after a refusal the function is asked once, and every refused try is repeated at once with the new token', async () => {
  await using client = await asking((n) => `token-${n}`);
  await client.read();
  client.crm.token = 'token-2';
  client.pass(10_000);
  expect(await Promise.all([1, 2, 3].map(() => client.read()))).toEqual(['people', 'people', 'people']);
  expect(client.asked()).toBe(2);
  expect(client.requests).toHaveLength(7);
});

it('token: the function is asked again only after 10 s, and a refusal names it and shows no token', async () => {
  await using client = await asking((n) => `token-${n}`);
  client.crm.token = 'token-4';
  // The second question, after a refusal, must wait too.
  for (let n = 0; n < 3; n += 1) expect(await client.read()).toMatch(/function "token"[^]*CF_UNAUTHORISED/);
  expect(client.asked()).toBe(1);
  client.pass(10_000);
  const texts = [await client.read(), await client.read()].join();
  expect(client.asked()).toBe(2);
  expect(texts).toContain('[token]');
  expect(texts).not.toMatch(/token-\d/);
  for (let n = 0; n < 2; n += 1) {
    client.pass(10_000);
    await client.read();
  }
  expect(await client.read()).toBe('people');
});

it.each<[string, () => unknown, RegExp]>([
  [
    'throws',
    () => {
      throw Object.assign(new Error('no s3cret'), { code: 'ECONNREFUSED' });
    },
    /threw Error \(ECONNREFUSED\)/,
  ],
  ['rejects', () => Promise.reject(new TypeError('no s3cret')), /threw TypeError/],
  ['gives no text', () => ({ token: 's3cret' }), /gave an object with 1 keys; allowed/],
  ['gives nothing', () => undefined, /gave nothing; allowed/],
  ['gives an empty text', () => ' ', /gave a string of 1 characters; allowed/],
  ['gives two lines', () => 's3cret\ns3cret', /gave a string of 13 characters; allowed/],
  ['gives the whole header', () => 'Bearer s3cret', /gave a string of 13 characters; allowed/],
])(
  'token: a function that %s is one clear error, without a request and without its words',
  async (_what, give, said) => {
    const tried: unknown[] = [];
    await using client = await asking(give as () => string, { observe: (one) => tried.push(one) });
    const [first, second] = [await client.read(), await client.read()];
    expect(first).toMatch(said);
    expect(first).toMatch(/CF_UNAUTHORISED/);
    expect([first, second].join()).not.toContain('s3cret');
    expect([client.asked(), client.requests.length, tried]).toEqual([1, 0, []]);
  },
);

it('token: a request that is stopped does not wait for the function, and a later one takes its answer', async () => {
  let answer: (token: string) => void = () => undefined;
  await using client = await asking(() => new Promise((resolve) => (answer = resolve)));
  const stopping = new AbortController();
  const api = createReadApi({
    workspace: 'acme',
    baseUrl: 'http://127.0.0.1:1',
    token: () => new Promise(() => undefined),
    budget,
  });
  const stopped = api.fetchPage('people', { ...FIRST, signal: stopping.signal });
  stopping.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
  const reading = client.read();
  await eventually(() => expect(client.asked()).toBe(1));
  answer('token-1');
  expect(await reading).toBe('people');
});
