/** The options every subscription shares, whatever its handler does: their schema, their defaults, their sentences. */
import { z } from 'zod';
import { EVENT_TYPES, NOTICE_TYPES, TODO_VERBS, VERBS, isOwnType } from '../events/catalogue.js';
import { LIST_NAMES, OBJECT_OF, PATH_OF, parseListName, type ListName } from '../events/lists.js';
import { parseBeginning } from '../events/log-id.js';
import type { ChangeClass } from '../events/types.js';
import { parseDuration } from '../runtime/duration.js';
import { ChangefeedError } from '../errors.js';
import { didYouMean, strictOptions } from './explain.js';
import type { Handle, HandleBatch, Ping, Rate, RetryPolicy, Settling, Subscription, Transform } from './handler.js';
import { compileTypePattern } from '../events/pattern.js';
import { compileWhere, whereSchema, type Conditions, type Predicate } from './where.js';

/** What `defineHandler` and all built-in handlers accept, in code and (with `handler`) as data. */
export interface SubscriptionOptions {
  /** Unique; names the queue. Letters, digits, `-`, `_`, `.`; at most 64. */
  name: string;
  /** Event types, `*` for any run of characters. @defaultValue `['crm.*']` */
  on?: readonly string[] | undefined;
  /** Names of workspaces. @defaultValue all */
  workspaces?: readonly string[] | undefined;
  /** Lists, by name (`activity`) or path (`people/activity`). @defaultValue all */
  lists?: readonly string[] | undefined;
  /** Only changes by people and integrations (`edited`), or only of fields the system keeps (`refreshed`). @defaultValue both */
  class?: ChangeClass | undefined;
  /** Field patterns: an updated event must have changed one of them. @defaultValue all */
  fields?: readonly string[] | undefined;
  /** Conditions on what the event carries (see docs/fan-out.md), or in code a function `(event) => boolean`. @defaultValue all */
  where?: Conditions | Predicate | undefined;
  /** In code: reshapes the event before the handler gets it. Its id stays as it is. @defaultValue as it is */
  transform?: Transform | undefined;
  /** `record`: one event of a record at a time, in sequence. `none`: as they come. @defaultValue 'record' */
  order?: 'record' | 'none' | undefined;
  /** Events (with `batch`: batches) handled at the same time by one process, 1 to 1000. @defaultValue 10 */
  concurrency?: number | undefined;
  /** How often a failed event is tried, and when. */
  retry?: RetryOptions | undefined;
  /**
   * What a dead letter does to its record's later events: `release` lets them go on; `hold` keeps them waiting until it is
   * retried or dropped (only with `order: 'record'`). @defaultValue 'release'
   */
  whenDead?: 'release' | 'hold' | undefined;
  /** A try that takes longer is aborted and counts as failed. @defaultValue '30s' */
  timeout?: string | undefined;
  /**
   * Where a new subscription starts: `now`, `beginning` (of the log), `snapshot` (what every record is now, then what
   * changes), a time (`2026-03-01T09:00:00+09:00`) or a log id (that event first). It does not move one that has begun;
   * `changefeed replay` does. @defaultValue 'now'
   */
  start?: 'now' | 'beginning' | 'snapshot' | (string & {}) | undefined;
  /**
   * The outcome instead of each keystroke: consecutive changes of a record are merged until it has been still for so long,
   * but no longer than ten times that from the first; `{ still, atMost }` names both. @defaultValue each change by itself
   */
  settle?: string | SettleOptions | undefined;
  /** Many events at once, for handlers that can take them so: `defineHandler` with `handleBatch`, `webhook`, `postgres`, `ndjson`. */
  batch?: BatchOptions | undefined;
}

export interface SettleOptions {
  /** Without a further change of the record. */
  still: string;
  /** From the first change on, however many follow. @defaultValue ten times `still` */
  atMost?: string | undefined;
}

export interface BatchOptions {
  /** Events in one batch at most, 1 to 1000. @defaultValue 100 */
  size?: number | undefined;
  /** How long the first one waits for others. @defaultValue '1s' */
  linger?: string | undefined;
}

/** Durations are `'250ms'`, `'30s'`, `'15m'`, `'4h'`, `'7d'`. */
export interface RetryOptions {
  /** Tries in all, the first included. @defaultValue 10; webhook 15 */
  attempts?: number | undefined;
  /** Wait before the second try; doubles from there, with jitter. @defaultValue '1s'; webhook '5s' */
  delay?: string | undefined;
  /** No wait is longer. @defaultValue '1h'; webhook '4h' */
  maxDelay?: string | undefined;
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 10, delayMs: 1_000, maxDelayMs: 3_600_000 };

