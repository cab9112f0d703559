import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/parse.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { parseOptions } from '../../../src/delivery/handlers/kind.js';
import {
  subscriptionSchema,
  toSubscription,
  type SubscriptionOptions,
} from '../../../src/delivery/handlers/options.js';

const noop = (): void => undefined;

function subscriptionOf(options: SubscriptionOptions) {
  return toSubscription(parseOptions(subscriptionSchema, options, 'webhook'), { handler: 'custom', handle: noop });
}

function complaintAbout(options: unknown): ChangefeedError {
  try {
    parseOptions(subscriptionSchema, options, 'webhook');
  } catch (error) {
    if (error instanceof ChangefeedError) return error;
  }
  throw new Error('expected the options to be refused');
}

describe('subscription options', () => {
  it('subscription options: only the name is required; the others have their documented defaults', () => {
    expect(subscriptionOf({ name: 'ops' })).toEqual({
      name: 'ops',
      handler: 'custom',
      on: ['crm.*'],
      order: 'record',
      concurrency: 10,
      retry: { attempts: 10, delayMs: 1_000, maxDelayMs: 3_600_000 },
      whenDead: 'release',
      timeoutMs: 30_000,
      lateAfterMs: 300_000,
      start: 'now',
      afterRewind: 'nothing',
      receipts: { ageMs: 604_800_000, number: 100_000 },
      handle: noop,
    });
  });

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

  it("subscription options: settle is refused with order: 'none'", () => {
    expect(() => subscriptionOf({ name: 'ops', settle: '1s', order: 'none' })).toThrow(
      `settle of defineHandler "ops": only changes that keep their order can be merged; allowed: with order 'record'.`,
    );
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
    expect(subscriptionOf(options)).toEqual({
      ...options,
      handler: 'custom',
      afterRewind: 'nothing',
      receipts: { ageMs: 604_800_000, number: 100_000 },
      lateAfterMs: 300_000,
      handle: noop,
      lists: ['todo', 'activity', 'history'],
      retry: { attempts: 4, delayMs: 250, maxDelayMs: 900_000 },
      timeout: undefined,
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

const types =
  'crm.<object>.<verb>, with * for any run of characters; objects: person, organization, memo, todo, deal_history, person_activity; verbs: created, updated, deleted, snapshot, schema_changed; of todos also completed, reopened, rescheduled, reassigned, due_soon, overdue';
const names = "letters, digits, '-', '_' and '.', 1 to 64 characters";
const keys =
  'name, on, workspaces, lists, class, fields, from, notFrom, where, include, language, transform, order, concurrency, retry, whenDead, timeout, start, afterRewind, lateAfter, settle, receipts';

describe("subscription options: whenDead: 'hold' with order: 'none'", () => {
  const contradiction = { name: 'a', order: 'none', whenDead: 'hold' } as const;

  it("subscription options: whenDead: 'hold' with order: 'none' is refused", () => {
    expect(() => subscriptionOf(contradiction)).toThrow(
      `whenDead of defineHandler "a": found "hold" with order: 'none'; allowed: 'release', or order: 'record'. Without an order no event waits for another.`,
    );
    expect(() => parseConfig({ subscriptions: [{ handler: 'ndjson', ...contradiction }] }, { source: 'x' })).toThrow(
      `whenDead of ndjson "a": found "hold" with order: 'none'`,
    );
  });

  it('subscription options: each of the two alone is accepted (control)', () => {
    expect(subscriptionOf({ ...contradiction, order: 'record' }).whenDead).toBe('hold');
    expect(subscriptionOf({ ...contradiction, whenDead: 'release' }).order).toBe('none');
  });
});

describe('invalid options: one sentence with path, subscription, what was found and what is allowed', () => {
  it.each<[string, unknown, string]>([
    ['no object', 'ops', `webhook without a name: found "ops"; allowed: an object with ${keys}.`],
    ['no name', {}, `name of webhook without a name: found nothing; allowed: ${names}.`],
    [
      'a name too long',
      { name: 'x'.repeat(65) },
      `name of webhook with an unusable name: found a string of 65 characters; allowed: ${names}.`,
    ],
    ['a type that is none', { name: 'a', on: [7] }, `on[0] of webhook "a": found the number 7; allowed: ${types}.`],
    [
      'a delay beyond its maximum',
      { name: 'a', retry: { delay: '2m', maxDelay: '1m' } },
      `retry.maxDelay of webhook "a": found "1m"; allowed: a duration that is not shorter than retry.delay.`,
    ],
    [
      'a misspelled option of retry',
      { name: 'a', retry: { delays: '1s' } },
      `retry.delays of webhook "a": there is no such option (did you mean "delay"?); allowed: attempts, delay, maxDelay.`,
    ],
    [
      'a misspelled option',
      { name: 'a', concurency: 3 },
      `concurency of webhook "a": there is no such option (did you mean "concurrency"?); allowed: ${keys}.`,
    ],
    [
      'settle with a bound below its wait',
      { name: 'a', settle: { still: '1m', atMost: '1s' } },
      `settle.atMost of webhook "a": found "1s"; allowed: a duration that is not shorter than still.`,
    ],
  ])('%s', (_what, options, sentence) => {
    const error = complaintAbout(options);
    expect(error.code).toBe('CF_CONFIG_INVALID');
    expect(error.message).toBe(sentence);
  });

  it('invalid options: reports a misspelled key first, counts the rest and keeps all sentences as facts', () => {
    const error = complaintAbout({ nmae: 'a', concurrency: -1 });
    expect(error.message).toBe(
      `nmae of webhook without a name: there is no such option (did you mean "name"?); allowed: ${keys}. (2 more after this one.)`,
    );
    expect(error.facts['problems']).toHaveLength(3);
  });

  it('invalid options: a possible secret is never shown', () => {
    expect(complaintAbout({ name: 'a', class: 'whsec_c2VjcmV0' }).message).not.toContain('c2VjcmV0');
  });
});
