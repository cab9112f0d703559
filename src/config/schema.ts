/** What a configuration may say, and what the rest of the product gets of it. Subscriptions are the handlers' to check. */
import { z } from 'zod';
import { LIST_NAMES, PATH_OF, parseListName, type ListName } from '../events/lists.js';
import { didYouMean, strictOptions } from '../handlers/explain.js';
import type { Derivation } from '../handlers/derive.js';
import type { Subscription } from '../handlers/handler.js';
import {
  DEFAULT_BUDGET,
  DEFAULT_CREATIONS,
  DEFAULT_DEAD_LETTER_RETENTION,
  DEFAULT_DUE_SOON_MS,
  DEFAULT_INTERVAL_MS,
  DEFAULT_LOG_RETENTION,
  DEFAULT_REMOVALS,
  DEFAULT_SERVE,
  DEFAULT_TIME_ZONE,
} from './defaults.js';
import { checked, duration, fieldPatterns, matching, wholeNumber, yesOrNo } from './fields.js';

/** A configuration, checked and with its defaults. */
export interface Config {
  readonly workspaces: readonly WorkspaceConfig[];
  readonly subscriptions: readonly Subscription[];
  /** Functions that make events of events. */
  readonly derive: readonly Derivation[];
  /** `url` is undefined where no Redis was named. */
  readonly redis: { readonly url: string | undefined; readonly prefix: string; readonly allowEviction: boolean };
  readonly log: { readonly retention: { readonly ageMs: number; readonly events: number } };
  /** Null where nothing is served. Every workspace has a token of its own. */
  readonly serve: { readonly host: string; readonly port: number; readonly tokens: ReadonlyMap<string, string> } | null;
  /** `count` is null where their number is not limited. */
  readonly deadLetters: { readonly retention: { readonly ageMs: number; readonly count: number | null } };
}

export type WorkspaceConfig = Omit<z.output<typeof workspaceSchema>, 'lists'> & {
  /** Every list, the disabled ones included. */
  readonly lists: Readonly<Record<ListName, ListConfig>>;
};

export interface ListConfig {
  readonly enabled: boolean;
  readonly intervalMs: number;
  readonly ignore: readonly string[];
  /** Undefined: all fields. */
  readonly only: readonly string[] | undefined;
  readonly refreshed: readonly string[];
  /** `since`: ISO 8601. */
  readonly baseline: 'quiet' | 'emit' | { readonly since: string };
  readonly images: boolean;
  readonly removals: { readonly confirm: number; readonly maxShare: number; readonly maxCount: number };
  readonly creations: { readonly maxShare: number; readonly maxCount: number };
  readonly nullIsAbsent: boolean;
  readonly touch: boolean;
  readonly collapse: boolean;
}

const A_LIST = `${LIST_NAMES.join(', ')}, or the path of one`;
const LIST_WORDS = [...LIST_NAMES, ...LIST_NAMES.map((list) => PATH_OF[list].slice('v2/'.length))];
const A_URL = 'an http or https URL, what stands before /v2, such as https://crm.example/api';
const A_TOKEN = 'the API token alone, without "Bearer" and without spaces';
const A_REDIS_URL = 'a URL such as redis://:password@host:6379/0 or rediss://…';

const A_MIRROR_TOKEN = 'a token of 8 or more characters without spaces, or an object with one per workspace';
const mirrorToken = z.string({ error: A_MIRROR_TOKEN }).regex(/^[\x21-\x7e]{8,}$/, { error: A_MIRROR_TOKEN });

const A_TIME = 'a time such as 2026-03-01T00:00:00Z';
const A_BASELINE = `'quiet', 'emit' or { since: ${A_TIME} }`;
const A_SHARE = 'a number from 0 to 1';
const share = z.number({ error: A_SHARE }).min(0, { error: A_SHARE }).max(1, { error: A_SHARE });

const listSchema = strictOptions({
  enabled: yesOrNo.default(true),
  interval: duration({ least: '1s' }).optional(),
  ignore: fieldPatterns.default([]),
  only: fieldPatterns.min(1, { error: 'an array of one or more field names or patterns with *' }).optional(),
  refreshed: fieldPatterns.default([]),
  baseline: z
    .union([z.literal(['quiet', 'emit']), strictOptions({ since: checked(A_TIME, timeFault) })], { error: A_BASELINE })
    .default('quiet'),
  images: yesOrNo.default(true),
  removals: strictOptions({
    confirm: wholeNumber(1, 100).default(DEFAULT_REMOVALS.confirm),
    maxShare: share.default(DEFAULT_REMOVALS.maxShare),
    maxCount: wholeNumber(0, 1_000_000_000).default(DEFAULT_REMOVALS.maxCount),
  }).prefault({}),
  creations: strictOptions({
    maxShare: share.default(DEFAULT_CREATIONS.maxShare),
    maxCount: wholeNumber(0, 1_000_000_000).default(DEFAULT_CREATIONS.maxCount),
  }).prefault({}),
  nullIsAbsent: yesOrNo.default(true),
  touch: yesOrNo.default(false),
  collapse: yesOrNo.default(true),
});

