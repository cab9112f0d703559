/**
 * Schemas of the data of each verb's events, and of the feed's own. The compiler checks that they agree with the types. The JSON Schema
 * in docs/ is made from them, with the comments of the types as descriptions.
 */
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import { EVENT_TYPES, NOTICE_TYPES } from '../../src/events/catalogue.js';
import { PROBLEM_KINDS, type EventData, type Notice } from '../../src/events/types.js';
import type { ChangeEvent, CrmRecord } from '../../src/index.js';
import { optionDocs } from './option-docs.js';

const record: z.ZodType<CrmRecord> = z.looseObject({ id: z.string().min(1) });
const nothing = z.custom<readonly []>((value) => Array.isArray(value) && value.length === 0);
const actor = z
  .strictObject({ type: z.string().min(1), id: z.string().nullable(), name: z.string().nullable() })
  .readonly();
const known = { actor: actor.exactOptional() };
const changes = z
  .array(z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown(), ...known }).readonly())
  .readonly();
const merged = z.strictObject({
  ids: z.array(z.string()).min(2).readonly(),
  firstSequence: z.int(),
  firstObservedAt: z.iso.datetime(),
});
const schema = z.strictObject({
  field: z.string(),
  kind: z.enum(['appeared', 'vanished', 'changed']),
  rows: z.int(),
  share: z.number().min(0).max(1),
  before: z.array(z.string()).readonly(),
  after: z.array(z.string()).readonly(),
});
const base = { sequence: z.int().min(0), observedAt: z.iso.datetime(), sweep: z.string().min(1) };
const found = z.enum(['timestamp', 'content', 'both']);
const yes = z.literal(true).exactOptional();

const aboutRecord = {
  ...base,
  link: z.url().exactOptional(),
  related: z
    .record(z.string(), z.looseObject({ id: z.string(), title: z.string() }).readonly().nullable())
    .readonly()
    .exactOptional(),
};

const firstSeen = {
  ...aboutRecord,
  before: z.null(),
  after: record,
  changes: nothing,
  class: z.literal('edited'),
  detectedBy: found,
  merged: merged.exactOptional(),
};
const created = z.strictObject({ ...firstSeen, ...known, reappeared: yes });
const change = {
  ...aboutRecord,
  before: record.nullable(),
  after: record,
  changes,
  class: z.enum(['edited', 'refreshed']),
  detectedBy: found,
};
const updated = z.strictObject({ ...change, ...known, merged: merged.exactOptional() });
const deleted = z.strictObject({
  ...aboutRecord,
  before: record.nullable(),
  after: z.null(),
  changes: nothing,
  class: z.literal('edited'),
  detectedBy: found,
  mergedInto: z.string().exactOptional(),
  merged: merged.exactOptional(),
});
const schemaChanged = z.strictObject({
  ...base,
  before: z.null(),
  after: z.null(),
  changes: nothing,
  class: z.literal('refreshed'),
  detectedBy: z.literal('content'),
  schema,
});
const todoChanged = z.strictObject({ ...change, ...known, derivedFrom: z.string() });
const todoDue = z.strictObject({
  ...aboutRecord,
  before: z.null(),
  after: record,
  changes: nothing,
  class: z.literal('edited'),
  detectedBy: z.literal('clock'),
  due: z.iso.datetime(),
  late: yes,
});

const SCHEMAS = {
  created,
  updated,
  deleted,
  snapshot: z.strictObject(firstSeen),
  schema_changed: schemaChanged,
  completed: todoChanged,
  reopened: todoChanged,
  rescheduled: todoChanged,
  reassigned: todoChanged,
  due_soon: todoDue,
  overdue: todoDue,
};

const aboutAProblem = {
  severity: z.enum(['error', 'warning', 'info']),
  message: z.string().min(1),
  since: z.iso.datetime().nullable(),
  list: z.string().nullable(),
  facts: z.record(z.string(), z.union([z.string(), z.number()])).exactOptional(),
};
const notice = z.strictObject(aboutAProblem);
const noticeOfTheEnd = z.strictObject({ ...aboutAProblem, problem: z.enum(PROBLEM_KINDS) });
expectTypeOf<z.output<typeof notice | typeof noticeOfTheEnd>>().toExtend<Notice>();

const ofTheFeed = (type: string) =>
  z.strictObject({
    before: z.null(),
    after: z.null(),
    changes: nothing,
    sequence: z.int().min(1),
    class: z.literal('edited'),
    detectedBy: z.literal('clock'),
    observedAt: z.iso.datetime(),
    sweep: z.literal(''),
    notice: type === 'changefeed.problem.over' ? noticeOfTheEnd : notice,
  });

