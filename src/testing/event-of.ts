/** Complete events for tests of handlers: what a test does not give is filled in. Pure, and the same call gives the same event. */
import { canonicalText, diffRecords, digestOf } from '../crm/canonical.js';
import { builtInLists, readyMadeLists } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import type { FeedEvent, TypedEvent } from '../delivery/handlers/define.js';
import { eventId, objectOf } from '../events/envelope.js';
import { exampleEvent, FIRST_SEQUENCE } from '../events/example.js';
import { EVENT_TYPES } from '../events/catalogue.js';
import type { EventType, NoticeType } from '../events/kinds.js';
import type { Actor, ChangeData, ChangeEvent, Notice, Related } from '../events/types.js';
import { compileRules, isEdit } from '../feed/detect/rules.js';
import { usage } from '../kit/errors.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a test says of an event. Everything may be left out. */
export interface EventParts {
  /** Fields of the record before the change. @defaultValue those of an example record of the list */
  before?: Fields;
  /** Fields of the record after the change; all others stay as before. `changes` is computed from the two. */
  after?: Fields;
  /** @defaultValue 'test' */
  workspace?: string;
  /** When it happened and was detected; ISO 8601, UTC. @defaultValue '2026-03-02T00:00:00.000Z' */
  at?: string;
  /** @defaultValue 1883093401075713 for the first event of a record, otherwise one more: as large as in production */
  sequence?: number;
  /** Who made the change. @defaultValue not known */
  actor?: Actor;
  /** With `due_soon` and `overdue`: when the todo is due; ISO 8601. @defaultValue `at` */
  due?: string;
  /** As `include` of a subscription adds them. */
  related?: Readonly<Record<string, Related | null>>;
  /** As `links` of a workspace adds it. */
  link?: string;
  /** Of one of the feed's own events. */
  notice?: Partial<Notice>;
}

type ObjectIn<Type> = Type extends `crm.${infer ObjectName}.${string}` ? ObjectName : never;
/** A type of an object that we know is one of its types, and no other. */
type OfOwnList<Type> = ObjectIn<Type> extends ObjectIn<EventType> ? never : Type;

const AT = '2026-03-02T00:00:00.000Z';

/**
 * An event as a handler gets it: complete, and valid by `events.schema.json`.
 * @param type such as `crm.todo.completed`; also of a list of your own, and one of the feed's own (`changefeed.api.away`)
 * @throws ChangefeedError `CF_USAGE` where `type` is no type of an event
 */
export function eventOf<Type extends EventType>(type: Type, parts?: EventParts): TypedEvent<Type>;
export function eventOf<Type extends NoticeType>(type: Type, parts?: EventParts): FeedEvent<Type>;
export function eventOf<Type extends `crm.${string}.${string}`>(type: OfOwnList<Type>, parts?: EventParts): ChangeEvent;
export function eventOf(type: string, parts: EventParts = {}): ChangeEvent {
  if (!/^(crm|changefeed)(\.[a-z_]+){2,}$/.test(type))
    throw usage(
      `eventOf: found "${type}"; allowed: a type such as crm.todo.completed, crm.person.updated or changefeed.api.away.`,
    );
  if (builtInLists.all.some(({ object }) => object === type.split('.')[1]) && !EVENT_TYPES.some((one) => one === type))
    throw usage(`eventOf: there is no type "${type}"${didYouMean(type, EVENT_TYPES)}.`);
  const { workspace = 'test', at = AT } = parts;
  const example = exampleEvent(type, { id: '', workspace, at, lists: builtInLists });
  return example.data.notice === undefined ? ofRecord(example, parts) : ofFeed(example, parts);
}

function ofFeed(example: ChangeEvent, { notice }: EventParts): ChangeEvent {
  const data = { ...example.data, notice: { ...(example.data.notice as Notice), ...notice } };
  return { ...example, id: eventId([example.source, example.type, example.time]), subject: 'workspace', data };
}

function ofRecord(example: ChangeEvent, parts: EventParts): ChangeEvent {
  const { type, source, time } = example;
  const { actor, due, related, link } = parts;
  const { before, after } = imagesOf(example, parts);
  const changes = before === null || after === null ? [] : changesBetween(before, after, type);
  const isRefreshed = changes.length > 0 && !changes.some((change) => isEdit(change, rulesOf(type)));
  const subject =
    example.data.schema === undefined ? String((after ?? before)?.id) : `schema:${example.data.schema.field}`;
  const isFirst = example.data.before === null && example.data.due === undefined;
  const sequence = parts.sequence ?? (isFirst ? FIRST_SEQUENCE : FIRST_SEQUENCE + 1);
  const idOf = (of: string): string =>
    eventId([source, of, subject, String(sequence), contentOf(after ?? before, type)]);
  const data: ChangeData = {
    ...example.data,
    before,
    after,
    changes,
    sequence,
    class: isRefreshed || example.data.schema !== undefined ? 'refreshed' : 'edited',
    ...(actor !== undefined && { actor }),
    ...(example.data.due !== undefined && { due: due ?? example.data.due }),
    ...(example.data.derivedFrom !== undefined && { derivedFrom: idOf('crm.todo.updated') }),
    ...(related !== undefined && { related }),
    ...(link !== undefined && { link }),
  };
  return { ...example, id: idOf(type), subject, time, data };
}

interface Images {
  before: CrmRecord | null;
  after: CrmRecord | null;
}

/** The example's own change stays where the type means it (`completed`), or where the test names no fields. */
function imagesOf({ data, type }: ChangeEvent, { before: old, after: now }: EventParts): Images {
  if (data.schema !== undefined) return { before: null, after: null };
  if (data.after === null) return { before: withFields(data.before, { ...old }), after: null };
  if (data.before === null) return { before: null, after: withFields(data.after, { ...old, ...now }) };
  const before = withFields(data.before, { ...old });
  const isNamed = old !== undefined || now !== undefined;
  const own = isNamed && type.endsWith('.updated') ? {} : valuesOf(data.after, data.changes);
  return { before, after: withFields(before, { ...own, ...now, id: before.id }) };
}

function valuesOf(record: CrmRecord, changes: ChangeData['changes']): Fields {
  return Object.fromEntries(changes.map(({ field }) => [field, record[field]]));
}

function withFields(record: CrmRecord | null, fields: Fields): CrmRecord {
  return { id: 'test', ...record, ...fields };
}

function changesBetween(before: CrmRecord, after: CrmRecord, type: string): ChangeData['changes'] {
  return diffRecords(before, after, rulesOf(type));
}

function contentOf(record: CrmRecord | null, type: string): string {
  return record === null ? '' : digestOf(canonicalText(record, rulesOf(type)));
}

/** A list of a configuration is compared as one without rules of its own. */
function rulesOf(type: string) {
  const object = objectOf({ type });
  return compileRules(builtInLists.byObject(object) ?? readyMadeLists.byObject(object) ?? 'people');
}
