/** `defineHandler`: a handler written in code. */
import { z } from 'zod';
import type { ListDefinition, RecordOf } from '../../crm/lists/define.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { CrmRecord, CrmRecords } from '../../crm/record.js';
import type { EventPattern, EventType, NoticeType, Verb } from '../../events/kinds.js';
import type { ChangeData, ChangeEvent, EventData, Notice } from '../../events/types.js';
import { strictOptions } from '../../kit/schema/fields.js';
import { orRefuse, parseOptions } from './kind.js';
import { digestShape, type DigestOptions } from './digest.js';
import type {
  DigestContext,
  DigestSummary,
  Handle,
  HandleDigest,
  HandleResult,
  HandlerContext,
  Subscription,
} from './handler.js';
import type { Conditions } from './where.js';
import { subscriptionShape, toSubscription, type SubscriptionOptions } from './options.js';

/**
 * An event of one type: `EventData` says what each type carries. `after` is null for `deleted` and `schema_changed` only. `before` is null
 * for new records, and may be null if no image was stored.
 */
export type TypedEvent<Type extends EventType = EventType> = Type extends EventType
  ? EventOfType<Type, WithOwnRecord<EventData<Type>, Type>>
  : never;

/** With the record type that the program has added to `CrmRecords`, if it has. */
type WithOwnRecord<Data, Type extends string> = Type extends `crm.${infer Name}.${string}`
  ? Name extends keyof CrmRecords
    ? WithRecord<Data, OwnRecord<CrmRecords[Name]>>
    : Data
  : Data;

/** As a mapped type, so that it can be passed where a `CrmRecord` is expected, also if it is an interface. */
type OwnRecord<Item> = { readonly [Field in keyof Item]: Item[Field] } & { readonly id: string };

/** One of the feed's own events. */
export type FeedEvent<Type extends NoticeType = NoticeType> = EventOfType<
  Type,
  ChangeData & { readonly before: null; readonly after: null; readonly notice: NoticeOf<Type> }
>;

type NoticeOf<Type extends NoticeType> = [Type] extends ['changefeed.problem.over']
  ? Notice & Required<Pick<Notice, 'problem'>>
  : Notice;

interface EventOfType<Type extends string, Data> extends Omit<ChangeEvent, 'type' | 'data'> {
  /** What happened to what: `crm.<object>.<verb>`, or `changefeed.<problem>`. */
  readonly type: Type;
  /** The record before and after the change, the changed fields, and how the change was found. */
  readonly data: Data;
}

/** The same rules as `compilePattern`: `*` matches any characters, also none; `**` is the same as `*`. */
type Glob<Pattern extends string> = Pattern extends `${infer Head}*${infer Tail}`
  ? `${Head}${string}${Glob<WithoutStars<Tail>>}`
  : Pattern;
type WithoutStars<Text extends string> = Text extends `*${infer Rest}` ? WithoutStars<Rest> : Text;

/** The event types that a pattern selects; the same rules as `compileTypePattern`. */
type Selected<Pattern extends string, Types extends string = EventType> = Exclude<
  Extract<Types, Glob<Pattern>>,
  `${string}.${Pattern extends `${string}.${infer Named extends NamedVerb}` ? Exclude<NamedVerb, Named> : NamedVerb}`
>;
type NamedVerb = 'schema_changed' | 'unchanged';

type IsLiteral<Text extends string> = { readonly '': never } extends Record<Text, unknown> ? false : true;

/** The event that a handler with this `on`, or of this one type or pattern, receives (and `start`, which may ask for a snapshot). */
export type EventOf<On extends string | readonly string[], Start = 'now'> =
  EventOfPattern<PatternsIn<On>> | ('snapshot' extends Start ? SnapshotOf<PatternsIn<On>> : never);

type PatternsIn<On> = On extends readonly (infer Pattern extends string)[] ? Pattern : Extract<On, string>;

