/**
 * Hostile receivers and names, met by the handlers as a user runs them, in front of a socket that really listens and
 * counts. What it counts is connections, not requests: nothing may reach it, not even a greeting.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Subscription } from '../../../src/delivery/handlers/handler.js';
import { message, messageSchema, openMessage } from '../../../src/delivery/handlers/message/message.js';
import type { Resolve } from '../../../src/delivery/handlers/http/guard.js';
import { openWebhook, webhook, webhookSchema } from '../../../src/delivery/handlers/webhook/webhook.js';
import { systemClock } from '../../../src/kit/clock.js';
import { rowsOfGate } from '../../support/night.js';
import { eventually } from '../../support/eventually.js';
import { resolving, handlerContext, sampleEvent, useReceivers } from '../../support/handler-fixtures.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const startReceiver = useReceivers();
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const EVERYWHERE = hasIpv6 ? '::' : '0.0.0.0';

interface Sender {
  url: string;
  /** `http` is allowed for a name only where that name is; so the name is always on this list, and never its address. */
  allowHosts: string[];
  resolve: Resolve;
}

type Build = (sender: Sender) => Subscription;

const KINDS: [string, Build][] = [
  [
    'webhook',
    ({ resolve, ...options }) => {
      const settings = webhookSchema.parse({ name: 'ops', secret, ...options });
      return webhook.subscription(settings, openWebhook(settings, { resolve }));
    },
  ],
  [
    'message',
    ({ resolve, ...options }) => {
      const settings = messageSchema.parse({ name: 'chat', ...options });
      return message.subscription(settings, openMessage(settings, { resolve }));
    },
  ],
];

async function attempt(subscription: Subscription): Promise<{ code?: unknown } | 'delivered'> {
  try {
    await subscription.handle(sampleEvent(), handlerContext());
    return 'delivered';
  } catch (error) {
    return { code: (error as { code?: unknown }).code };
  }
}

async function drip(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write('ok');
    await systemClock.sleep(50);
  }
}

