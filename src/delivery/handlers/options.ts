/** The options every subscription has, whatever its handler does: their schema, defaults and messages. */
import { z } from 'zod';
import { builtInLists } from '../../crm/lists/lists.js';
import { parseBeginning } from '../../events/log-id.js';
import { ACTOR_TYPES, type EventPattern } from '../../events/kinds.js';
import type { Stretch } from '../../events/unchanged.js';
import type { Duration } from '../../kit/duration.js';
import { LANGUAGES } from '../../words/words.js';
import {
  A_DURATION,
  duration,
  listOf,
  name,
  oneOf,
  strictOptions,
  text,
  wholeNumber,
} from '../../kit/schema/fields.js';
import { anEventType } from '../../events/event-pattern-schema.js';
import { listName } from '../../crm/lists/list-name.js';
import { optionsError } from '../../kit/schema/problem.js';
import type { RetryPolicy, Settling, Subscription, Transform } from './handler.js';
import { compileWhere, whereSchema } from './where.js';

export const DEFAULT_RETRY: RetryPolicy = { attempts: 10, delayMs: 1_000, maxDelayMs: 3_600_000 };

// A timer of the platform holds at most 24.8 days; a longer one would fire at once.
export const LONGEST_WAIT = '24d';
const AN_EVENT_TYPE = anEventType(builtInLists);
const DAY_MS = 86_400_000;
const A_START = `'now', 'beginning', 'snapshot', a time such as '2026-03-01T09:00:00+09:00', a log id such as '1772323200000-0', or { after: the name of another subscription }`;

const retryOptions = strictOptions({
  /** Number of attempts, the first included. @defaultValue 10; webhook 15 */
  attempts: wholeNumber(1, 100).optional(),
  /** Wait before the second attempt; it doubles after each attempt, with jitter. @defaultValue '1s'; webhook '5s' */
  delay: duration({ from: '0ms', to: LONGEST_WAIT }).optional(),
  /** Upper bound of the wait. @defaultValue '1h'; webhook '4h' */
  maxDelay: duration({ from: '0ms', to: LONGEST_WAIT }).optional(),
});

const settleOptions = strictOptions(
  {
    /** How long the record must be without a further change. */
    still: duration({ from: '1ms', to: LONGEST_WAIT }),
    /** How long after the first change the merged event is sent at the latest. @defaultValue ten times `still` */
    atMost: duration({ from: '1ms', to: LONGEST_WAIT }).optional(),
  },
  { orAlone: A_DURATION },
);

/** `settle: '30s'` is short for `settle: { still: '30s' }`. */
const settle = z.preprocess(
  (given: Duration | z.input<typeof settleOptions>) => (typeof given === 'string' ? { still: given } : given),
  settleOptions
    .refine(({ still, atMost = still }) => atMost >= still, {
      path: ['atMost'],
      error: 'a duration that is not shorter than still',
    })
    // Ten times: the events of a record that changes all the time still arrive, at a tenth of the rate.
    .transform(({ still, atMost = 10 * still }): Settling => ({ stillMs: still, atMostMs: atMost })),
);

const AN_INCLUDE =
  "an array of objects such as ['person', 'organization'], or an object such as { person: ['이름'], deal: true }";
const fieldNames = listOf(text('the name of a field'), 'field names');

/** `['person']` is short for `{ person: true }`. */
const include = z.preprocess(
  (given: readonly string[] | Readonly<Record<string, true | readonly string[]>>) =>
    Array.isArray(given) ? Object.fromEntries(given.map((word: unknown) => [String(word), true])) : given,
  z
    .record(z.string(), z.union([z.literal(true), fieldNames], { error: `true, or an array of field names` }), {
      error: AN_INCLUDE,
    })
    .readonly(),
);

// Whether events can match is checked with the lists of the configuration (`selection.ts`). The type of the input is narrower: the compiler
// then sees a misspelt type, and the editor completes it.
const eventPattern = z.string({ error: AN_EVENT_TYPE }) as unknown as z.ZodType<string, EventPattern>;