type EventOfPattern<Pattern extends string> = Pattern extends string
  ? IsLiteral<Pattern> extends false
    ? TypedEvent | FeedEvent
    : Pattern extends `changefeed.${string}`
      ? FeedEvent<Extract<NoticeType, Glob<Pattern>>>
      : TypedEvent<Selected<Pattern>>
  : never;

/** With `start: 'snapshot'`: snapshots of every list of which the pattern selects a type. */
type SnapshotOf<Pattern extends string> = Pattern extends string
  ? TypedEvent<SnapshotType<IsLiteral<Pattern> extends true ? Selected<Pattern> : EventType>>
  : never;
type SnapshotType<Type extends EventType> = Type extends `crm.${infer Name}.${string}`
  ? Extract<EventType, `crm.${Name}.snapshot`>
  : never;

/** Lists as a handler names them: by name, by path, or as `defineList` returns them. */
export type NamedLists = readonly (ListName | ListDefinition<object>)[];

declare const UNSET: unique symbol;
/** Has every pattern: the editor completes the patterns of the default. */
export type UnsetOn = readonly EventPattern[] & { readonly [UNSET]: true };
type OrDefault<On extends readonly string[]> = typeof UNSET extends keyof On ? readonly ['crm.*'] : On;

/**
 * The event that a handler of these `lists` receives. A list of `defineList` adds its own events, with the type of its records;
 * where there are no other lists, events of the built-in ones do not occur.
 */
export type EventOfLists<On extends readonly string[], Start, Lists extends NamedLists> = EventOfChosen<
  OrDefault<On>,
  Start,
  Lists
>;

type EventOfChosen<On extends readonly string[], Start, Lists extends NamedLists> =
  | ([Extract<Lists[number], string>] extends [never]
      ? never
      : NotOf<Extract<Lists[number], ListDefinition<object>>, EventOf<On, Start>>)
  | EventOfDefinition<Extract<Lists[number], ListDefinition<object>>, On[number], Start>;

/** A list of your own may have the name of a ready-made one. Then its events have the type of its own records only. */
type NotOf<List extends ListDefinition<object>, Event> = Event extends { type: `crm.${List['object']}.${string}` }
  ? never
  : Event;

type EventOfDefinition<List, Pattern extends string, Start> =
  List extends ListDefinition<object, string, infer Word>
    ? FurtherEvent<List, SelectedVerb<Word, Pattern> | ('snapshot' extends Start ? 'snapshot' : never)>
    : never;

type SelectedVerb<Word extends string, Pattern extends string> =
  IsLiteral<Pattern> extends true
    ? Selected<Pattern, `crm.${Word}.${Verb}`> extends `crm.${Word}.${infer Name extends Verb}`
      ? Name
      : never
    : Verb;

type FurtherEvent<List extends ListDefinition<object>, Name extends Verb> = Name extends Verb
  ? EventOfType<`crm.${List['object']}.${Name}`, WithRecord<EventData<`crm.person.${Name}`>, RecordOf<List>>>
  : never;

type WithRecord<Data, Item> = {
  readonly [Key in keyof Data]: CrmRecord extends Data[Key]
    ? Key extends 'before' | 'after'
      ? Item | Extract<Data[Key], null>
      : Data[Key]
    : Data[Key];
};

export type Start = NonNullable<SubscriptionOptions['start']>;
type AfterRewind = NonNullable<SubscriptionOptions['afterRewind']>;

/** With `afterRewind: 'snapshot'` there are snapshots too, and what says that a list is complete. */
type Handled<On extends readonly string[], From, Lists extends NamedLists, Rewind extends AfterRewind> =
  | EventOfLists<On, From | Rewind, Lists>
  | ('snapshot' extends Rewind ? FeedEvent<'changefeed.snapshot.complete'> : never);

/** Options of `defineHandler`. */
export interface HandlerOptions<
  On extends readonly EventPattern[],
  From extends Start = Start,
  Lists extends NamedLists = readonly ListName[],
  Rewind extends AfterRewind = AfterRewind,
