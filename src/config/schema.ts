/**
 * The configuration, declared once: the zod schema checks what a user writes, `ConfigInput` and `Config` are inferred from
 * it, and docs/configuration.md and the editor show the comments of its properties. The handlers check their own options.
 */
import { z } from 'zod';
import type { Destination } from '../delivery/handlers/destinations.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import type { SubscriptionData } from '../delivery/handlers/registry.js';
import { people } from '../delivery/handlers/people.js';
import { checked, duration, matching, strictOptions, wholeNumber, yesOrNo } from '../kit/schema/fields.js';
import { secret } from '../kit/schema/secret.js';
import { keysFault } from '../ops/workspaces/seal.js';
import { kinds } from './kinds.js';
import { redis } from './redis.js';
import { httpOptions, serveOptions } from './servers.js';
import { LONGEST_AGE, MOST_RECORDS, workspace } from './workspace-options.js';

export type { ListConfig, ListInput, WorkspaceConfig, WorkspaceInput } from './workspace-options.js';

const logRetentionOptions = strictOptions({
  /** Older events are deleted. @defaultValue '7d' */
  // A week: a consumer that breaks on Friday can still be repaired and replayed on Monday.
  age: duration({ from: '1m', to: LONGEST_AGE }).prefault('7d'),
  /** Only this many of each workspace's newest events are kept. @defaultValue 100000 */
  // At 4 kB an event this is 400 MB at worst.
  events: wholeNumber(1, MOST_RECORDS).default(100_000),
});

const logOptions = strictOptions({
  /**
   * How long events are kept. Events that a subscription has not read yet are always kept, unless no configuration has named
   * the subscription for a week.
   */
  retention: logRetentionOptions.transform(({ age, events }) => ({ ageMs: age, events })).prefault({}),
});

const deadLetterRetentionOptions = strictOptions({
  /** Older dead letters are deleted. @defaultValue '30d' */
  age: duration({ from: '1m', to: LONGEST_AGE }).prefault('30d'),
  /** Only this many of each subscription's newest dead letters are kept; null keeps all. @defaultValue null */
  // A dead letter is an event not yet handled: it waits for a person, so by default the number is not limited.
  count: wholeNumber(1, MOST_RECORDS).nullable().default(null),
});

const deadLettersOptions = strictOptions({
  /** How long events that could not be handled are kept. */
  retention: deadLetterRetentionOptions.transform(({ age, count }) => ({ ageMs: age, count })).prefault({}),
});

const auditOptions = strictOptions({
  /** How long it is kept who did what: decisions of people, refusals and sign-ins. @defaultValue '365d' */
  keep: duration({ from: '1d', to: LONGEST_AGE }).prefault('365d'),
});
const WORKSPACES = 'an array of workspaces, which is empty where all of them come at run time';

export const configSchema = strictOptions({
  /** The workspaces of the CRM; `[]` where all of them come at run time, see workspaces.md. */
  workspaces: z.array(workspace, { error: WORKSPACES }).readonly(),
  /**
   * With a key, workspaces come and go while the service runs. It seals their tokens: 32 bytes in base64 or hexadecimal (`openssl rand -base64 32`); while it is
   * replaced, two: `new,old`. @defaultValue `CHANGEFEED_KEY`; without one, workspaces are those of the configuration
   */
  key: secret(
    checked('32 bytes in base64 or hexadecimal; while the key is replaced, two: new,old', keysFault),
  ).optional(),
  /** What receives the events: the results of `defineHandler`, `webhook`, `ndjson` … @defaultValue none */
  subscriptions: z
    .array(z.custom<Subscription | SubscriptionData>(), { error: 'an array of subscriptions' })
    .readonly()
    .default([]),
  /** Kinds of handlers by others: modules that export what `defineKind` returns, from the folder of this file. @defaultValue none */
  kinds: kinds.default([]),
  /**
   * Where rules may send to, by name: a chat (`handler: 'message'`), a mailbox (`'email'`) or a webhook (`'webhook'`), with the options of that handler that concern
   * the address. A person who makes a rule on the page chooses a name, and sees no address and no secret. @defaultValue none
   */
  destinations: z
    .record(z.string(), z.custom<Destination>(), {
      error: 'an object whose keys are names and whose values are destinations',
    })
    .readonly()
    .default({}),
  /** Where people are reached, by their name or user id in the CRM: `{ '김담당': { email: 'kim@acme.example' } }`. @defaultValue none */
  people: people.default({}),
  /** The file with the rules that are made on the page, from the folder of this file: `'./changefeed.rules.json'`. @defaultValue no rules */
  rules: matching(/\.json$/, 'the name of a file that ends in .json').optional(),
  /** A Redis URL, or an object with the URL and the prefix of all keys. @defaultValue a private Redis in the state directory */
  redis: redis.prefault({}),
  /** The log of events. */
  log: logOptions.prefault({}),
  /** Events whose attempts are used up. */
  deadLetters: deadLettersOptions.prefault({}),
  /** The mirror: serves the lists from the stored records, and takes hints. @defaultValue nothing is served */
  serve: serveOptions.optional(),
  /** The status page, its HTTP API, and what monitors read. @defaultValue served on the loopback address */
  http: httpOptions.prefault({}),
  /** Who did what: `changefeed audit` shows it. */
  audit: auditOptions.transform(({ keep }) => ({ keepMs: keep })).prefault({}),
  /** True: BullMQ's spans and metrics for OpenTelemetry, see operations.md. Needs the package `bullmq-otel`. @defaultValue false */
  telemetry: yesOrNo.prefault(false),
  /** In a JSON file: the address of the schema, for the editor. @defaultValue none */
  $schema: z.string({ error: 'the address of a JSON schema' }).optional(),
});

/** The configuration as a user writes it. Durations are texts with a unit: `'30s'`, `'15m'`, `'12h'`, `'7d'`. */
export interface ConfigInput extends z.input<typeof configSchema> {}

/** The HTTP server of a process, checked and with its defaults. */
export type HttpConfig = z.output<typeof httpOptions>;

/** A configuration, checked and with its defaults. */
export interface Config extends Readonly<
  Omit<z.output<typeof configSchema>, '$schema' | 'kinds' | 'subscriptions' | 'serve' | 'rules'>
> {
  /** The subscriptions of the rules are among them. */
  readonly subscriptions: readonly Subscription[];
  /** Null where the configuration names no file of rules. */
  readonly rules: {
    readonly path: string;
    /** As messages name the file. */
    readonly source: string;
    readonly text: string;
    /** Changes with its content. */
    readonly revision: string;
    /** Also those that are switched off. */
    readonly all: readonly { id: string; enabled: boolean; data: object; subscription: Subscription }[];
  } | null;
  /** Null where nothing is served. The tokens are by workspace, and all of them differ. */
  readonly serve: {
    readonly host: string;
    readonly port: number;
    readonly tokens: ReadonlyMap<string, string>;
    readonly hintTokens: ReadonlyMap<string, string>;
  } | null;
}

/** Gives a configuration its types where it is written. It checks nothing; loading does. */
export function defineConfig(input: ConfigInput): ConfigInput {
  return input;
}
