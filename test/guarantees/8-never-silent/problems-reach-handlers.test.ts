/** Guarantee 8: what the feed reports about itself reaches the same subscriptions and handlers as the events of the CRM. */
import { expect, it } from 'vitest';
import { LIST_NAMES } from '../../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { defineHandler } from '../../../src/delivery/handlers/define.js';
import { message } from '../../../src/delivery/handlers/message/message.js';
import { problemsOf } from '../../support/event-schemas.js';
import { eventually } from '../../support/eventually.js';
import { fastClock } from '../../support/fast-clock.js';
import { baselined, openFeed } from '../../support/feed.js';
import { useReceivers } from '../../support/handler-fixtures.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const WAIT = { timeoutMs: 60_000 };

const redis = useRedis();
const startReceiver = useReceivers();

it(
  'never silent: a dead token is a chat message, and so are held records, a paused subscription and an emptied list',
  { timeout: 240_000 },
  async () => {
    const [crm, chat] = [await startOtherCrm(), await startReceiver()];
    const events: ChangeEvent[] = [];
    const lists = Object.fromEntries(
      LIST_NAMES.map((list) => [
        list,
        { interval: '1s', removals: { maxShare: 0.2, maxCount: 3 }, creations: { maxShare: 0.2, maxCount: 3 } },
      ]),
    );
    const raw = {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists, todos: { watch: false } }],
      subscriptions: [
        message({
          name: 'on-call',
          url: `${chat.url}/key`,
          on: ['changefeed.*'],
          allowHosts: ['127.0.0.1'],
          rate: { requests: 100, perSeconds: 1 },
        }),
        defineHandler({ name: 'all', on: ['changefeed.*'], handle: (event) => void events.push(event) }),
        defineHandler({ name: 'crm', on: ['crm.*', '*'], handle: (event) => void events.push(event) }),
        defineHandler({ name: 'ops', on: ['crm.*'], handle: () => undefined }),
      ],
    };
    const feed = await openFeed(redis, raw, { clock: fastClock(10) });
    await feed.start();
    await baselined(feed, WAIT);

    await feed.pause('ops', 'The receiver moved.');
    crm.lists.memo.length = 0;
    crm.lists.people.length = 10;
    const row = crm.lists.organization[0]!;
    crm.lists.organization.push(...Array.from({ length: 20 }, (_, n) => ({ ...row, id: `new-${n}` })));
    const kinds = (): string[] => [...new Set(events.map(({ type, subject }) => `${type} ${subject}`))].sort();
    const expected = [
      'changefeed.creations.held list:organization',
      'changefeed.list.silent list:memo',
      'changefeed.removals.held list:people',
      'changefeed.subscription.disabled subscription:ops',
    ];
    await eventually(() => expect(kinds()).toEqual(expect.arrayContaining(expected)), WAIT);
    crm.token = 'another-token';
    const dead = 'changefeed.workspace.unauthorized workspace';
    await eventually(() => expect(kinds()).toContain(dead), WAIT);

    expect(events.flatMap(problemsOf)).toEqual([]);
    // Each problem once, and none for the subscription whose pattern is "*".
    expect(events.filter(({ type }) => type === 'changefeed.workspace.unauthorized')).toHaveLength(1);
    const texts = (): string[] => chat.received.map(({ body }) => (JSON.parse(body) as { text: string }).text);
    await eventually(
      () => expect(texts().join('\n')).toMatch(/^\*acme\* – The API refuses the token\n.*answered 401/m),
      WAIT,
    );
    expect(texts().join('\n')).toMatch(/^\*acme, People\* – Removals are held\n.*7 of 17 records are missing/m);
    expect(texts().join('\n')).not.toContain(crm.token);
  },
);