>
  extends Omit<SubscriptionOptions, 'on' | 'where' | 'start' | 'lists' | 'afterRewind'>, DigestOptions {
  /** Event types; `*` matches any characters. @defaultValue `['crm.*']` */
  on?: On | undefined;
  /** Lists by name or path, or as `defineList` returns them: then events have the type of its records. @defaultValue all */
  lists?: Lists | undefined;
  /** Where a new subscription starts: see `SubscriptionOptions`. @defaultValue 'now' */
  start?: From | undefined;
  /** After Redis went back to an earlier state: see `SubscriptionOptions`. @defaultValue 'nothing' */
  afterRewind?: Rewind | undefined;
  /** Conditions as data, or a function of the event. @defaultValue all */
  where?: Conditions | ((event: EventOfLists<On, From | Rewind, Lists>) => boolean) | undefined;
  /**
   * Handles one event. Resolving is success, with `{ status }` if the receipt shall show a status of HTTP. What it throws decides:
   * `RetryAfterError` sets the wait, `PermanentError` makes a dead letter at once, anything else is retried by `retry`. Delivery is at least
   * once: `event.id` is the idempotency key. With `digest` it may be left out; if it is there, it gets the event of a digest of one.
   */
  handle?:
    | ((event: Handled<On, From, Lists, Rewind>, context: HandlerContext) => HandleResult | Promise<HandleResult>)
    | undefined;
  /**
   * With `digest`: handles many events at once. What it throws decides as for `handle`, but there are no dead letters: after its last
   * attempt, the next digest begins with the same events. Delivery is at least once: `digest.id` is the idempotency key.
   */
  handleDigest?:
    | ((
        digest: DigestSummary<EventOfLists<On, From, Lists>>,
        context: DigestContext,
      ) => HandleResult | Promise<HandleResult>)
    | undefined;
  /** Releases the handler's resources; called once when the process stops. */
  close?: () => Promise<void>;
}

interface WithHandle {
  handle: unknown;
}
interface WithDigest {
  digest: unknown;
  handleDigest: unknown;
}

/**
 * A subscription with a handler written in code.
 * @throws ChangefeedError `CF_CONFIG_INVALID` naming the subscription, the option, what was found and what is allowed.
 */
export function defineHandler<
  const On extends readonly EventPattern[] = UnsetOn,
  const From extends Start = 'now',
  const Lists extends NamedLists = readonly ListName[],
  const Rewind extends AfterRewind = 'nothing',
>(options: HandlerOptions<On, From, Lists, Rewind> & (WithHandle | WithDigest)): Subscription {
  return orRefuse(() => toHandler(options));
}

function toHandler(options: unknown): Subscription {
  const { handle, handleDigest, digest, close, ...settings } = parseOptions(handlerSchema, options, 'defineHandler');
  // The queue delivers only what `on` selects, so the narrower event type holds.
  return toSubscription(settings, {
    handler: 'custom',
    handle: handle?.bind(options) ?? (() => undefined),
    digest,
    handleDigest: handleDigest?.bind(options),
    digestOnly: handle === undefined,
    close: close?.bind(options),
  });
}

const isFunction = (value: unknown): boolean => typeof value === 'function';

const A_HANDLE = 'a function, handle(event, context) { … }';
const A_HANDLE_DIGEST = 'with digest, a function, handleDigest(digest, context) { … }; without digest, only handle';

const handlerSchema = strictOptions({
  ...subscriptionShape,
  ...digestShape,
  handle: z.custom<Handle>(isFunction, { error: A_HANDLE }).optional(),
  handleDigest: z.custom<HandleDigest>(isFunction, { error: A_HANDLE_DIGEST }).optional(),
  close: z.custom<() => Promise<void>>(isFunction, { error: 'a function' }).optional(),
}).check(
  z.check(({ value: { handle, handleDigest, digest }, issues }) => {
    const missing = (option: string, message: string): void =>
      void issues.push({ code: 'custom', input: undefined, path: [option], message });
    if ((digest === undefined) !== (handleDigest === undefined)) missing('handleDigest', A_HANDLE_DIGEST);
    else if (digest === undefined && handle === undefined) missing('handle', A_HANDLE);
  }),
);