const AN_ACTOR = `'${[...ACTOR_TYPES, 'unknown'].join("', '")}', or { type, id }`;
const actorRule = z.union(
  [
    z.enum([...ACTOR_TYPES, 'unknown']),
    strictOptions({ type: z.enum(ACTOR_TYPES), id: text('the id of an actor') }).readonly(),
  ],
  { error: AN_ACTOR },
);
const actorRules = listOf(actorRule, `of ${AN_ACTOR}`);

const receiptOptions = strictOptions({
  /** Older receipts are dropped. @defaultValue '7d' */
  age: duration({ from: '1m', to: '3650d' }).prefault('7d'),
  /** How many receipts are kept for each workspace, newest first; about 65 bytes each. @defaultValue 100000 */
  number: wholeNumber(1, 10_000_000).default(100_000),
});

const A_STRETCH =
  'an object such as { for: "14d" }, { field: "단계", for: "10d", days: "working" } or { related: ["memo", "todo"], for: "30d" }';
const unchangedOptions = z.strictObject(
  {
    /** For how long; with `days: 'working'` in whole days. */
    for: duration({ from: '1m', to: '3650d' }),
    /** This field has not changed. @defaultValue any field of the record, changed by a person or an integration */
    field: text('the name of a field').optional(),
    /** In these lists, nothing that refers to the record was added or changed, such as memos and todos. @defaultValue the record itself */
    related: listOf(listName, 'lists').optional(),
    /** `working`: Monday to Friday count, in the time zone of the workspace. @defaultValue 'calendar' */
    days: oneOf('calendar', 'working').default('calendar'),
  },
  { error: A_STRETCH },
);
const unchanged = unchangedOptions
  .refine(({ field, related }) => field === undefined || related === undefined, {
    path: ['field'],
    error: 'only without related',
  })
  .refine(({ for: ms, days }) => days === 'calendar' || ms % DAY_MS === 0, {
    path: ['for'],
    error: "whole days such as '10d', with days: 'working'",
  })
  .transform(({ for: forMs, field, related = [], days }): Stretch => ({
    field: field?.normalize('NFC') ?? null,
    related,
    forMs,
    days,
  }));

