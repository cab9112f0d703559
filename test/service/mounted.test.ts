import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { defineHandler, openChangefeed } from '../../src/index.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const TOKEN = 'operate-7f1e9a4c02d8b635';

it('mounted: page, API, actions and metrics are served under a path of an own server', async () => {
  const crm = await startOtherCrm();
  const config = {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }],
    subscriptions: [defineHandler({ name: 'own', on: ['crm.*'], handle: () => undefined })],
    redis: { url: redis.url, prefix: redis.keys.prefix },
  };
  await expect(openChangefeed({ config, http: '/changefeed' })).rejects.toMatchObject({ code: 'CF_CONFIG_INVALID' });
  const feed = await openChangefeed({
    config: { ...config, http: { tokens: { operate: TOKEN } } },
    http: '/changefeed',
  });
  onTestFinished(() => feed.stop());
  // The body is read before the request is handed over.
  const app = express().use(express.json()).use('/changefeed', feed.handler);
  const servers = await Promise.all([app as RequestListener, feed.handler].map(listen));

  for (const url of servers) {
    const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(url + path, {
        redirect: 'manual',
        ...init,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', 'x-changefeed-action': '1' },
      });
    if (url === servers[0]) {
      expect((await ask('/changefeed/healthz')).status).toBe(503);
      await feed.start();
    }
    expect((await ask('/changefeed')).headers.get('location')).toBe('/changefeed/');
    const page = await (await ask('/changefeed/')).text();
    const [, script = ''] = /src="\.(\/assets\/[^"]+)"/.exec(page) ?? [];
    expect((await ask(`/changefeed${script}`)).headers.get('content-type')).toContain('javascript');
    expect(await (await ask('/changefeed/api/status')).json()).toMatchObject({ subscriptions: [{ name: 'own' }] });
    expect((await fetch(`${url}/changefeed/api/status`)).status).toBe(401);
    expect(await (await ask('/changefeed/metrics')).text()).toContain('changefeed_');
    const signedIn = await ask('/changefeed/api/session', { method: 'POST', body: JSON.stringify({ token: TOKEN }) });
    // The other routes of that server get no session.
    expect(signedIn.headers.get('set-cookie')).toContain('; Path=/changefeed; ');
    const reason = `with "${url}" and 한글`;
    const body = JSON.stringify({ reason });
    expect((await ask('/changefeed/api/subscriptions/own/pause', { method: 'POST', body })).status).toBe(200);
    expect((await feed.status()).subscriptions).toMatchObject([
      { paused: { reason: `paused on the status page: ${reason}.` } },
    ]);
    await feed.resume('own');
  }
  expect(feed.pageUrl).toBeNull();
  await feed.stop();
  for (const url of servers) expect((await fetch(`${url}/changefeed/healthz`)).status).toBe(503);
});

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
