/**
 * `defineDerive`: events derived from other events. A derive function runs as an ordered subscription, with the same attempts, order per
 * record and dead letters. What it returns is appended to the log once per source event.
 */
import { z } from 'zod';
import { describe } from '../errors.js';
import { buildDerivedEvent, workspaceOf } from '../events/envelope.js';
import { VERBS, type ChangeEvent, type EventPattern } from '../events/types.js';
import type { ListName } from '../crm/lists/lists.js';
import type { EventOfLists, NamedLists, Start, UnsetOn } from './define.js';
import { PermanentError } from './errors.js';
import { orRefuse, parseOptions } from './kind.js';
import { strictOptions } from '../schema-kit/fields.js';
import type { HandlerContext, Subscription } from './handler.js';
import { subscriptionShape, toSubscription, type SubscriptionOptions } from './options.js';
import type { Conditions } from './where.js';

/** An event to emit. It takes record, sequence, time and images from its source event. */
export interface Derived<Type extends string = string> {
  /** One of `emits`. */
  type: Type;
  /** Plain JSON, delivered as `data.derived`. @defaultValue nothing */
  data?: Readonly<Record<string, unknown>> | undefined;
}

type Given<Type extends string> = Derived<Type> | readonly Derived<Type>[] | null | undefined;

type Shared = Pick<
  SubscriptionOptions,
  'name' | 'workspaces' | 'class' | 'fields' | 'from' | 'notFrom' | 'concurrency' | 'retry' | 'whenDead' | 'timeout'
>;

export interface DeriveOptions<
  On extends readonly EventPattern[],
  Type extends string,
  From extends Start = Start,
  Lists extends NamedLists = readonly ListName[],
> extends Shared {
  /**
   * The types it emits: `<yours>.<object>.<verb>`, such as `acme.person.promoted`. The first word is your own, neither `crm` nor
   * `changefeed`; the verb is none of created, updated, deleted, snapshot and schema_changed.
   */
  emits: readonly Type[];
  /** Event types; `*` matches any characters. Events of derive functions are never selected. @defaultValue `['crm.*']` */
  on?: On | undefined;
  /** Lists by name or path, or as `defineList` returns them. @defaultValue all */
  lists?: Lists | undefined;
  /** Conditions as data, or a function of the event. @defaultValue all */
  where?: Conditions | ((event: EventOfLists<On, From, Lists>) => boolean) | undefined;
  /** Where a new derive function starts: see `SubscriptionOptions`. @defaultValue 'now' */
  start?: From | undefined;
  /** Returns one event, several, or nothing. Errors have the same meaning as in a handler. */
  derive: (event: EventOfLists<On, From, Lists>, context: HandlerContext) => Given<Type> | Promise<Given<Type>>;
}

/** A checked derive function: an element of `derive` in the configuration. */
export interface Derivation extends Omit<Subscription, 'handle'> {
  readonly emits: readonly string[];
  readonly derive: (event: ChangeEvent, context: HandlerContext) => unknown;
}

/** Appends events to the log of their workspace, once per derive function and source event; repeated calls change nothing. */
export type AppendDerived = (
  call: { workspace: string; derive: string; source: string },
  events: readonly ChangeEvent[],
) => Promise<unknown>;

const A_TYPE = `<yours>.<object>.<verb> such as 'acme.person.promoted'; the first word is neither crm nor changefeed, the object that of a list, such as person or todo, the verb none of ${VERBS.join(', ')}`;
const TYPE = new RegExp(
  `^(?!(crm|changefeed)\\.)[a-z][a-z0-9_-]*\\.[a-z][a-z0-9_]*\\.(?!(${VERBS.join('|')})$)[a-z][a-z0-9_]*$`,
);
const SOME_TYPES = 'an array of one or more event types of your own';

const { order: _order, transform: _transform, settle: _settle, batch: _batch, ...shape } = subscriptionShape;
const deriveSchema = strictOptions({
  ...shape,
  emits: z
    .array(z.string({ error: A_TYPE }).regex(TYPE, { error: A_TYPE }), { error: SOME_TYPES })
    .min(1, { error: SOME_TYPES }),
  derive: z.custom<Derivation['derive']>((value) => typeof value === 'function', { error: 'a function' }),
});

/** @throws ChangefeedError `CF_CONFIG_INVALID` naming the option, what was found and what is allowed */
export function defineDerive<
  const On extends readonly EventPattern[] = UnsetOn,
  const Type extends string = string,
  const From extends Start = 'now',
  const Lists extends NamedLists = readonly ListName[],
>(options: DeriveOptions<On, Type, From, Lists>): Derivation {
  return orRefuse(() => toDerivation(options));
}

function toDerivation(options: unknown): Derivation {
  const { emits, derive, ...settings } = parseOptions(deriveSchema, options, 'defineDerive');
  const handle = (): void => undefined;
  const { handle: _, ...subscription } = toSubscription(
    { ...settings, order: 'record' },
    { handler: 'derive', handle },
  );
  const { where } = subscription;
  return {
    ...subscription,
    // Derived events are excluded: otherwise derive functions could trigger each other without end.
    where: (event) => event.data.derivedBy === undefined && (where === undefined || where(event)),
    emits,
    derive,
  };
}

/** Checks the shape and not `instanceof`: a configuration file may load its own copy of this package. */
export function isDerivation(value: unknown): value is Derivation {
  if (typeof value !== 'object' || value === null) return false;
  const { name, emits, derive, timeoutMs } = value as Partial<Record<keyof Derivation, unknown>>;
  return (
    typeof name === 'string' && Array.isArray(emits) && typeof derive === 'function' && typeof timeoutMs === 'number'
  );
}

export function derivingSubscription(derivation: Derivation, append: AppendDerived): Subscription {
  const { derive, emits: _, ...subscription } = derivation;
  return {
    ...subscription,
    async handle(event, context) {
      const given = draftsOf(await derive(event, context));
      const events = given.map((draft, index) => derivedEvent(event, draft, { derivation, index }));
      if (events.length === 0) return;
      await append({ workspace: workspaceOf(event), derive: derivation.name, source: event.id }, events);
    },
  };
}

function draftsOf(given: unknown): readonly unknown[] {
  if (given === null || given === undefined) return [];
  return Array.isArray(given) ? (given as unknown[]) : [given];
}

const draftSchema = z.object({ type: z.string(), data: z.record(z.string(), z.unknown()).default({}) });

function derivedEvent(
  source: ChangeEvent,
  given: unknown,
  { derivation: { name, emits }, index }: { derivation: Derivation; index: number },
): ChangeEvent {
  const { data: draft } = draftSchema.safeParse(given);
  const derived = draft && jsonOf(draft.data);
  if (draft === undefined || derived === undefined || !emits.includes(draft.type)) {
    const found = draft === undefined ? describe(given) : `an event of type ${JSON.stringify(draft.type)}`;
    throw new PermanentError(
      `derive "${name}" returned ${found}; allowed: { type, data }, an array of these, or nothing. type is one of its emits (${emits.join(', ')}), data a plain JSON object.`,
    );
  }
  return buildDerivedEvent(source, { derive: name, type: draft.type, index, derived });
}

/** The data as it will be read back; undefined where JSON cannot represent it, so that nothing is lost. */
function jsonOf(data: object): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(JSON.stringify(data)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
