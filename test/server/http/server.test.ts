import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.js';
import { silentLog } from '../../../src/runtime/log.js';
import type { AccessOptions } from '../../../src/server/http/access.js';
import { createHttpServer, type HttpServer, type Routes } from '../../../src/server/http/server.js';
import { makeSession, SESSION_MS } from '../../../src/server/http/session.js';

const READ = 'read-token-0123456789';
const OPERATE = 'operate-token-0123456789';
const ACTION = { 'x-changefeed-action': '1' };
const routes: Routes = (app) => {
  app.get('/public', { config: { access: 'public' } }, () => ({ ok: true }));
  app.get('/seen', ({ caller }) => ({ caller }));
  app.post('/act', { config: { access: 'operate' } }, ({ caller }) => ({ caller }));
};

interface Given extends Partial<AccessOptions> {
  port?: number | undefined;
  usualPort?: number;
  nowMs?: number;
}

function open({ tokens = {}, trustedProxy, port = 0, usualPort = 0, nowMs }: Given = {}): HttpServer {
  const clock = nowMs === undefined ? systemClock : { ...systemClock, now: () => nowMs };
  const access = { tokens, trustedProxy };
  const server = createHttpServer({
    routes: [routes],
    access,
    host: '127.0.0.1',
    port,
    usualPort,
    clock,
    log: silentLog,
  });
  onTestFinished(() => server.stop());
  return server;
}

const withTokens = { tokens: { read: READ, operate: OPERATE } };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function statusOf(server: HttpServer, path: string, headers: Record<string, string> = {}): Promise<number> {
  const method = path === '/act' ? 'POST' : 'GET';
  const answer = await server.app.inject({ method, url: path, headers: { host: 'localhost', ...headers } });
  return answer.statusCode;
}

describe('access', () => {
  it('access: without tokens, everyone on this machine may act', async () => {
    const server = open();
    expect(await statusOf(server, '/act', ACTION)).toBe(200);
  });

  it('access: without tokens, a name that somebody else lets resolve to this machine is refused', async () => {
    const server = open();
    expect(await statusOf(server, '/seen', { host: 'rebound.example' })).toBe(421);
    expect(await statusOf(server, '/seen', { host: '127.0.0.1:4021' })).toBe(200);
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
    expect(await codes(bearer('another-token-0123456789'))).toEqual([200, 401, 401]);
  });

  it('access: after ten wrong tokens, even the right one has to wait', async () => {
    const server = open(withTokens);
    for (let count = 0; count < 10; count += 1) {
      expect(await statusOf(server, '/seen', bearer(`guess-number-${count}-0000`))).toBe(401);
    }
    expect(await statusOf(server, '/seen', bearer(READ))).toBe(429);
  });

  it('access: a session ends with its time, and with the token it began with', async () => {
    const session = makeSession('operate', OPERATE, 1_000);
    const cookie = { cookie: `other=1; changefeed_session=${session}` };
    expect(await statusOf(open({ ...withTokens, nowMs: 2_000 }), '/seen', cookie)).toBe(200);
    expect(await statusOf(open({ ...withTokens, nowMs: 1_000 + SESSION_MS }), '/seen', cookie)).toBe(401);
    expect(await statusOf(open({ tokens: { operate: 'a-new-token-0123456789' }, nowMs: 2_000 }), '/seen', cookie)).toBe(
      401,
    );
  });

  it('access: a session cannot be changed into that of an operator', async () => {
    const session = makeSession('read', READ, 1_000).replace('read', 'operate');
    const cookie = { cookie: `changefeed_session=${session}` };
    expect(await statusOf(open({ ...withTokens, nowMs: 2_000 }), '/seen', cookie)).toBe(401);
  });

  it('access: the header of a proxy counts only when it comes from the proxy', async () => {
    const proxy = { userHeader: 'x-forwarded-user', operators: ['kim'] };
    const trusted = open({ trustedProxy: { ...proxy, from: ['127.0.0.0/8'] } });
    expect(await statusOf(trusted, '/seen')).toBe(401);
    expect(await statusOf(trusted, '/seen', { 'x-forwarded-user': 'lee' })).toBe(200);
    expect(await statusOf(trusted, '/act', { ...ACTION, 'x-forwarded-user': 'lee' })).toBe(403);
    expect(await statusOf(trusted, '/act', { ...ACTION, 'x-forwarded-user': 'kim' })).toBe(200);
    const elsewhere = open({ trustedProxy: { ...proxy, from: ['10.0.0.0/8'] } });
    expect(await statusOf(elsewhere, '/seen', { 'x-forwarded-user': 'kim' })).toBe(401);
  });
});

describe('actions', () => {
  it('actions: another site can send none, whatever form or script it uses', async () => {
    const server = open();
    const foreign: Record<string, string>[] = [
      {},
      { 'content-type': 'application/x-www-form-urlencoded' },
      { ...ACTION, origin: 'https://elsewhere.example' },
      { ...ACTION, origin: 'null' },
      { ...ACTION, 'sec-fetch-site': 'cross-site' },
      { ...ACTION, 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) expect(await statusOf(server, '/act', headers)).toBe(403);
    expect(await statusOf(server, '/act', { ...ACTION, origin: 'http://localhost' })).toBe(200);
  });
});

describe('http server', () => {
  it('http server: takes a free port when another process has the usual one, but never instead of a configured one', async () => {
    const first = await open().start();
    const taken = Number(new URL(first).port);
    const second = await createHttpServerAt({ usualPort: taken }).start();
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

  it('http server: stops although a connection is open', async () => {
    const server = open();
    const url = new URL(await server.start());
    const closed = new Promise((resolve) => {
      const socket = request({ host: url.hostname, port: url.port, path: '/seen', agent: false });
      socket.on('error', resolve);
      socket.on('close', resolve);
      socket.flushHeaders();
    });
    await server.stop();
    await closed;
  });
});

function createHttpServerAt({ usualPort }: { usualPort: number }): HttpServer {
  const server = createHttpServer({
    routes: [routes],
    access: { tokens: {} },
    host: '127.0.0.1',
    port: undefined,
    usualPort,
    clock: systemClock,
    log: silentLog,
  });
  onTestFinished(() => server.stop());
  return server;
}
