/** What receivers, databases and functions of a configuration say of an event may quote its record. */
import { describe, expect, it } from 'vitest';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { PermanentError, RetryAfterError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { webhook } from '../../src/delivery/handlers/webhook/webhook.js';
import { createLog, type LogLevel } from '../../src/ops/log.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { handlerContext, useReceivers } from '../support/handler-fixtures.js';
import { useMirrors } from '../support/mirror.js';
import { startOtherCrm } from '../support/other-crm.js';
import { personEvent } from '../support/page-feed.js';
import { appendEvents } from '../support/events.js';
import { useRedis } from '../support/redis.js';

const VALUE = 'hong.gildong@person.example';
const retry = { attempts: 2, delay: '1ms' } as const;
const startReceiver = useReceivers();
const { absent, admin, mirror, schema, table } = await useMirrors();

describe('words of others', () => {
  const redis = useRedis();

  /** Delivers one event until it is dead or its subscription is paused; returns everything that outlives the event. */
  async function deliver(subscription: Subscription, level: LogLevel = 'info') {
    const { url, token } = await startOtherCrm();
    const lines: string[] = [];
    const log = createLog({ level, destination: { write: (line) => void lines.push(line) } });
    const config = { workspaces: [{ name: 'acme', baseUrl: url, token }], subscriptions: [subscription] };
    const feed = await openFeed(redis, config, { log });
    await feed.start(['dispatch', 'handle']);
    await appendEvents(redis, [personEvent('p1', 1, { fields: { 이메일: VALUE, toString: VALUE } })]);
    const dead = await eventually(async () => {
      const letters = await feed.deadLetters.list();
      const [one] = (await feed.status()).subscriptions;
      expect(letters.length === 1 || one?.paused !== null).toBe(true);
      return letters;
    });
    const status = JSON.stringify(await feed.status());
    await feed.stop();
    const health = await redis.redis.hgetall(redis.keys.health('ops'));
    const reasons = await Promise.all(
      (await redis.redis.keys(`${redis.keys.prefix}*`)).map(async (key) =>
        (await redis.redis.type(key)) === 'hash' ? redis.redis.hget(key, 'failedReason') : null,
      ),
    );
    return { log: lines.join(''), status, health: JSON.stringify(health), reasons: JSON.stringify(reasons), dead };
  }

  const throwing = (errorOf: (said: string) => unknown): Subscription =>
    defineHandler({
      name: 'ops',
      retry,
      handle: ({ data }) => {
        throw errorOf(JSON.stringify(data.after));
      },
    });
  const echoing = async (status: number, headers = {}): Promise<Subscription> => {
    const { url } = await startReceiver(({ body }) => {
      const { data } = JSON.parse(body) as { data: { after: object } };
      return { status, headers, body: JSON.stringify(data.after) };
    });
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    return webhook({ name: 'ops', retry, url, secret, allowHosts: ['127.0.0.1'] });
  };

  it.each<[string, () => Subscription | Promise<Subscription>]>([
    ['a receiver that echoes the record', () => echoing(422)],
    ['a receiver that echoes the record and asks to wait', () => echoing(429, { 'retry-after': '0' })],
    ['a receiver that echoes the record and is gone', () => echoing(410)],
    ['a function that throws', () => throwing((said) => new TypeError(said))],
    ['a function that gives up', () => throwing((said) => new PermanentError(said))],
    ['a function that asks to wait', () => throwing((said) => new RetryAfterError(said, { retryAfter: 0 }))],
    ['a function that throws a text', () => throwing((said) => said)],
    [
      'a function whose errors have it in each part',
      () => throwing((said) => ({ name: said, code: said, message: said })),
    ],
    [
      'a transform',
      () =>
        defineHandler({
          name: 'ops',
          retry,
          transform: (event) => {
            throw new Error(JSON.stringify(event));
          },
          handle: () => undefined,
        }),
    ],
  ])('words of others: %s', async (_, subscription) => {
    const { dead: _dead, ...kept } = await deliver(await subscription());
    expect(kept.log).toContain('"subscription":"ops"');
    expectNoValue(kept);
  });

  it('words of others: the dead letter and the log at debug have them', async () => {
    const { dead, log } = await deliver(await echoing(422), 'debug');
    expect(dead[0]?.reason).toContain(VALUE);
    expect(log).toContain(VALUE);
  });

  it.skipIf(absent !== null)('words of others: a trigger that raises with the row', async () => {
    await mirror().handle(personEvent('p0', 1), handlerContext({ list: 'people' }));
    await admin.query(`CREATE FUNCTION ${schema()}.raising() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused %', NEW.data; END $$`);
    await admin.query(
      `CREATE TRIGGER raising BEFORE INSERT ON ${table()} FOR EACH ROW EXECUTE FUNCTION ${schema()}.raising()`,
    );
    const { dead, ...kept } = await deliver(mirror({ name: 'ops', retry }));
    expect(dead[0]?.reason).toContain(VALUE);
    expectNoValue(kept);
  });
});

function expectNoValue(kept: Record<string, string>): void {
  for (const [place, text] of Object.entries(kept))
    expect({ place, text }).toEqual({ place, text: text.replaceAll(VALUE, '[a value of the record]') });
}