// The longest wait a timer of the platform can hold is 24.8 days; beyond it, it would fire at once.
const LONGEST_MS = 24 * 86_400_000;
const A_DURATION = `a duration in quotes with its unit, such as '250ms', '30s', '15m', '4h' or '7d' (at most '24d'; a bare number is not accepted)`;
const A_NAME = "letters, digits, '-', '_' and '.', 1 to 64 characters";
const OBJECTS = LIST_NAMES.map((list) => OBJECT_OF[list]);
const AN_EVENT_TYPE = `crm.<object>.<verb>, with * for any run of characters; objects: ${OBJECTS.join(', ')}; verbs: ${VERBS.join(', ')}; of todos also ${TODO_VERBS.join(', ')}`;
const A_START = `'now', 'beginning', 'snapshot', a time such as '2026-03-01T09:00:00+09:00', or a log id such as '1772323200000-0'`;
const A_TRANSFORM = 'in code, a function (event) => event';
const A_LIST = `${LIST_NAMES.join(', ')}, or the path of one`;

const retry = strictOptions({
  attempts: wholeNumber(1, 100).optional(),
  delay: duration(0).optional(),
  maxDelay: duration(0).optional(),
}).refine((value) => value.delay === undefined || value.maxDelay === undefined || value.delay <= value.maxDelay, {
  path: ['maxDelay'],
  error: 'a duration that is not shorter than retry.delay',
});

const settleOptions = strictOptions({ still: duration(1), atMost: duration(1).optional() }).refine(
  ({ still, atMost = still }) => atMost >= still,
  { path: ['atMost'], error: 'a duration that is not shorter than still' },
);

/** `settle: '30s'` is short for `settle: { still: '30s' }`. */
const settle = z
  .custom<string | SettleOptions>(() => true)
  .transform((given: unknown, context): Settling => {
    if (typeof given !== 'object' || given === null) {
      const still = duration(1).safeParse(given);
      if (still.success) return settling({ still: still.data });
      context.addIssue({ code: 'custom', message: `${A_DURATION}, or { still, atMost }` });
      return z.NEVER;
    }
    const result = settleOptions.safeParse(given);
    if (result.success) return settling(result.data);
    context.issues.push(...(result.error.issues as z.core.$ZodRawIssue[]));
    return z.NEVER;
  });

export const DEFAULT_BATCH = { size: 100, linger: 1_000 };
const batch = strictOptions({
  size: wholeNumber(1, 1_000).default(DEFAULT_BATCH.size),
  linger: duration(0).default(DEFAULT_BATCH.linger),
});

/** The shared part of every handler's schema: spread it into `strictOptions({ … })`. */
export const subscriptionShape = {
  name: z.string({ error: A_NAME }).regex(/^[\w.-]{1,64}$/, { error: A_NAME }),
  on: listOf(z.string({ error: AN_EVENT_TYPE }).superRefine(refuseDeadPattern), 'event types').default(['crm.*']),
  workspaces: listOf(text('the name of a workspace'), 'names of workspaces').optional(),
  lists: listOf(z.string({ error: A_LIST }).transform(toListName), 'lists').optional(),
  class: z.enum(['edited', 'refreshed'], { error: `'edited' or 'refreshed'` }).optional(),
  fields: listOf(text('the name of a field, or a pattern with *'), 'field names').optional(),
  where: whereSchema.optional(),
  transform: z.custom<Transform>((value) => typeof value === 'function', { error: A_TRANSFORM }).optional(),
  order: z.enum(['record', 'none'], { error: `'record' or 'none'` }).default('record'),
  concurrency: wholeNumber(1, 1_000).default(10),
  retry: retry.optional(),
  whenDead: z.enum(['release', 'hold'], { error: `'release' or 'hold'` }).default('release'),
  timeout: duration(1).default(30_000),
  start: z
    .string({ error: A_START })
    .refine((text) => ['now', 'snapshot'].includes(text) || parseBeginning(text) !== undefined, { error: A_START })
    .default('now'),
  settle: settle.optional(),
  batch: batch.optional(),
};

export const subscriptionSchema = strictOptions(subscriptionShape) satisfies z.ZodType<unknown, SubscriptionOptions>;

/** The shared options after checking: defaults filled in, durations in ms, lists by name. */
export type SubscriptionSettings = z.output<typeof subscriptionSchema>;

export interface SubscriptionParts {
  /** The kind of handler: `custom`, `webhook` … */
  handler: string;
  handle: Handle;
  /** What takes many at once, of those handlers that can. */
  handleBatch?: HandleBatch;
  close?: (() => Promise<void>) | undefined;
  /** What an option left out of `retry` becomes. */
  retry?: RetryPolicy;
  rate?: Rate;
  disableAfterMs?: number;
  ping?: Ping;
}

/**
 * Joins checked options and a handler into what the rest of the product runs.
 * @throws ChangefeedError `CF_CONFIG_INVALID` where two options contradict each other
 */
