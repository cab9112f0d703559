/** The caller that aborts gets its own reason back, however far the request is. */
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/clock.js';
import { createClientUnderTest } from '../../support/api-client.js';
import { startApiServer, startRawServer } from '../../support/api-server.js';
import { FIRST, PEOPLE } from '../../support/first-page.js';

const reason = new Error('stopping');

it('abort: before the request, nothing is sent', async () => {
  await using server = await startApiServer(() => PEOPLE);
  const { api } = createClientUnderTest(server);
  await expect(api.fetchPage('people', { ...FIRST, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(server.requests).toHaveLength(0);
});

it('abort: during the request, the caller gets its own reason and no try is reported', async () => {
  const controller = new AbortController();
  await using server = await startRawServer(() => controller.abort(reason));
  const client = createClientUnderTest(server);
  await expect(client.api.fetchPage('people', { ...FIRST, signal: controller.signal })).rejects.toBe(reason);
  expect([client.tried, client.waits]).toEqual([[], []]);
});

it('abort: during the body, the caller gets its own reason', async () => {
  const controller = new AbortController();
  await using server = await startRawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{', () => setImmediate(() => controller.abort(reason)));
  });
  const { api } = createClientUnderTest(server);
  await expect(api.fetchPage('people', { ...FIRST, signal: controller.signal })).rejects.toBe(reason);
});

it('abort: during the wait between tries, the caller gets its own reason', async () => {
  const controller = new AbortController();
  await using server = await startApiServer(() => ({ status: 429, headers: { 'retry-after': '60' } }));
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => {
      setImmediate(() => controller.abort('stop'));
      return systemClock.sleep(ms, signal);
    },
  };
  const { api } = createClientUnderTest({ ...server, clock });
  await expect(api.fetchPage('people', { ...FIRST, signal: controller.signal })).rejects.toBe('stop');
  expect(server.requests).toHaveLength(1);
});

it('abort: a finished request leaves no listener on the signal', async () => {
  await using server = await startApiServer(() => PEOPLE);
  const { api } = createClientUnderTest(server);
  const { signal } = new AbortController();
  const added: unknown[] = [];
  const count = (change: 1 | -1, original: (...args: never[]) => void) =>
    function (this: unknown, ...args: never[]) {
      added.push(change);
      original.apply(signal, args);
    };
  signal.addEventListener = count(1, signal.addEventListener.bind(signal));
  signal.removeEventListener = count(-1, signal.removeEventListener.bind(signal));
  await api.fetchPage('people', { ...FIRST, signal });
  expect(added).toEqual([1, -1]);
});
