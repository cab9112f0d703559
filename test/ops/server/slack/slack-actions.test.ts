import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { message } from '../../../../src/delivery/handlers/message/message.js';
import { defineHandler } from '../../../../src/delivery/handlers/define.js';
import { eventually } from '../../../support/eventually.js';
import { appendEvents, changeEvent } from '../../../support/events.js';
import { useReceivers } from '../../../support/handler-fixtures.js';
import { startPageFeed, type PageFeed } from '../../../support/page-feed.js';
import { useRedis } from '../../../support/redis.js';

const redis = useRedis();
const startReceiver = useReceivers();
const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const DAY_S = 86_400;

interface Sent {
  text: string;
  blocks?: { elements?: { action_id: string; value: string }[] }[];
}

/** As Slack sends a click: form-encoded, and signed as its documentation says. */
async function click(
  page: PageFeed,
  given: { action_id: string; value: string; responseUrl: string; atS?: number; secret?: string; signature?: string },
): Promise<Response> {
  const { action_id, value, responseUrl, atS = Math.floor(Date.now() / 1_000), secret = SECRET } = given;
  const payload = {
    type: 'block_actions',
    user: { id: 'U2CERLKJA', username: 'haeun', name: 'haeun', team_id: 'T1' },
    response_url: responseUrl,
    actions: [{ type: 'button', block_id: 'b', action_id, value, action_ts: `${atS}.1` }],
  };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const own = `v0=${createHmac('sha256', secret).update(`v0:${atS}:${body}`).digest('hex')}`;
  return await fetch(`${page.url}/slack/actions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': String(atS),
      'x-slack-signature': given.signature ?? own,
    },
    body,
  });
}

it('slack: a click on a message mutes its record for that subscription, is answered and noted, and can be undone', async () => {
  const chat = await startReceiver();
  const answers = await startReceiver();
  const options = { url: chat.url, allowHosts: ['127.0.0.1'], on: ['crm.*'], mostPerMinute: false } as const;
  const handled: string[] = [];
  const page = await startPageFeed(redis, {
    subscriptions: [
      message({
        name: 'sales',
        ...options,
        language: 'ko',
        rate: { requests: 1_000 },
        buttons: true,
        signingSecret: SECRET,
      }),
      defineHandler({ name: 'copy', on: ['crm.*'], handle: ({ id }) => void handled.push(id) }),
    ],
  });
  const append = (record: string, sequence: number) => appendEvents(redis, [changeEvent({ record, sequence })]);
  const messages = (): Sent[] => chat.received.map(({ body }) => JSON.parse(body) as Sent);
  await append('p1', 1);
  await eventually(() => expect(messages()).toHaveLength(1));
  const { elements: buttons = [] } = messages()[0]?.blocks?.at(-1) ?? {};
  const [snooze, mute] = buttons;
  const responseUrl = `${answers.url}/actions/T1/response`;

  // Not genuine, too old, of another address: nothing is done, and nothing is said.
  const wrong = [
    await click(page, { ...mute!, responseUrl, secret: 'another-secret-of-another-app' }),
    await click(page, { ...mute!, responseUrl, signature: 'v0=00' }),
    await click(page, { ...mute!, responseUrl, atS: Math.floor(Date.now() / 1_000) - 400 }),
    await click(page, { ...mute!, value: mute!.value.replace('sales', 'copy'), responseUrl }),
  ];
  expect(wrong.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  expect(await wrong[0]!.json()).toEqual({ error: { status: 401, message: 'This is not signed.' } });
  const muted = () => page.get<{ muted: { id: string; until: string | null }[] }>('/api/subscriptions/sales/muted');
  expect(await muted()).toEqual({ muted: [] });
  expect((await click(page, { action_id: 'open_crm', value: '', responseUrl })).status).toBe(200);

  const atS = Math.floor(Date.now() / 1_000);
  for (const _time of [1, 2]) expect((await click(page, { ...snooze!, responseUrl, atS })).status).toBe(200);
  expect((await muted()).muted).toMatchObject([{ id: 'p1', until: new Date((atS + DAY_S) * 1_000).toISOString() }]);
  expect((await click(page, { ...mute!, responseUrl })).status).toBe(200);
  expect((await click(page, { ...snooze!, responseUrl })).status).toBe(200);
  expect((await muted()).muted).toMatchObject([{ id: 'p1', until: null }]);
  await eventually(() => expect(answers.received).toHaveLength(4));
  const said = answers.received.map(({ path, body }) => ({ path, ...(JSON.parse(body) as Sent) }));
  expect(said[2]).toMatchObject({ path: '/actions/T1/response', response_type: 'in_channel', replace_original: false });
  expect(said.map(({ text }) => text).join('\n')).toMatch(/haeun 님이 ‘p1’ 알림을 .*까지 껐습니다\./);
  expect(said.map(({ text }) => text).join('\n')).toContain('`changefeed unmute sales people p1`');

  // Of another record, and to another subscription, everything is said.
  await append('p1', 2);
  await append('p2', 1);
  await page.feed.waitUntilHandled({ timeoutMs: 20_000 });
  expect(messages().map(({ text }) => text)).toHaveLength(2);
  expect(handled).toHaveLength(3);
  const receipts = await page.get<{ deliveries: object[] }>('/api/deliveries?subscription=sales');
  expect(receipts.deliveries).toContainEqual(
    expect.objectContaining({ record: 'p1', outcome: 'skipped', reason: 'muted' }),
  );

  const undone = await page.act('/api/subscriptions/sales/unmute', { list: 'people', id: 'p1' });
  expect([undone.status, await undone.json()]).toEqual([200, { count: 1 }]);
  await append('p1', 3);
  await eventually(() => expect(messages()).toHaveLength(3));

  const { entries } = await page.get<{ entries: { by: string; how: string; what: string }[] }>('/api/audit');
  const ofSlack = entries.filter(({ how }) => how === 'slack').map(({ by, what }) => `${by} ${what}`);
  expect(ofSlack.filter((one) => one === 'slack:haeun mute')).toHaveLength(2);
  expect(JSON.stringify(entries)).not.toContain('"p1"');
});

it('slack: an answer goes to Slack or to an allowed host alone, and a click on what cannot be muted says why', async () => {
  const answers = await startReceiver();
  const page = await startPageFeed(redis, {
    subscriptions: [
      message({ name: 'sales', url: 'https://hooks.slack.com/services/T/B/x', buttons: true, signingSecret: SECRET }),
      defineHandler({ name: 'copy', on: ['crm.*'], handle: () => undefined }),
    ],
  });
  const value = JSON.stringify({ s: 'sales', w: 'acme', l: 'people', r: 'p1' });
  const status = await click(page, { action_id: 'changefeed_mute', value, responseUrl: `${answers.url}/stolen` });
  expect(status.status).toBe(200);
  const { muted } = await page.get<{ muted: object[] }>('/api/subscriptions/sales/muted');
  expect(muted).toHaveLength(1);
  expect(answers.received).toEqual([]);
  const refused = await page.act('/api/subscriptions/copy/mute', { list: 'people', id: 'p1' });
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('does not tell people')]);
});