export function toSubscription(settings: SubscriptionSettings, parts: SubscriptionParts): Subscription {
  const { workspaces, lists, class: changeClass, fields, where, transform, settle, batch } = settings;
  refuseHoldWithoutOrder(settings, parts.handler);
  refuseTogether(settings, parts);
  return {
    name: settings.name,
    handler: parts.handler,
    on: settings.on,
    ...(workspaces && { workspaces }),
    ...(lists && { lists }),
    ...(changeClass && { class: changeClass }),
    ...(fields && { fields }),
    ...(where && { where: compileWhere(where) }),
    ...(transform && { transform }),
    order: settings.order,
    concurrency: settings.concurrency,
    retry: toRetryPolicy(settings.retry, parts.retry ?? DEFAULT_RETRY),
    whenDead: settings.whenDead,
    timeoutMs: settings.timeout,
    start: settings.start,
    handle: parts.handle,
    ...(settle && { settle }),
    ...(batch &&
      parts.handleBatch && { batch: { size: batch.size, lingerMs: batch.linger, handle: parts.handleBatch } }),
    ...(parts.rate && { rate: parts.rate }),
    ...(parts.disableAfterMs !== undefined && { disableAfterMs: parts.disableAfterMs }),
    ...(parts.ping && { ping: parts.ping }),
    ...(parts.close && { close: parts.close }),
  };
}

function refuseTogether({ name, order, settle, batch }: SubscriptionSettings, parts: SubscriptionParts): void {
  const refuse = (option: string, reason: string): never => {
    const message = `${option} of ${parts.handler} ${JSON.stringify(name)}: ${reason}.`;
    throw new ChangefeedError('CF_CONFIG_INVALID', { message });
  };
  if (batch !== undefined && parts.handleBatch === undefined)
    refuse('batch', 'this handler takes events one by one; leave it out');
  if (settle !== undefined && order === 'none')
    refuse('settle', `only changes that keep their order can be merged; allowed: with order 'record'`);
}

/** Ten times: a record under constant change is told of, at a tenth of the pace. */
function settling({ still, atMost = 10 * still }: { still: number; atMost?: number | undefined }): Settling {
  return { stillMs: still, atMostMs: atMost };
}

/** It would hold nothing, and whoever asked for it believes that it does. */
function refuseHoldWithoutOrder({ name, order, whenDead }: SubscriptionSettings, handler: string): void {
  if (order === 'record' || whenDead === 'release') return;
  const owner = handler === 'custom' ? 'defineHandler' : handler;
  const message = `whenDead of ${owner} "${name}": found "hold" beside order: 'none'; allowed: 'release', or order: 'record'. Without an order no event waits for another.`;
  throw new ChangefeedError('CF_CONFIG_INVALID', { message });
}

function toRetryPolicy(given: SubscriptionSettings['retry'], defaults: RetryPolicy): RetryPolicy {
  const delayMs = given?.delay ?? defaults.delayMs;
  // One bound given alone moves the other, so that the delay never exceeds its maximum.
  const maxDelayMs = given?.maxDelay ?? Math.max(delayMs, defaults.maxDelayMs);
  return { attempts: given?.attempts ?? defaults.attempts, delayMs: Math.min(delayMs, maxDelayMs), maxDelayMs };
}

/** A duration text, read as ms. */
export function duration(leastMs: number): z.ZodType<number, string> {
  return z.string({ error: A_DURATION }).transform((value, context) => {
    const ms = parseDuration(value);
    if (ms !== undefined && ms >= leastMs && ms <= LONGEST_MS) return ms;
    context.addIssue({ code: 'custom', message: A_DURATION });
    return z.NEVER;
  });
}

export function wholeNumber(least: number, most: number): z.ZodNumber {
  const error = `a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

function text(error: string): z.ZodString {
  return z.string({ error }).min(1, { error });
}

function listOf<Item extends z.ZodType>(item: Item, nouns: string): z.ZodArray<Item> {
  const error = `an array of one or more ${nouns}`;
  return z.array(item, { error }).min(1, { error });
}

function toListName(value: string, context: z.RefinementCtx): ListName {
  const list = parseListName(value);
  if (list !== undefined) return list;
  const known = [...LIST_NAMES, ...LIST_NAMES.map((name) => PATH_OF[name].slice('v2/'.length))];
  context.addIssue({ code: 'custom', message: `${A_LIST}${didYouMean(value, known)}` });
  return z.NEVER;
}

/** A pattern that no event can ever match would be a subscription that is silent for ever, without a word. */
function refuseDeadPattern(pattern: string, context: z.RefinementCtx): void {
  if ([...EVENT_TYPES, ...NOTICE_TYPES].some(compileTypePattern(pattern)) || isOwnType(pattern)) return;
  context.addIssue({ code: 'custom', message: `${AN_EVENT_TYPE}${meantEventType(pattern)}` });
}

function meantEventType(pattern: string): string {
  // People write a list's name where the object's stands: "crm.people.created".
  const [crm = '', object = '', ...verbs] = pattern.split('.');
  const list = parseListName(object);
  const wanted = list === undefined ? pattern : [crm, OBJECT_OF[list], ...verbs].join('.');
  const wildcards = [...OBJECTS.map((name) => `crm.${name}.*`), ...VERBS.map((verb) => `crm.*.${verb}`)];
  return didYouMean(wanted, pattern.includes('*') ? wildcards : [...EVENT_TYPES, ...NOTICE_TYPES]);
}
