/** A kind of handler, of ours or of others: one definition says its options, how it delivers, what its failures mean, and what people call it. */
import { z } from 'zod';
import type { ChangeEvent } from '../../events/types.js';
import { systemClock } from '../../kit/clock.js';
import { ChangefeedError } from '../../kit/errors.js';
import { problemsOf } from '../../kit/schema/explain.js';
import { matching, strictOptions, text } from '../../kit/schema/fields.js';
import { collectProblems, optionsError, problemsIn } from '../../kit/schema/problem.js';
import { showable } from '../../kit/schema/secret.js';
import { isSteering } from './errors.js';
import { failureError, type DeliveryFailure } from './failed-delivery.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { Handle, Subscription } from './handler.js';
import { exampleFor, openPerWorkspace } from './per-workspace.js';
import { subscriptionShape, toSubscription, type SubscriptionParts, type SubscriptionSettings } from './options.js';

/** What people call a kind of handler, in each language. */
export interface KindWords {
  /** English, such as `Kafka topic`. */
  en: string;
  /** Korean, such as `카프카 토픽`. */
  ko: string;
}

/** One subscription of a kind, ready to deliver: what `open` returns. */
export interface OpenedKind extends Omit<SubscriptionParts, 'handler' | 'words' | 'handle'> {
  /**
   * Delivers one event. Resolving is success. Pass `context.signal` to all that waits, and `event.id` to the receiver as the idempotency key: delivery
   * is at least once. What it throws is explained by `failure`, unless it is one of `RetryAfterError`, `PermanentError` and `DisableSubscriptionError`.
   */
  readonly deliver: Handle;
  /** Says what an error of `deliver` means. Undefined: retried by the `retry` of the subscription, and only its class is logged. */
  readonly failure?: ((thrown: unknown, about: FailedAbout) => DeliveryFailure | undefined) | undefined;
}

/** What could not be delivered: an event of a list; both null for a digest or a report. */
export interface FailedAbout {
  event: ChangeEvent | null;
  list: ListName | null;
}

/** What `defineKind` takes. */
export interface KindDefinition<Schema extends KindSchema> {
  /** As `handler` of a configuration names it: letters and digits, the first one small. */
  name: string;
  /** What people call it, on the status page for example. */
  words: KindWords;
  /** The options of a subscription, as a schema of zod: `kindOptions({ … })`, which has those of every subscription. */
  options: Schema;
  /**
   * The options in which `{{workspace.data.<name>}}` may stand, each with an example that stands there while the others are checked. Such a subscription is
   * opened for each workspace. @defaultValue none
   */
  perWorkspace?: Readonly<Record<string, unknown>>;
  /** Called once for each subscription. It must not connect yet: commands that only read the configuration call it, too. */
  open: (settings: z.output<Schema>) => OpenedKind;
}

/** Options of a kind, with those of every subscription. */
export type KindSchema = z.ZodType<SubscriptionSettings>;

/** A kind of handler: call it with options for a subscription. */
export interface Kind<Schema extends KindSchema = KindSchema> {
  /** @throws ChangefeedError `CF_CONFIG_INVALID`. While a configuration is loaded, it returns what `isRefused` recognises. */
  (options: z.input<Schema>): Subscription;
  /** Its name, as `handler` in data. */
  readonly handler: string;
  /** What people call it. */
  readonly words: KindWords;
  /** The schema of its options. */
  readonly schema: Schema;
  /** The same for options of any source. @throws ChangefeedError `CF_CONFIG_INVALID` */
  readonly build: (options: unknown) => Subscription;
  /** A subscription of what is open. */
  readonly subscription: (settings: z.output<Schema>, opened: OpenedKind) => Subscription;
}

/** The schema of a kind's own options together with those of every subscription (`name`, `on`, `where`, `retry` …). An unknown option is refused. */
export function kindOptions<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Omit<typeof subscriptionShape, keyof Shape> & Shape, z.core.$strict> {
  return strictOptions({ ...subscriptionShape, ...shape });
}

const definitionSchema = strictOptions({
  name: matching(/^[a-z][A-Za-z0-9]{0,39}$/, 'letters and digits, the first one small, 1 to 40 characters'),
  words: strictOptions({ en: text('a text'), ko: text('a text') }),
  options: z.custom<KindSchema>((given) => given instanceof z.ZodType || isObject(given, '_zod'), {
    error: 'a schema of zod 4, such as kindOptions({ … })',
  }),
  perWorkspace: z.record(z.string(), z.unknown(), { error: 'an object of options and examples' }).optional(),
  open: z.custom((given) => typeof given === 'function', { error: 'a function, open(settings) { … }' }),
});