type Name = keyof typeof SCHEMAS;
type Schema<Of extends Name> = z.output<(typeof SCHEMAS)[Of]>;
type Data<Of extends Name> = EventData<`crm.todo.${Of}`>;
/** The keys of a type, except those that are never present. */
type Carried<Of extends Name> = {
  [Key in keyof Data<Of>]-?: [Exclude<Data<Of>[Key], undefined>] extends [never] ? never : Key;
}[keyof Data<Of>];
type Same = {
  [Of in Name]: [Schema<Of>, Data<Of>, keyof Schema<Of>, Carried<Of>] extends [
    Data<Of>,
    Schema<Of>,
    Carried<Of>,
    keyof Schema<Of>,
  ]
    ? true
    : [Of, 'the schema and the type differ'];
};
expectTypeOf<Same>().toEqualTypeOf<Record<Name, true>>();

const envelope = z.strictObject({
  specversion: z.literal('1.0'),
  id: z.string().regex(/^evt_[0-9a-f]{32}$/),
  source: z.string().startsWith('/workspaces/'),
  type: z.enum([...EVENT_TYPES, ...NOTICE_TYPES]),
  subject: z.string().min(1),
  time: z.iso.datetime(),
  datacontenttype: z.literal('application/json'),
  data: z.unknown(),
});

export function problemsOf(event: ChangeEvent): string[] {
  return [envelope.safeParse(event), dataSchemaOf(event.type).safeParse(event.data)].flatMap(({ error }) =>
    (error?.issues ?? []).map(({ path, message }) => `${event.type}: ${path.join('.')} ${message}`),
  );
}

function dataSchemaOf(type: string): z.ZodType {
  return DATA[dataNameOf(type)] ?? z.never();
}

const DATA: Readonly<Record<string, z.ZodType>> = {
  ...SCHEMAS,
  changefeed: ofTheFeed('changefeed.*'),
  'problem.over': ofTheFeed('changefeed.problem.over'),
};

function dataNameOf(type: string): string {
  if (!type.startsWith('changefeed.')) return type.slice(type.lastIndexOf('.') + 1);
  return type === 'changefeed.problem.over' ? 'problem.over' : 'changefeed';
}

type Json = Record<string, unknown>;

/**
 * JSON Schemas (2020-12) by name: of whole events by their type, and what they share. Properties that are not named are allowed, so that
 * a receiver does not refuse the events of a later version.
 * @param at where the schemas are in the document: `#/$defs/`
 */
export function jsonSchemas(at: string): Record<string, Json> {
  const types = [...EVENT_TYPES, ...NOTICE_TYPES];
  const data = Object.entries(DATA).map(([name, schema]) => [`data.${name}`, toJson(schema, 'ChangeData')] as const);
  const events = types.map((type) => {
    const properties = { type: { const: type }, data: { $ref: `${at}data.${dataNameOf(type)}` } };
    return [type, { title: type, type: 'object', allOf: [{ $ref: `${at}CloudEvent` }], properties }] as const;
  });
  const shared = { CloudEvent: toJson(envelope, 'ChangeEvent'), Record: RECORD, ...Object.fromEntries(data) };
  const text = JSON.stringify({ ...Object.fromEntries(events), ...shared });
  return JSON.parse(text.replaceAll(RECORD_REF, `${at}Record`)) as Record<string, Json>;
}

const RECORD_REF = 'the schema of a record';
const RECORD: Json = {
  description:
    'A record as its list shows it: the id, and whatever fields the workspace has. `changefeed schema --types` prints those that were seen.',
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', minLength: 1 } },
};

function toJson(schema: z.ZodType, declaredBy: string): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const is = (other: z.ZodType): boolean => (zodSchema as unknown) === other;
      if (is(nothing)) Object.assign(jsonSchema, { type: 'array', maxItems: 0 });
      if (is(record)) replace(jsonSchema, { $ref: RECORD_REF });
      else replace(jsonSchema, published(jsonSchema));
    },
  });
  const properties = json['properties'] as Json;
  return { ...json, properties: { ...properties, ...commentsOn(properties, declaredBy) } };
}

/** Without what is a detail of zod, and without what would refuse a property of a later version. */
function published(schema: Json): Json {
  const { additionalProperties: _1, readOnly: _2, pattern, format, minimum, maximum, ...rest } = schema;
  return {
    ...rest,
    ...(format === 'date-time' ? { format } : pattern !== undefined && { pattern }),
    ...(typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER && { minimum }),
    ...(typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
  };
}

function replace(target: object, by: object): void {
  for (const key of Object.keys(target)) Reflect.deleteProperty(target, key);
  Object.assign(target, by);
}

function commentsOn(properties: Json, declaredBy: string): Json {
  const docs = optionDocs('events/types.ts', declaredBy).filter(
    ({ name, meaning }) => name in properties && meaning !== '',
  );
  return Object.fromEntries(
    docs.map(({ name, meaning }) => [name, { description: meaning, ...(properties[name] as Json) }]),
  );
}
