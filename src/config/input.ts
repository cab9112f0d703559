/** The configuration as a person writes it. Durations are texts with a unit: `'30s'`, `'15m'`, `'12h'`, `'7d'`. */
import type { Derivation } from '../handlers/derive.js';
import type { Subscription } from '../handlers/handler.js';
import type { SubscriptionOptions } from '../handlers/options.js';

export interface ConfigInput {
  /** One or more workspaces of the CRM. */
  workspaces: readonly WorkspaceInput[];
  /** What happens with the events: what `defineHandler`, `webhook` and `ndjson` return. @defaultValue none */
  subscriptions?: readonly (Subscription | SubscriptionData)[] | undefined;
  /** In code, functions that make events of events: what `defineDerive` returns. @defaultValue none */
  derive?: readonly Derivation[] | undefined;
  /** A Redis URL, or the URL and the prefix of all keys. @defaultValue a private Redis of the state directory */
  redis?: string | RedisInput | undefined;
  /** The log of events. */
  log?: LogInput | undefined;
  /** Events whose tries are used up. */
  deadLetters?: DeadLettersInput | undefined;
  /** Serves the six lists from what Changefeed remembers: the mirror. @defaultValue nothing is served */
  serve?: ServeInput | undefined;
}

export interface WorkspaceInput {
  /** Unique; stands in event sources and Redis keys. Letters, digits, `-`, `_`, `.`; at most 64. */
  name: string;
  /** What stands before `/v2`: `https://crm.example/api`. */
  baseUrl: string;
  /** The API token, without "Bearer". */
  token: string;
  /** The share of the API's rate limit that is ours. */
  budget?: BudgetInput | undefined;
  /** The workspace's time zone, an IANA name: where its days begin. @defaultValue 'Asia/Seoul' */
  timeZone?: string | undefined;
  /** The todo monitor: what follows from changes of todos, and from their due dates. */
  todos?: TodosInput | undefined;
  /** Per list, by name (`people` `organization` `memo` `todo` `history` `activity`) or path (`people/activity`). */
  lists?: Readonly<Record<string, ListInput>> | undefined;
}

/** How many requests all processes together may make of this workspace's API: `requests` in any `perSeconds`. */
export interface BudgetInput {
  /** Requests in any window of `perSeconds`; the API is known to allow 100 in 10 s to all integrations together. @defaultValue 80 */
  requests?: number | undefined;
  /** Length of the window, in seconds. @defaultValue 10 */
  perSeconds?: number | undefined;
}

export interface TodosInput {
  /** False: no `crm.todo.completed`, `overdue` and their like. @defaultValue true */
  watch?: boolean | undefined;
  /** How long before it is due a todo is due soon. @defaultValue '24h' */
  dueSoon?: string | undefined;
}

export interface ListInput {
  /** False: the list is not swept. @defaultValue true */
  enabled?: boolean | undefined;
  /** From the start of one sweep to the start of the next, at least '1s'. @defaultValue per list, from '2m' to '10m' */
  interval?: string | undefined;
  /** Field patterns (`*` allowed) whose changes never make an event. @defaultValue none */
  ignore?: readonly string[] | undefined;
  /** Field patterns: changes of nothing else make an event. @defaultValue all fields */
  only?: readonly string[] | undefined;
  /** Field patterns that count as kept by the system, besides those that are known. @defaultValue none */
  refreshed?: readonly string[] | undefined;
  /**
   * What the first complete sweep does: store quietly, emit a `snapshot` event per record, or emit `created` and `updated`
   * for records newer than a time. @defaultValue 'quiet'
   */
  baseline?: 'quiet' | 'emit' | { since: string } | undefined;
  /** False keeps digests only: no people's data in Redis, and events name fields without their old values. @defaultValue true */
  images?: boolean | undefined;
  /** When a record that is shown no more counts as removed. */
  removals?: RemovalsInput | undefined;
  /** When new records are too many at once to be reported without asking. */
  creations?: CreationsInput | undefined;
  /** Null, absent and an empty list mean the same. @defaultValue true */
  nullIsAbsent?: boolean | undefined;
  /** A stamp that moves while the content stays makes an `updated` event without changes. @defaultValue false */
  touch?: boolean | undefined;
  /** A key that appears, vanishes or changes form on nearly all rows is one schema event. @defaultValue true */
  collapse?: boolean | undefined;
}

export interface RemovalsInput {
  /** Complete sweeps in a row that must not show the record. @defaultValue 2 */
  confirm?: number | undefined;
  /** Removals are held when more than this share of the list is missing … @defaultValue 0.2 */
  maxShare?: number | undefined;
  /** … and more than this many records. @defaultValue 10 */
  maxCount?: number | undefined;
}

export interface CreationsInput {
  /** New records are held when they are more than this share of the records seen (1: they never are) … @defaultValue 0.5 */
  maxShare?: number | undefined;
  /** … and more than this many; of `history` and `activity`, when known rows are missing as well. Whatever their number, when hardly any known record is seen again. @defaultValue 100 */
  maxCount?: number | undefined;
}

/** A built-in handler as data, as in `changefeed.config.json`. */
export interface SubscriptionData extends SubscriptionOptions {
  /** `webhook`, `ndjson` … */
  handler: string;
  /** The handler's own options. */
  [option: string]: unknown;
}

export interface RedisInput {
  /** `redis://:password@host:6379/0` or `rediss://…`; the variable `REDIS_URL` wins over it. @defaultValue a private Redis of the state directory */
  url?: string | undefined;
  /** Stands before every key. Letters, digits, `-`, `_`, `.`, `:`. @defaultValue 'changefeed' */
  prefix?: string | undefined;
  /** Run although `maxmemory-policy` is not `noeviction`: when memory is full, state is lost (see redis.md). @defaultValue false */
  allowEviction?: boolean | undefined;
}

export interface LogInput {
  /**
   * How long events are kept; what a subscription has not yet read stays in any case. One that no configuration has named
   * for a week holds nothing any more.
   */
  retention?: LogRetentionInput | undefined;
}

export interface LogRetentionInput {
  /** Older events go. @defaultValue '7d' */
  age?: string | undefined;
  /** The newest so many of each workspace stay. @defaultValue 100000 */
  events?: number | undefined;
}

export interface DeadLettersInput {
  /** How long events that could not be handled are kept. */
  retention?: DeadLetterRetentionInput | undefined;
}

export interface DeadLetterRetentionInput {
  /** Older dead letters go. @defaultValue '30d' */
  age?: string | undefined;
  /** The newest so many of each subscription stay; null for all. @defaultValue null */
  count?: number | null | undefined;
}

export interface ServeInput {
  /** The address to listen on. @defaultValue '127.0.0.1' */
  host?: string | undefined;
  /** 0 takes any free port. @defaultValue 4020 */
  port?: number | undefined;
  /** The bearer token that opens the workspace; with several workspaces, one for each by name. */
  token: string | Readonly<Record<string, string>>;
}