/** The options every subscription has, in code and as data: spread them into the `strictOptions({ … })` of a handler. */
export const subscriptionShape = {
  /** Unique; names the queue. Letters, digits, `-`, `_`, `.`; at most 64. */
  name,
  /** Event types, `*` for any run of characters. @defaultValue `['crm.*']` */
  on: listOf(eventPattern, 'event types').default(['crm.*']),
  /** Names of workspaces. @defaultValue all */
  workspaces: listOf(text('the name of a workspace'), 'names of workspaces').optional(),
  /** Lists, by name (`activity`) or path (`people/activity`); in code also what `defineList` returns. @defaultValue all */
  lists: listOf(listName, 'lists').optional(),
  /**
   * What has not happened, with `on: ['crm.deal.unchanged']`: an event at the moment at which a record has been unchanged for so long, and
   * again only after it has changed. See rules.md. @defaultValue none
   */
  unchanged: unchanged.optional(),
  /** Only changes made by people and integrations (`edited`), or only of fields the system keeps (`refreshed`). @defaultValue both */
  class: oneOf('edited', 'refreshed').optional(),
  /** Field patterns: an `updated` event must have changed one of these fields. @defaultValue all */
  fields: listOf(text('the name of a field, or a pattern with *'), 'field names').optional(),
  /**
   * Only changes made by one of these: `user`, `workflow`, `sequence`, `api`, `field` (the system itself), `unknown`, or one actor
   * `{ type, id }`. Who made a change is known where a history is polled: see lists.md. @defaultValue all
   */
  from: actorRules.optional(),
  /** Leaves out changes made by one of these, such as those of the handler itself: `[{ type: 'api', id: '…' }]`. @defaultValue none */
  notFrom: actorRules.optional(),
  /** Conditions on the contents of the event (see docs/delivery.md), or in code a function `(event) => boolean`. @defaultValue all */
  where: whereSchema.optional(),
  /**
   * Stored records that the event's record refers to, in `data.related`: `['person', 'organization', 'deal']`, or with the fields of each,
   * `{ person: ['이름', '등급'], organization: true }`. Objects or list names. Null where none is stored. @defaultValue none
   */
  include: include.optional(),
  /** The language of messages and reports. @defaultValue that of the workspace */
  language: oneOf(...LANGUAGES).optional(),
  /** In code: changes the event before the handler receives it. The event's id stays the same. @defaultValue the event is not changed */
  transform: z
    .custom<Transform>((value) => typeof value === 'function', { error: 'in code, a function (event) => event' })
    .optional(),
  /** `record`: one event of a record at a time, in sequence. `none`: in any order. @defaultValue 'record' */
  order: oneOf('record', 'none').default('record'),
  /** Number of events one process handles at the same time. @defaultValue 10 */
  concurrency: wholeNumber(1, 1_000).default(10),
  /** How often a failed event is tried again, and when. */
  retry: retryOptions
    .refine(({ delay = 0, maxDelay = delay }) => delay <= maxDelay, {
      path: ['maxDelay'],
      error: 'a duration that is not shorter than retry.delay',
    })
    .optional(),
  /**
   * What a dead letter does to later events of its record: `release` delivers them; `hold` keeps them waiting until the dead
   * letter is retried or dropped (only with `order: 'record'`). @defaultValue 'release'
   */
  whenDead: oneOf('release', 'hold').default('release'),
  /** An attempt that takes longer is aborted and counts as failed. @defaultValue '30s' */
  timeout: duration({ from: '1ms', to: LONGEST_WAIT }).prefault('30s'),
  /**
   * Where a new subscription starts: `now`, `beginning` (of the log), `snapshot` (every record as it is now, then the changes),
   * a date or time (without a zone, of each workspace's `timeZone`), a log id (that event first), or `{ after: 'former' }`: with the first event
   * that the subscription `former` has not handled. It does not move a subscription that has begun; `changefeed replay` does. @defaultValue 'now'
   */
  start: z
    .union([z.custom<'now' | 'beginning' | 'snapshot' | (string & {})>(isStart), strictOptions({ after: name })], {
      error: A_START,
    })
    .default('now'),
  /**
   * After Redis went back to an earlier state, or lost it: `snapshot` sends every record of a list once the list was swept since, and then
   * `changefeed.snapshot.complete`. `nothing`: only what the sweeps find. @defaultValue 'nothing'; postgres 'snapshot'
   */
  afterRewind: oneOf('snapshot', 'nothing').optional(),
  /** `status` reports an event that has waited for longer than this, and for longer than `settle`. @defaultValue '5m' */
  lateAfter: duration({ from: '1s', to: LONGEST_WAIT }).prefault('5m'),
  /**
   * Merges quick changes of a record: its consecutive changes become one event once it has not changed for this long, at the
   * latest after ten times as long. `{ still, atMost }` sets both times. @defaultValue each change is its own event
   */
  settle: settle.optional(),
  /**
   * What is kept of each delivery: when it ended, after which attempt, with what answer. `changefeed deliveries` shows it. `false`: nothing is kept.
   * What a receiver said about a failure is kept too where `age` is not longer than `log.retention.age`. @defaultValue `{ age: '7d', number: 100000 }`
   */
  receipts: z.union([z.literal(false), receiptOptions], { error: 'false, or an object with age, number' }).prefault({}),
};

export const subscriptionSchema = strictOptions(subscriptionShape);

/** What `defineHandler` and all built-in handlers accept, in code and (with `handler`) as data. */
export type SubscriptionOptions = z.input<typeof subscriptionSchema>;
/** When a failed attempt is repeated. */
export type RetryOptions = z.input<typeof retryOptions>;
/** How long receipts are kept. */
export type ReceiptOptions = z.input<typeof receiptOptions>;
/** How long quick changes of a record are waited for and merged. */
export type SettleOptions = z.input<typeof settleOptions>;

/** The shared options after checking: defaults filled in, durations in ms, lists by name. */
export type SubscriptionSettings = z.output<typeof subscriptionSchema>;

/** What a handler adds to the shared options. */
export interface SubscriptionParts extends Omit<
  Subscription,
  keyof SubscriptionSettings | 'catalogue' | 'timeoutMs' | 'lateAfterMs'