const listsSchema = z
  .record(z.string(), listSchema, { error: `an object whose keys are ${A_LIST}` })
  .transform((given, context) => {
    const named = new Map<ListName, z.output<typeof listSchema>>();
    for (const [key, options] of Object.entries(given)) {
      const list = parseListName(key);
      const problem =
        list === undefined
          ? `there is no such list${didYouMean(key, LIST_WORDS)}; allowed: ${A_LIST}`
          : `the list "${list}" is named twice; keep one of them`;
      if (list === undefined || named.has(list)) {
        context.addIssue({ code: 'custom', path: [key], message: problem, params: { whole: true } });
      } else {
        named.set(list, options);
      }
    }
    return completeLists(named);
  });

/** Stands in Redis keys: nothing in it may mean anything there. */
export const WORKSPACE_NAME = /^[\w.-]{1,64}$/;

export const workspaceSchema = strictOptions({
  name: matching(WORKSPACE_NAME, "letters, digits, '-', '_' and '.', 1 to 64 characters"),
  baseUrl: checked(A_URL, urlFault),
  token: z
    .string({ error: A_TOKEN })
    .trim()
    .regex(/^(?!bearer$)[\x21-\x7e]+$/i, { error: A_TOKEN }),
  budget: strictOptions({
    requests: wholeNumber(1, 100_000).default(DEFAULT_BUDGET.requests),
    perSeconds: wholeNumber(1, 3_600).default(DEFAULT_BUDGET.perSeconds),
  }).prefault({}),
  timeZone: checked(`the IANA name of a time zone, such as '${DEFAULT_TIME_ZONE}'`, timeZoneFault).default(
    DEFAULT_TIME_ZONE,
  ),
  todos: strictOptions({
    watch: yesOrNo.default(true),
    dueSoon: duration({ least: '1m' }).default(DEFAULT_DUE_SOON_MS),
  }).prefault({}),
  lists: listsSchema.prefault({}),
});

const redisSchema = strictOptions({
  url: checked(A_REDIS_URL, redisUrlFault).optional(),
  prefix: matching(/^[\w.:-]{1,64}$/, "letters, digits, '-', '_', '.' and ':', 1 to 64 characters").default(
    'changefeed',
  ),
  allowEviction: yesOrNo.default(false),
});

/** Everything but what the handlers check; a bare Redis URL has become `{ url }` by then. */
export const configSchema = strictOptions({
  workspaces: z
    .array(workspaceSchema, { error: 'an array of one or more workspaces' })
    .min(1, { error: 'an array of one or more workspaces' }),
  subscriptions: z.array(z.unknown(), { error: 'an array of subscriptions' }).default([]),
  derive: z.array(z.unknown(), { error: 'an array of what defineDerive returns' }).default([]),
  redis: redisSchema.prefault({}),
  log: strictOptions({
    retention: strictOptions({
      age: duration({ least: '1m' }).default(DEFAULT_LOG_RETENTION.ageMs),
      events: wholeNumber(1, 1_000_000_000).default(DEFAULT_LOG_RETENTION.events),
    }).prefault({}),
  }).prefault({}),
  serve: strictOptions({
    host: matching(/^[\w.:-]{1,255}$/, 'a host name or an address to listen on').default(DEFAULT_SERVE.host),
    port: wholeNumber(0, 65_535).default(DEFAULT_SERVE.port),
    token: z.union([mirrorToken, z.record(z.string(), mirrorToken, { error: A_MIRROR_TOKEN })], {
      error: A_MIRROR_TOKEN,
    }),
  }).optional(),
  deadLetters: strictOptions({
    retention: strictOptions({
      age: duration({ least: '1m' }).default(DEFAULT_DEAD_LETTER_RETENTION.ageMs),
      count: wholeNumber(1, 1_000_000_000).nullable().default(DEFAULT_DEAD_LETTER_RETENTION.count),
    }).prefault({}),
  }).prefault({}),
});

function completeLists(
  given: ReadonlyMap<ListName, z.output<typeof listSchema>>,
): Readonly<Record<ListName, ListConfig>> {
  const complete = (list: ListName): ListConfig => {
    const { interval, ...options } = given.get(list) ?? listSchema.parse({});
    return { ...options, only: options.only, intervalMs: interval ?? DEFAULT_INTERVAL_MS[list] };
  };
  return Object.fromEntries(LIST_NAMES.map((list) => [list, complete(list)])) as Record<ListName, ListConfig>;
}

function timeFault(text: string): string | undefined {
  return Number.isNaN(Date.parse(text)) ? 'this is not a time' : undefined;
}

function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'this is not a URL';
  const { protocol, username, password, pathname } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return `this begins with ${protocol}`;
  if (username !== '' || password !== '') return 'this holds a user name or password';
  if (/[?#]/.test(text)) return 'this holds a query or a fragment';
  return /\/v2\/*$/.test(pathname) ? 'this already ends in /v2' : undefined;
}

function redisUrlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'this is not a URL';
  const { protocol, hostname, pathname } = new URL(text);
  if (protocol !== 'redis:' && protocol !== 'rediss:') return `this begins with ${protocol}`;
  if (hostname === '') return 'this names no host';
  return /^\/?\d*$/.test(pathname) ? undefined : 'its database is not a number';
}

function timeZoneFault(text: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return undefined;
  } catch {
    return 'this machine knows no such zone';
  }
}
