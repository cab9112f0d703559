import { describe, expect, it } from 'vitest';
import { defineHandler } from '../../../src/delivery/handlers/define.js';
import { parseOptions } from '../../../src/delivery/handlers/kind.js';
import {
  subscriptionSchema,
  toSubscription,
  type SubscriptionOptions,
} from '../../../src/delivery/handlers/options.js';
import { buildSubscription } from '../../../src/delivery/handlers/registry.js';
import { handlerContext, sampleEvent } from '../../support/handler-fixtures.js';

const noop = (): void => undefined;

function subscriptionOf(options: SubscriptionOptions) {
  return toSubscription(parseOptions(subscriptionSchema, options, 'webhook'), { handler: 'custom', handle: noop });
}

describe('subscription options', () => {
  it.each<[SubscriptionOptions['settle'], object]>([
    ['30s', { stillMs: 30_000, atMostMs: 300_000 }],
    [{ still: '30s' }, { stillMs: 30_000, atMostMs: 300_000 }],
    [
      { still: '30s', atMost: '1m' },
      { stillMs: 30_000, atMostMs: 60_000 },
    ],
  ])('subscription options: settle %j', (settle, expected) => {
    expect(subscriptionOf({ name: 'ops', settle }).settle).toEqual(expected);
  });

  it('subscription options: durations become ms, list paths become list names', () => {
    const options: SubscriptionOptions = {
      name: 'todo.done-1_b',
      on: ['crm.todo.*', 'crm.*.deleted', 'crm.person.created', '*'],
      workspaces: ['acme'],
      lists: ['todo', 'people/activity', '/v2/deal/history'],
      class: 'edited',
      fields: ['담당자', '딜*'],
      order: 'none',
      concurrency: 3,
      retry: { attempts: 4, delay: '250ms', maxDelay: '15m' },
      whenDead: 'release',
      timeout: '1.5h',
      start: 'beginning',
    };
    const { timeout: _, ...others } = options;
    expect(subscriptionOf(options)).toMatchObject({
      ...others,
      lists: ['todo', 'activity', 'history'],
      retry: { attempts: 4, delayMs: 250, maxDelayMs: 900_000 },
      timeoutMs: 5_400_000,
    });
  });

  it('subscription options: delay stays within maxDelay when only one of them is set', () => {
    expect(subscriptionOf({ name: 'a', retry: { maxDelay: '500ms' } }).retry).toMatchObject({
      delayMs: 500,
      maxDelayMs: 500,
    });
    expect(subscriptionOf({ name: 'a', retry: { delay: '3h' } }).retry).toMatchObject({
      delayMs: 10_800_000,
      maxDelayMs: 10_800_000,
    });
  });
});

describe("subscription options: whenDead: 'hold' with order: 'none'", () => {
  const contradiction = { name: 'a', order: 'none', whenDead: 'hold' } as const;

  it('subscription options: each of the two alone is accepted (control)', () => {
    expect(subscriptionOf({ ...contradiction, order: 'record' }).whenDead).toBe('hold');
    expect(subscriptionOf({ ...contradiction, whenDead: 'release' }).order).toBe('none');
  });
});

describe('defineHandler', () => {
  it('defineHandler: calls the handler with event and context, as a method of its options', async () => {
    const seen: unknown[] = [];
    const subscription = defineHandler({
      name: 'greet',
      on: ['crm.person.created'],
      concurrency: 2,
      handle(event, context) {
        seen.push(this.name, event, context);
      },
    });
    const event = sampleEvent();
    const context = handlerContext();
    await subscription.handle(event, context);
    expect(seen).toEqual(['greet', event, context]);
    expect(subscription).toMatchObject({
      name: 'greet',
      handler: 'custom',
      on: ['crm.person.created'],
      concurrency: 2,
    });
  });

  it('subscriptions entry: accepts a subscription built in code, also by another copy of the package', () => {
    const own = defineHandler({ name: 'own', handle: () => undefined });
    const foreign = { ...own };
    expect(buildSubscription(own)).toBe(own);
    expect(buildSubscription(foreign)).toBe(foreign);
  });
});