/** Answers at once with a status, and then with two bytes of the body from time to time, for ever. */
async function startDripping(status: number): Promise<{ url: string; open: () => Promise<number>; cut: () => number }> {
  let cut = 0;
  const server = createServer((_request, response) => {
    response.writeHead(status);
    response.once('close', () => (cut += 1));
    void drip(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const connections = promisify(server.getConnections.bind(server));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    open: () => connections(),
    cut: () => cut,
  };
}

const open: Subscription[] = [];
afterEach(async () => {
  for (const subscription of open.splice(0)) await subscription.close?.();
});

function using(build: Build, sender: Sender): Subscription {
  const subscription = build(sender);
  open.push(subscription);
  return subscription;
}

describe.each(KINDS)('an answer without end, given to %s', (_kind, build) => {
  const resolve = resolving(['127.0.0.1']);

  it.each(
    rowsOfGate<[number, string | object]>(1, [
      [200, 'delivered'],
      [500, { code: 'CF_DELIVERY_REFUSED' }],
    ]),
  )(
    'webhook answer: after status %i its body is read for a second, then the connection is closed',
    async (...given) => {
      const [status, outcome] = given;
      const { url, open, cut } = await startDripping(status);
      const subscription = using(build, { url, allowHosts: ['127.0.0.1'], resolve });
      expect(await Promise.all(Array.from({ length: 5 }, () => attempt(subscription)))).toEqual(
        Array.from({ length: 5 }, () => outcome),
      );
      // The control: they were open.
      await eventually(async () => expect({ cut: cut(), open: await open() }).toEqual({ cut: 5, open: 0 }), {
        timeoutMs: 10_000,
      });
    },
  );
});

describe.each(KINDS)('a name with an internal address, given to %s', (_kind, build) => {
  const reachable: [string, string][] = [
    ['loopback', '127.0.0.1'],
    ['another loopback', '127.255.255.254'],
    ['unspecified', '0.0.0.0'],
  ];
  const reachableByIpv6: [string, string][] = [
    ['IPv6 loopback', '::1'],
    ['IPv6 unspecified', '::'],
    ['IPv4 mapped into IPv6', '::ffff:127.0.0.1'],
    ['the same in hexadecimal', '::ffff:7f00:1'],
  ];
  // Every other range: webhook-address.test.ts.
  const elsewhere: [string, string][] = [['metadata', '169.254.169.254']];

  // https: nothing is allowed here. The listener speaks no TLS, and need not: it must never see a connection.
  it.each([...reachable, ...(hasIpv6 ? reachableByIpv6 : []), ...elsewhere])(
    'is refused before a connection is made: %s (%s)',
    async (_what, address) => {
      const receiver = await startReceiver(undefined, EVERYWHERE);
      const url = `https://hooks.example:${receiver.port}/in`;
      const outcome = await attempt(using(build, { url, allowHosts: [], resolve: resolving([address]) }));
      expect({ outcome, connections: receiver.connections() }).toEqual({
        outcome: { code: 'CF_ADDRESS_REFUSED' },
        connections: 0,
      });
    },
  );

  it.each([...reachable, ...(hasIpv6 ? reachableByIpv6 : [])])(
    'the control: allowed by name, the same listener is reached: %s (%s)',
    async (_what, address) => {
      const receiver = await startReceiver(undefined, EVERYWHERE);
      const url = `http://hooks.example:${receiver.port}/in`;
      const outcome = await attempt(
        using(build, { url, allowHosts: ['hooks.example'], resolve: resolving([address]) }),
      );
      expect({ outcome, connections: receiver.connections() }).toEqual({ outcome: 'delivered', connections: 1 });
    },
  );

  it('webhook address: an allowed name with a metadata address is refused', async () => {
    const sender = { url: 'http://hooks.example/in', allowHosts: ['hooks.example'] };
    const outcome = await attempt(using(build, { ...sender, resolve: resolving(['169.254.169.254']) }));
    expect(outcome).toEqual({ code: 'CF_ADDRESS_REFUSED' });
  });

  it('webhook address: a forbidden answer next to an allowed one is not reached, in any order', async () => {
    const receiver = await startReceiver(() => ({ headers: { connection: 'close' } }), '127.0.0.1');
    const rounds = [
      ['127.0.0.2', '10.0.0.1'],
      ['10.0.0.1', '127.0.0.2'],
    ];
    for (const round of rounds) {
      // Only 127.0.0.1 listens: were the other answers tried as well, one of them would be reached or waited for.
      const sender = { url: `https://several.example:${receiver.port}/in`, allowHosts: ['127.0.0.2/32'] };
      const outcome = await attempt(using(build, { ...sender, resolve: resolving([...round, '127.0.0.1']) }));
      expect({ outcome, connections: receiver.connections() }).toEqual({
        outcome: { code: 'CF_DELIVERY_REFUSED' },
        connections: 0,
      });
    }
  });
});

describe.each(KINDS)('a receiver that %s reached before', (_kind, build) => {
  it('webhook connection: resolves the name for every new connection and refuses a forbidden answer', async () => {
    const receiver = await startReceiver(() => ({ headers: { connection: 'close' } }), '0.0.0.0');
    const url = `http://127.0.0.2.example:${receiver.port}/in`;
    const resolve = resolving(['127.0.0.2'], ['169.254.169.254']);
    const subscription = using(build, { url, allowHosts: ['127.0.0.2.example'], resolve });
    const outcomes = [await attempt(subscription), await attempt(subscription)];
    expect(outcomes).toEqual(['delivered', { code: 'CF_ADDRESS_REFUSED' }]);
    expect(receiver.connections()).toBe(1);
  });

  it('webhook connection: is not reused for another name', async () => {
    const receiver = await startReceiver(undefined, '0.0.0.0');
    const resolve = resolving(['127.0.0.1']);
    const allowed = using(build, { url: `http://a.example:${receiver.port}/in`, allowHosts: ['a.example'], resolve });
    const other = using(build, { url: `https://b.example:${receiver.port}/in`, allowHosts: ['a.example'], resolve });
    expect(await attempt(allowed)).toBe('delivered');
    const before = [receiver.connections(), receiver.received.length];
    expect(await attempt(other)).toEqual({ code: 'CF_ADDRESS_REFUSED' });
    expect([receiver.connections(), receiver.received.length]).toEqual(before);
  });

  it.each([301, 307])('webhook redirect: %i is not followed', async (status) => {
    const inner = await startReceiver();
    const outer = await startReceiver(() => ({ status, headers: { location: `${inner.url}/latest/meta-data` } }));
    const subscription = using(build, { url: `${outer.url}/in`, allowHosts: ['127.0.0.1'], resolve: resolving() });
    const outcome = await attempt(subscription);
    expect({ outcome, sentOn: inner.connections() }).toEqual({ outcome: { code: 'CF_DELIVERY_REFUSED' }, sentOn: 0 });
  });
});

describe.each(KINDS)('a proxy named in the environment', (_kind, build) => {
  afterEach(() => vi.unstubAllEnvs());

  it('webhook proxy: %s ignores a proxy from the environment, which would resolve names unchecked', async () => {
    const [proxy, receiver] = [await startReceiver(), await startReceiver()];
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']) {
      vi.stubEnv(name, proxy.url);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    const subscription = using(build, { url: receiver.url, allowHosts: ['127.0.0.1'], resolve: resolving() });
    expect(await attempt(subscription)).toBe('delivered');
    expect([proxy.connections(), receiver.connections()]).toEqual([0, 1]);
  });
});