> {
  /** Defaults of the options of `retry`. */
  readonly retry?: RetryPolicy;
  /** @defaultValue 'nothing' */
  readonly afterRewind?: 'snapshot' | 'nothing';
}

/**
 * Makes a subscription from checked options and a handler.
 * @throws ChangefeedError `CF_CONFIG_INVALID` where two options contradict each other
 */
export function toSubscription(
  settings: SubscriptionSettings,
  { retry: defaults = DEFAULT_RETRY, ...parts }: SubscriptionParts,
): Subscription {
  refuseContradictions(settings, parts);
  const {
    name,
    on,
    unchanged,
    workspaces,
    lists,
    class: changeClass,
    fields,
    from,
    notFrom,
    where,
    receipts,
  } = settings;
  const { transform, include, language, order, concurrency, whenDead, start, settle } = settings;
  return {
    ...parts,
    // A report gets no events.
    ...{
      name,
      on: parts.report === undefined ? on : [],
      unchanged,
      workspaces,
      lists,
      class: changeClass,
      fields,
      from,
      notFrom,
    },
    ...{ transform, include, language, order, concurrency, whenDead, start, settle },
    where: where && compileWhere(where),
    retry: toRetryPolicy(settings.retry, defaults),
    timeoutMs: settings.timeout,
    lateAfterMs: settings.lateAfter,
    afterRewind: settings.afterRewind ?? parts.afterRewind ?? 'nothing',
    receipts: receipts === false ? null : { ageMs: receipts.age, number: receipts.number },
    ...(where !== undefined && typeof where !== 'function' && { conditions: where }),
  };
}

/** Options that exclude each other: accepting them would promise what does not happen. */
function refuseContradictions(settings: SubscriptionSettings, { handler, digest }: SubscriptionParts): void {
  const { name, order, whenDead, settle, start, afterRewind } = settings;
  const refuse = (option: string, problem: string, suggestion?: string): never => {
    const owner = `${handler === 'custom' ? 'defineHandler' : handler} "${name}"`;
    throw optionsError([{ path: [option], owner, problem, suggestion }]);
  };
  if (typeof start === 'object' && start.after === name)
    refuse('start', 'found its own name in after; allowed: the name of another subscription');
  const isNamed = settings.on.some((pattern) => pattern.endsWith('.unchanged'));
  if (isNamed && settings.unchanged === undefined)
    refuse('unchanged', 'found none, and on has events of that kind; allowed: ' + A_STRETCH);
  if (!isNamed && settings.unchanged !== undefined)
    refuse('unchanged', "found it, and on has no such event; allowed: with on: ['crm.<object>.unchanged']");
  if (order === 'none' && whenDead === 'hold')
    refuse(
      'whenDead',
      `found "hold" with order: 'none'; allowed: 'release', or order: 'record'`,
      'Without an order no event waits for another.',
    );
  if (order === 'none' && settle !== undefined)
    refuse('settle', `only changes that keep their order can be merged; allowed: with order 'record'`);
  if (digest === undefined) return;
  const contradicting = {
    order: order === 'none',
    whenDead: whenDead === 'hold',
    settle: settle !== undefined,
    start: start === 'snapshot',
    afterRewind: afterRewind === 'snapshot',
  };
  for (const [option, contradicts] of Object.entries(contradicting))
    if (contradicts)
      refuse(
        option,
        'found it with digest; allowed: without digest',
        'A digest reads the log itself, in its order: no event of it is queued, waits for another, or comes from a snapshot.',
      );
}

function toRetryPolicy(given: SubscriptionSettings['retry'], defaults: RetryPolicy): RetryPolicy {
  const delayMs = given?.delay ?? defaults.delayMs;
  // One bound given alone moves the other, so that the delay never exceeds its maximum.
  const maxDelayMs = given?.maxDelay ?? Math.max(delayMs, defaults.maxDelayMs);
  return { attempts: given?.attempts ?? defaults.attempts, delayMs: Math.min(delayMs, maxDelayMs), maxDelayMs };
}

function isStart(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return value === 'now' || value === 'snapshot' || parseBeginning(value, 'UTC') !== undefined;
}