/**
 * Defines a kind of handler. The result is called with options, as `webhook` is, and can be named in data.
 * @throws ChangefeedError `CF_CONFIG_INVALID` where the definition is not complete
 */
export function defineKind<Schema extends KindSchema>(definition: KindDefinition<Schema>): Kind<Schema> {
  parseOptions(definitionSchema, definition, 'defineKind');
  const { name: handler, words, options: schema, open, perWorkspace: examples = {} } = definition;
  const subscription = (settings: z.output<Schema>, opened: OpenedKind): Subscription => {
    const { deliver, failure: _, ...parts } = explaining(opened, handler, settings.name);
    return toSubscription(settings, { ...parts, handler, words, handle: deliver });
  };
  const buildOne = (options: unknown): Subscription => {
    const settings = parseOptions(schema, options, handler);
    return subscription(settings, open(settings));
  };
  const build = (options: unknown): Subscription => {
    const example = exampleFor(options, examples);
    if (example === null) return buildOne(options);
    return openPerWorkspace({ kind: handler, options: options as Record<string, unknown>, example, open: buildOne });
  };
  const kind = (options: z.input<Schema>): Subscription => orRefuse(() => build(options));
  return Object.assign(kind, { handler, words, schema, build, subscription });
}

/** Not `instanceof`: a module may load its own copy of this package. */
export function isKind(value: unknown): value is Kind {
  return typeof value === 'function' && isObject(value, 'handler') && isObject(value, 'build');
}

function isObject(value: unknown, key: string): boolean {
  return Object(value) === value && key in (value as object);
}

/** What is thrown by what it calls says what follows. */
function explaining(opened: OpenedKind, handler: string, subscription: string): OpenedKind {
  const { failure, deliver, handleDigest, tell, report } = opened;
  if (failure === undefined) return opened;
  const who = `${handler.charAt(0).toUpperCase()}${handler.slice(1)} "${subscription}"`;
  const explained =
    <Given, Context, Answer>(
      act: (given: Given, context: Context) => Answer,
      aboutOf: (given: Given, context: Context) => FailedAbout,
    ) =>
    async (given: Given, context: Context): Promise<Awaited<Answer>> => {
      try {
        return await act(given, context);
      } catch (thrown) {
        const meant = isSteering(thrown) ? undefined : failure.call(opened, thrown, aboutOf(given, context));
        if (meant === undefined) throw thrown;
        throw failureError(meant, { who, subscription, now: systemClock.now() });
      }
    };
  const many = (): FailedAbout => ({ event: null, list: null });
  return {
    ...opened,
    deliver: explained(deliver.bind(opened), (event, { list }) => ({ event, list })),
    handleDigest: handleDigest && explained(handleDigest.bind(opened), many),
    tell: tell && explained(tell.bind(opened), many),
    report: report && { ...report, handle: explained(report.handle.bind(report), many) },
  };
}

const REFUSED = { refused: true } as const;

/** Whether a value stands for a call whose problems are reported elsewhere. */
export function isRefused(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/** While a configuration is loaded, problems of the call are collected, and it returns a stand-in. */
export function orRefuse<Made extends object>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ChangefeedError) || error.code !== 'CF_CONFIG_INVALID') throw error;
    if (collectProblems(problemsIn(error))) return REFUSED as unknown as Made;
    throw error;
  }
}

/** @throws ChangefeedError `CF_CONFIG_INVALID` with all problems */
export function parseOptions<Schema extends z.ZodType>(schema: Schema, raw: unknown, kind: string): z.output<Schema> {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  // A misspelled key is the likely reason for another one missing, so it comes first.
  const issues = [...result.error.issues].sort((a, b) => rank(a) - rank(b));
  throw optionsError(issues.flatMap((issue) => problemsOf(issue, { schema, raw, owner: ownerOf(raw, kind) })));
}

function rank(issue: z.core.$ZodIssue): number {
  return issue.code === 'unrecognized_keys' ? 0 : 1;
}

function ownerOf(raw: unknown, kind: string): string {
  const name: unknown = typeof raw === 'object' && raw !== null && 'name' in raw ? raw.name : undefined;
  if (typeof name !== 'string' || name === '') return `${kind} without a name`;
  return showable(name, 'shown') === name ? `${kind} ${JSON.stringify(name)}` : `${kind} with an unusable name`;
}
