import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { text } from 'node:stream/consumers';
import { isDisabling, isPermanent } from '../../../src/delivery/handlers/errors.js';
import { webhook } from '../../../src/delivery/handlers/webhook/webhook.js';
import { changeEvent } from '../../support/events.js';
import { failureOf, handlerContext } from '../../support/handler-fixtures.js';

const secretOf = (letter: string): string => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;
const event = changeEvent({ record: 'p1', sequence: 1 });

/** Answers by path, and keeps what arrived. */
async function receivers(answers: Readonly<Record<string, number | 'never'>> = {}) {
  const got: { path: string; isSigned: boolean; key: unknown }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const path = request.url ?? '';
      const [, letter = ''] = path.split('/');
      const isSigned = ((): boolean => {
        try {
          return new Webhook(secretOf(letter)).verify(body, request.headers as Record<string, string>) !== undefined;
        } catch {
          return false;
        }
      })();
      got.push({ path, isSigned, key: request.headers['x-key'] });
      const answer = answers[path] ?? 200;
      if (answer !== 'never') response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function hooks(options: object = {}) {
  const subscription = webhook({
    name: 'hooks',
    on: ['crm.*'],
    url: '{{workspace.data.hook}}',
    secret: '{{ workspace.data.keys.secret }}',
    allowHosts: ['127.0.0.1'],
    headers: { 'x-key': 'key {{workspace.data.id}}' },
    ...options,
  });
  onTestFinished(() => subscription.close?.());
  return subscription;
}

const contextOf = (name: string, data: object) =>
  handlerContext({ workspace: { name, data: data as Record<string, unknown> } });
const dataOf = (url: string, letter: string) => ({
  hook: `${url}/${letter}`,
  keys: { secret: secretOf(letter) },
  id: 7,
});

describe('an option of each workspace', () => {
  it('per workspace: each gets its own events with its own signature, also after its data has changed', async () => {
    const { got, url } = await receivers();
    const { handle } = hooks();
    await handle(event, contextOf('acme', dataOf(url, 'a')));
    await handle(event, contextOf('beta', dataOf(url, 'b')));
    await handle(event, contextOf('acme', dataOf(url, 'c')));
    expect(got).toEqual(['/a', '/b', '/c'].map((path) => ({ path, isSigned: true, key: 'key 7' })));
  });

  it.each([
    ['nothing', {}, 'its data has no "hook"'],
    ['a private address', { hook: 'http://10.0.0.1/' }, 'unless allowHosts names "10.0.0.1"'],
    ['no URL', { hook: 'ftp://x' }, 'a URL that begins with https://'],
    ['a short secret', { hook: 'https://crm.example/', keys: { secret: 'whsec_c2hvcnQ=' } }, 'secret'],
    ['a line in a header', { hook: 'https://crm.example/', id: 'x\r\ny: z' }, 'x-key'],
    ['the prototype', { hook: 'https://crm.example/', keys: 'text' }, 'its data has no "keys.secret"'],
  ])('per workspace: data with %s sends nothing, says why, and shows no secret', async (_what, data, why) => {
    const { handle } = hooks();
    const given = { ...{ hook: 'https://crm.example/hook', keys: { secret: secretOf('s') }, id: 1 }, ...data };
    const refused = await failureOf(
      Promise.resolve().then(() => handle(event, contextOf('acme', Object.keys(data).length === 0 ? {} : given))),
    );
    expect(refused).toMatchObject({ code: 'CF_DELIVERY_REFUSED', message: expect.stringContaining(why) as string });
    expect(refused.message).toContain('for the workspace "acme" nothing was sent');
    expect(refused.message).not.toMatch(/c2hvcnQ|c3Nzc3/);
  });

  it('per workspace: an endpoint that is gone stops its own deliveries only', async () => {
    const { url } = await receivers({ '/a': 410 });
    const { handle } = hooks();
    const gone = await failureOf(Promise.resolve(handle(event, contextOf('acme', dataOf(url, 'a')))));
    expect([isPermanent(gone), isDisabling(gone)]).toEqual([true, false]);
    await expect(handle(event, contextOf('beta', dataOf(url, 'b')))).resolves.toBeDefined();
  });

  it('per workspace: of a receiver that is down, one delivery at a time waits, and those of others go on', async () => {
    const { got, url } = await receivers({ '/a': 'never' });
    const { handle } = hooks({ timeout: '1s' });
    const [down, up] = [contextOf('acme', dataOf(url, 'a')), contextOf('beta', dataOf(url, 'b'))];
    const attempts = (count: number) =>
      Promise.all(Array.from({ length: count }, () => failureOf(Promise.resolve().then(() => handle(event, down)))));
    await attempts(3);
    const waiting = attempts(20);
    await handle(event, up);
    await waiting;
    expect(got.filter(({ path }) => path === '/a')).toHaveLength(4);
    expect(got.filter(({ path }) => path === '/b')).toHaveLength(1);
  });

  it('per workspace: what every object has is no data', async () => {
    const { handle } = hooks({ headers: { 'x-key': '{{workspace.data.constructor.name}}' } });
    const { url } = await receivers();
    const refused = await failureOf(Promise.resolve().then(() => handle(event, contextOf('acme', dataOf(url, 'a')))));
    expect(refused.message).toContain('its data has no "constructor.name"');
  });

  it('per workspace: a rate, and an option that cannot have data, are refused', () => {
    expect(() => hooks({ rate: { requests: 1 } })).toThrow('with one address for all');
    expect(() => hooks({ timeout: '{{workspace.data.timeout}}' })).toThrow('timeout');
  });
});
