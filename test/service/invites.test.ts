import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/ops/log.js';
import { digestOfToken } from '../../src/ops/invites.js';
import { systemClock } from '../../src/kit/clock.js';
import { makeSession } from '../../src/ops/server/http/session.js';
import { dumpOf } from '../support/dump.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { testFolder } from '../support/folder.js';
import { startOtherCrm } from '../support/other-crm.js';
import { TOKENS } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';

const ACTION = { 'x-changefeed-action': '1', 'content-type': 'application/json' };
const redis = useRedis();

/** Two processes with a page of the same feed. */
async function openTwo(http: object = { tokens: TOKENS }) {
  const crm = await startOtherCrm();
  const lines: string[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  const config = { workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }], http: { port: 0, ...http } };
  const open = async () => {
    const feed = await openFeed(redis, config, { http: true, log, stateDir: testFolder() });
    await feed.start(['dispatch']);
    return { feed, url: feed.pageUrl ?? '' };
  };
  const [first, second] = [await open(), await open()];
  return { first, second, lines };
}

const post = (url: string, path: string, body: object, headers: object = {}): Promise<Response> =>
  fetch(`${url}${path}`, { method: 'POST', headers: { ...ACTION, ...headers }, body: JSON.stringify(body) });

async function signedIn(url: string, token: string): Promise<{ cookie: string }> {
  const answer = await post(url, '/api/session', { token });
  expect(answer.status).toBe(200);
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
}

const statusOf = async (url: string, headers: object): Promise<number> =>
  (await fetch(`${url}/api/status`, { headers: { ...headers } })).status;

describe('invitations', () => {
  it('invitation: a person signs in at another process, acts under their name, and is out within seconds when revoked', async () => {
    const { first, second, lines } = await openTwo();
    const { token, link, role } = await first.feed.invites.add({ name: '김영업', role: 'operate' });
    expect({ link, role }).toEqual({ link: `${first.url}/#t=${token}`, role: 'operate' });
    await eventually(async () => expect((await post(second.url, '/api/session', { token })).status).toBe(200));
    const session = await signedIn(second.url, token);
    const who = await (await fetch(`${second.url}/api/session`, { headers: session })).json();
    expect(who).toEqual({ caller: { role: 'operate', name: '김영업', how: 'session' } });
    expect((await post(second.url, '/api/lists/acme/people/accept', {}, session)).status).toBe(200);
    const [stream] = await Promise.all([
      fetch(`${second.url}/events`, { headers: { ...session, accept: 'text/event-stream' } }),
      expect(first.feed.invites.add({ name: '김영업' })).rejects.toMatchObject({ code: 'CF_USAGE' }),
    ]);
    const ended = stream.text().catch(() => 'cut');

    expect(await first.feed.invites.revoke('김영업')).toBe(true);
    await eventually(async () => expect(await statusOf(second.url, session)).toBe(401));
    expect([401, 429]).toContain(await statusOf(second.url, { authorization: `Bearer ${token}` }));
    expect([401, 429]).toContain((await post(second.url, '/api/session', { token })).status);
    await ended;
    expect(await first.feed.invites.revoke('김영업')).toBe(false);
    await second.feed.stop();
    const entries = await first.feed.audit({ by: '김영업' });
    expect(entries.map(({ what, how, outcome }) => [what, how, outcome])).toEqual(
      expect.arrayContaining([
        ['accept', 'session', 'done'],
        ['sign in', 'token', 'done'],
      ]),
    );
    const stored = JSON.stringify(await dumpOf(redis.redis, redis.keys.prefix));
    for (const text of [stored, lines.join('')]) expect(text).not.toContain(token);
  });

  it('invitation: who reads can act nowhere, and neither invites nor sees who is invited', async () => {
    const { first } = await openTwo();
    const { token } = await first.feed.invites.add({ name: 'Lee' });
    const session = await signedIn(first.url, token);
    expect(await statusOf(first.url, session)).toBe(200);
    expect((await post(first.url, '/api/invites', { name: 'Park' }, session)).status).toBe(403);
    expect((await fetch(`${first.url}/api/invites`, { headers: session })).status).toBe(403);
    expect((await post(first.url, '/api/invites/revoke', { name: 'Lee' }, session)).status).toBe(403);
  });

  it('invitation: is made, listed and revoked by the API, and the audit never has the token', async () => {
    const { first } = await openTwo({ tokens: TOKENS, publicUrl: 'https://status.example.com/changes/' });
    const operator = { authorization: `Bearer ${TOKENS.operate}` };
    const made = (await (
      await post(first.url, '/api/invites', { name: ' Park ', expires: '1h' }, operator)
    ).json()) as {
      token: string;
    };
    expect(made).toMatchObject({
      ...{ name: 'Park', role: 'read', reach: 'public' },
      link: `https://status.example.com/changes/#t=${made.token}`,
    });
    const listed = await (await fetch(`${first.url}/api/invites`, { headers: operator })).json();
    expect(listed).toMatchObject({ invites: [{ name: 'Park', role: 'read' }] });
    expect(JSON.stringify(listed)).not.toContain(made.token);
    expect((await post(first.url, '/api/invites', { name: 'read' }, operator)).status).toBe(409);
    expect((await post(first.url, '/api/invites', { name: 'Choi', expires: '9000d' }, operator)).status).toBe(409);
    expect(await (await post(first.url, '/api/invites/revoke', { name: 'Park' }, operator)).json()).toEqual({
      count: 1,
    });
    const entries = await first.feed.audit();
    expect(entries).toMatchObject([
      { what: 'invite revoke', by: 'operate', person: 'Park' },
      { what: 'invite', by: 'operate', person: 'Park', role: 'read' },
    ]);
    expect(JSON.stringify(entries)).not.toContain(made.token);
  });

  it('invitation: opens nothing after its time, and the digest that is stored is neither a token nor a key of sessions', async () => {
    const { first } = await openTwo();
    const { token } = await first.feed.invites.add({ name: 'Lee', role: 'operate' });
    const session = await signedIn(first.url, token);
    const digest = digestOfToken(token);
    expect(digest).toBe(createHash('sha256').update(token).digest('base64url'));
    const forged = makeSession(`~${Buffer.from('Lee').toString('base64url')}`, digest, systemClock.now() + 60_000);
    expect(await statusOf(first.url, { authorization: `Bearer ${digest}` })).toBe(401);
    expect(await statusOf(first.url, { cookie: `changefeed_session=${forged}` })).toBe(401);
    const stored = { role: 'operate', digest, since: '2026-01-01T00:00:00.000Z', until: '2026-01-02T00:00:00.000Z' };
    await redis.redis.hset(redis.keys.invites(), 'Lee', JSON.stringify(stored));
    await eventually(async () => expect(await statusOf(first.url, session)).toBe(401));
    // Another one of this name can be invited then.
    const again = await first.feed.invites.add({ name: 'Lee' });
    expect(await statusOf(first.url, session)).toBe(401);
    expect(await statusOf(first.url, await signedIn(first.url, again.token))).toBe(200);
  });

  it('invitation: on a page without tokens it opens that machine only, and none is made where a proxy signs in', async () => {
    const { first } = await openTwo({});
    const made = await first.feed.invites.add({ name: 'Lee' });
    expect(made.reach).toBe('this machine');
    expect(await statusOf(first.url, await signedIn(first.url, made.token))).toBe(200);
    const proxied = await openTwo({ trustedProxy: { from: ['127.0.0.1'] } });
    await expect(proxied.first.feed.invites.add({ name: 'Park' })).rejects.toThrow('http.trustedProxy');
  });
});
