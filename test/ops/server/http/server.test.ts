import { EventEmitter, once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.js';
import { silentLog } from '../../../../src/kit/log.js';
import type { AccessOptions } from '../../../../src/ops/server/http/access.js';
import { admit } from '../../../../src/ops/server/http/app.js';
import { createPlaces } from '../../../../src/ops/server/http/limits.js';
import { createHttpServer, type HttpServer, type Routes } from '../../../../src/ops/server/http/server.js';
import { openStream } from '../../../../src/ops/server/page/stream.js';
import { eventually } from '../../../support/eventually.js';
import { makeSession, SESSION_MS } from '../../../../src/ops/server/http/session.js';
import { noAudit } from '../../../support/audit.js';

const READ = 'read-token-7305918264';
const OPERATE = 'operate-token-7305918264';
const ACTION = { 'x-changefeed-action': '1' };
const routes: Routes = (app) => {
  app.get('/public', { config: { access: 'public' } }, () => ({ ok: true }));
  app.get('/api/work', () => ({ ok: true }));
  app.get('/seen', ({ caller }) => ({ caller }));
  app.post('/act', { config: { access: 'operate' } }, ({ caller }) => ({ caller }));
};

interface Given extends Partial<AccessOptions> {
  port?: number | undefined;
  usualPort?: number;
  nowMs?: number;
  more?: readonly Routes[];
}

function open({
  tokens = {},
  trustedProxy,
  localOnly = false,
  port,
  usualPort = 0,
  nowMs,
  more = [],
}: Given = {}): HttpServer {
  const clock = nowMs === undefined ? systemClock : { ...systemClock, now: () => nowMs };
  const access = { tokens, trustedProxy, localOnly };
  const where = { host: '127.0.0.1', port, usualPort };
  const server = createHttpServer({
    routes: [routes, ...more],
    access,
    ...where,
    clock,
    log: silentLog,
    audit: noAudit,
  });
  onTestFinished(() => server.stop());
  return server;
}

const withTokens = { tokens: { read: READ, operate: OPERATE } };
/** As without credentials in the configuration. */
const made = { tokens: { operate: OPERATE }, localOnly: true };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function statusOf(server: HttpServer, path: string, headers: Record<string, string> = {}): Promise<number> {
  const method = path === '/act' ? 'POST' : 'GET';
  const answer = await server.app.inject({ method, url: path, headers: { host: 'localhost', ...headers } });
  return answer.statusCode;
}

interface RawRequest {
  method?: string;
  path: string;
  headers: Record<string, string>;
}

/** Over a socket, with any host: `fetch` allows no other than that of the address. */
async function rawStatus(url: string, { method = 'GET', path, headers }: RawRequest): Promise<number> {
  return await new Promise((resolve, reject) => {
    const sent = request(url, { method, path, headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** As nginx asks without further lines: HTTP/1.0, and its own address as host. */
async function http10Status(url: string): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(`GET /seen HTTP/1.0\r\nhost: ${host}\r\nauthorization: Bearer ${OPERATE}\r\n\r\n`);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await text(socket))?.[1]);
}

describe('access', () => {
  it('access: without credentials nobody sees anything, whether or not a token was made', async () => {
    for (const server of [open(), open(made)])
      expect([await statusOf(server, '/seen'), await statusOf(server, '/act', ACTION)]).toEqual([401, 401]);
    expect(await statusOf(open(made), '/act', { ...ACTION, ...bearer(OPERATE) })).toBe(200);
  });

  it('access: with a token made for this machine, a name that somebody else lets resolve to it is refused', async () => {
    const server = open(made);
    expect(await statusOf(server, '/seen', { ...bearer(OPERATE), host: 'rebound.example' })).toBe(421);
    expect(await statusOf(server, '/seen', { ...bearer(OPERATE), host: '127.0.0.1:4021' })).toBe(200);
  });

  it('access: each token has its role', async () => {
    const server = open(withTokens);
    const codes = async (headers: Record<string, string>) => [
      await statusOf(server, '/public', headers),
      await statusOf(server, '/seen', headers),
      await statusOf(server, '/act', { ...ACTION, ...headers }),
    ];
    expect(await codes({})).toEqual([200, 401, 401]);
    expect(await codes(bearer(READ))).toEqual([200, 200, 403]);
    expect(await codes(bearer(OPERATE))).toEqual([200, 200, 200]);
    expect(await codes(bearer('another-token-7305918264'))).toEqual([200, 401, 401]);
  });

  it('access: after ten wrong tokens, more of them are refused, and a right one passes: behind a proxy all have one address', async () => {
    const url = await open(withTokens).start();
    const signIn = (token: string): Promise<Response> =>
      fetch(`${url}/api/session`, {
        method: 'POST',
        headers: { ...ACTION, 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      });
    for (let count = 0; count < 10; count += 1) {
      expect(await rawStatus(url, { path: '/seen', headers: bearer(`guess-number-${count}-0000`) })).toBe(401);
    }
    expect(await rawStatus(url, { path: '/seen', headers: bearer('guess-number-10-0000') })).toBe(429);
    expect((await signIn('guess-number-11-0000')).status).toBe(429);
    expect(await rawStatus(url, { path: '/seen', headers: bearer(READ) })).toBe(200);
    expect(await rawStatus(url, { method: 'POST', path: '/act', headers: { ...ACTION, ...bearer(OPERATE) } })).toBe(
      200,
    );
    expect((await signIn(OPERATE)).status).toBe(200);
  });

  it('access: a session ends with its time, and with the token it began with', async () => {
    const session = makeSession('operate', OPERATE, 1_000 + SESSION_MS);
    const cookie = { cookie: `other=1; changefeed_session=${session}` };
    expect(await statusOf(open({ ...withTokens, nowMs: 2_000 }), '/seen', cookie)).toBe(200);
    expect(await statusOf(open({ ...withTokens, nowMs: 1_000 + SESSION_MS }), '/seen', cookie)).toBe(401);
    expect(await statusOf(open({ tokens: { operate: 'a-new-token-7305918264' }, nowMs: 2_000 }), '/seen', cookie)).toBe(
      401,
    );
  });

  it('access: the session of another page on the same host name neither counts nor is in the way', async () => {
    const page = open({ ...withTokens, nowMs: 2_000 });
    const [own, others] = [
      makeSession('read', READ, 1_000 + SESSION_MS),
      makeSession('read', 'token-of-another-page', 1_000 + SESSION_MS),
    ];
    const cookie = (...all: string[]) => ({
      cookie: all.map((one, at) => `changefeed_session_${at}=${one}`).join('; '),
    });
    expect(await statusOf(page, '/seen', cookie(others, own))).toBe(200);
    expect(await statusOf(page, '/seen', cookie(own, others))).toBe(200);
    expect(await statusOf(page, '/seen', cookie(others))).toBe(401);
  });

  it('access: a session cannot be changed into that of an operator', async () => {
    const session = makeSession('read', READ, 1_000 + SESSION_MS).replace('read', 'operate');
    const cookie = { cookie: `changefeed_session=${session}` };
    expect(await statusOf(open({ ...withTokens, nowMs: 2_000 }), '/seen', cookie)).toBe(401);
  });

  it('access: the header of a proxy counts only when it comes from the proxy', async () => {
    const proxy = { userHeader: 'x-forwarded-user', operators: ['kim'], hosts: [] };
    const trusted = open({ trustedProxy: { ...proxy, from: ['127.0.0.0/8'] } });
    expect(await statusOf(trusted, '/seen')).toBe(401);
    expect(await statusOf(trusted, '/seen', { 'x-forwarded-user': 'lee' })).toBe(200);
    expect(await statusOf(trusted, '/act', { ...ACTION, 'x-forwarded-user': 'lee' })).toBe(403);
    expect(await statusOf(trusted, '/act', { ...ACTION, 'x-forwarded-user': 'kim' })).toBe(200);
    const elsewhere = open({ trustedProxy: { ...proxy, from: ['10.0.0.0/8'] } });
    expect(await statusOf(elsewhere, '/seen', { 'x-forwarded-user': 'kim' })).toBe(401);
  });
});

describe('proxies', () => {
  it('proxies: with a token made for this machine, what a proxy passes on is refused, whatever host it names', async () => {
    const url = await open(made).start();
    expect(await rawStatus(url, { path: '/seen', headers: bearer(OPERATE) })).toBe(200);
    expect(await http10Status(url)).toBe(421);
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.9' },
      { 'x-forwarded-host': 'public.example' },
      { 'x-forwarded-proto': 'https' },
      { 'x-real-ip': '203.0.113.9' },
      { forwarded: 'for=203.0.113.9' },
      { via: '1.1 caddy' },
    ])
      for (const method of ['GET', 'POST'])
        expect({
          headers,
          status: await rawStatus(url, {
            method,
            path: method === 'GET' ? '/seen' : '/act',
            headers: { ...ACTION, ...bearer(OPERATE), ...headers },
          }),
        }).toEqual({ headers, status: 421 });
    const tokens = await open(withTokens).start();
    expect(await http10Status(tokens)).toBe(200);
    expect(
      await rawStatus(tokens, { path: '/seen', headers: { ...bearer(READ), 'x-forwarded-for': '203.0.113.9' } }),
    ).toBe(200);
  });

  it('proxies: a trusted proxy is believed only under the names of the configuration', async () => {
    const trustedProxy = {
      from: ['127.0.0.1'],
      userHeader: 'x-forwarded-user',
      operators: ['kim'],
      hosts: ['status.example'],
    };
    const url = await open({ trustedProxy, tokens: { read: READ } }).start();
    const kim = { ...ACTION, 'x-forwarded-user': 'kim' };
    const under = async (host: string, headers: Record<string, string> = {}): Promise<number[]> => [
      await rawStatus(url, { path: '/public', headers: { ...kim, ...headers, host } }),
      await rawStatus(url, { path: '/seen', headers: { ...kim, ...headers, host } }),
      await rawStatus(url, {
        method: 'POST',
        path: '/act',
        headers: { ...kim, ...headers, host, origin: `http://${host}` },
      }),
    ];
    expect(await under('rebound.example:4323')).toEqual([200, 421, 421]);
    expect(await under('status.example.rebound.example')).toEqual([200, 421, 421]);
    expect(await under(new URL(url).host)).toEqual([200, 200, 200]);
    // A token proves itself: monitors and probes of a cluster ask by address.
    expect(await rawStatus(url, { path: '/seen', headers: { host: '10.1.2.3:4021', ...bearer(READ) } })).toBe(200);
  });

  it('proxies: a website cannot have a browser ask for what costs work', async () => {
    const url = await open(withTokens).start();
    const ask = (path: string, site: string): Promise<number> =>
      rawStatus(url, { path, headers: { ...bearer(READ), 'sec-fetch-site': site } });
    expect(await ask('/api/work', 'cross-site')).toBe(403);
    expect(await ask('/events?from=beginning', 'cross-site')).toBe(403);
    expect(await ask('/metrics', 'cross-site')).toBe(403);
    expect(await ask('/%61pi/work', 'cross-site')).toBe(403);
    expect(await ask('/queues/api/queues', 'cross-site')).toBe(403);
    expect(await ask('/api/work', 'same-origin')).toBe(200);
    // A link on another site may lead to the page.
    expect(await ask('/public', 'cross-site')).toBe(200);
  });
});

describe('actions', () => {
  it('actions: another site can send none, whatever form or script it uses', async () => {
    const server = open(made);
    const foreign: Record<string, string>[] = [
      {},
      { 'content-type': 'application/x-www-form-urlencoded' },
      { ...ACTION, origin: 'https://elsewhere.example' },
      { ...ACTION, origin: 'null' },
      { ...ACTION, 'sec-fetch-site': 'cross-site' },
      { ...ACTION, 'sec-fetch-site': 'same-site' },
    ];
    const act = (headers: Record<string, string>) => statusOf(server, '/act', { ...bearer(OPERATE), ...headers });
    for (const headers of foreign) expect(await act(headers)).toBe(403);
    expect(await act({ ...ACTION, origin: 'http://localhost' })).toBe(200);
  });
});

describe('http server', () => {
  it('http server: takes a free port when another process has the usual one, but never instead of a configured one', async () => {
    const first = await open().start();
    const taken = Number(new URL(first).port);
    const second = await open({ usualPort: taken }).start();
    expect(new URL(second).port).not.toBe(String(taken));
    await expect(open({ port: taken }).start()).rejects.toThrow(/EADDRINUSE/);
  });

  it('http server: every answer forbids scripts from elsewhere, refusals too', async () => {
    const server = open(withTokens);
    for (const path of ['/public', '/seen', '/no-such-address']) {
      const { headers } = await server.app.inject({ url: path, headers: { host: 'localhost' } });
      expect(headers['content-security-policy']).toContain("script-src 'self'");
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
    }
  });

  it('http server: closes connections whose request never arrives, and never a stream', async () => {
    const server = open({ more: [endless] });
    const { server: node } = server.app;
    expect(node).toMatchObject({
      requestTimeout: 30_000,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 5_000,
      timeout: 120_000,
      maxConnections: 1_000,
    });
    Object.assign(node, { requestTimeout: 300, headersTimeout: 200, timeout: 300, connectionsCheckingInterval: 50 });
    const url = new URL(await server.start());
    const socketThat = (text: string) => {
      const socket = connect(Number(url.port), url.hostname);
      let received = '';
      socket.on('data', (chunk) => (received += chunk.toString())).on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      socket.write(text);
      return { closed: once(socket, 'close'), isOpen: () => !socket.closed, received: () => received };
    };
    const stream = socketThat('GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually(() => expect(stream.received()).toContain('begun'));
    await socketThat('GET /seen HTTP/1.1\r\nHost: loc').closed;
    await socketThat(
      'POST /act HTTP/1.1\r\nHost: localhost\r\nx-changefeed-action: 1\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    ).closed;
    expect(stream.isOpen()).toBe(true);
  });

  it('http server: no address takes all connections, and none from elsewhere those of this machine', () => {
    const places = createPlaces({ most: 900, mostOfOne: 100 });
    const open = (remoteAddress: string, count: number) =>
      Array.from({ length: count }, () => {
        const socket = Object.assign(new EventEmitter(), { remoteAddress, isOpen: true, destroy: () => socket });
        socket.destroy = () => Object.assign(socket, { isOpen: false });
        admit(socket as never, places, (address) => address === '10.0.0.1');
        return socket;
      });
    const opened = (...sockets: { isOpen: boolean }[][]) => sockets.flat().filter(({ isOpen }) => isOpen).length;
    const one = open('203.0.113.1', 150);
    expect(opened(one)).toBe(100);
    expect(opened(open('::ffff:203.0.113.1', 1))).toBe(0);
    expect(opened(open('2001:db8:1:2::1', 100), open('2001:db8:1:2::beef', 1), open('2001:db8:1:3::1', 1))).toBe(101);
    expect(opened(open('10.0.0.1', 800))).toBe(699);
    expect(opened(open('203.0.113.2', 1))).toBe(0);
    expect(opened(open('127.0.0.1', 1), open('::1', 1))).toBe(2);
    one[0]?.emit('close');
    expect(opened(open('203.0.113.2', 2))).toBe(1);
  });
});

/** As `GET /events` does. */
const endless: Routes = (app) => {
  app.get(
    '/endless',
    { config: { access: 'public' } },
    (_request, reply) => void openStream(reply, 'text/plain').write('begun'),
  );
};
