/** docs/events.md, docs/events.schema.json and docs/asyncapi.json: made from the table of event types, their schemas and the examples. */
import { format } from 'prettier';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import type { ListDescriptor } from '../../src/crm/lists/descriptor.js';
import { builtInLists, readyMadeLists } from '../../src/crm/lists/lists.js';
import { EVENT_TYPES, NOTICE_TYPES, typesOf } from '../../src/events/catalogue.js';
import { TODO_VERBS, VERBS, type TodoVerb, type Verb } from '../../src/events/kinds.js';
import { eventSchema, noChanges, recordSchema, type ChangeEvent } from '../../src/events/types.js';
import { DATA_SCHEMAS, dataNameOf } from '../../test/support/event-schemas.js';
import { table } from './markdown.js';
import { noticeRows } from './notices.js';
import { optionDocs } from './options.js';

type Json = Record<string, unknown>;
type Examples = ReadonlyMap<string, ChangeEvent>;

const ALL_TYPES = [...EVENT_TYPES, ...NOTICE_TYPES];

const WHEN: Readonly<Record<Verb | TodoVerb, string>> = {
  created: 'A record is in the list that was not there before.',
  updated: 'A field of a record changed.',
  deleted: 'A record is no longer in the list: deleted, merged, or no longer permitted for the token.',
  unchanged: 'Nothing has changed for the time that a subscription with `unchanged` asks for.',
  snapshot: 'The present state of a record, for a baseline that emits or a subscription that starts with a snapshot.',
  schema_changed: 'A field appeared, vanished or changed its value type on nearly all records of the list.',
  completed: 'An open todo is done.',
  reopened: 'A todo that was done is open again.',
  rescheduled: 'The due date was changed, set or removed.',
  reassigned: 'The person in charge was changed, set or removed.',
  due_soon: 'An open todo is due within `todos.dueSoon` (default 24 hours).',
  overdue: 'An open todo has passed its due time.',
};

function whenOf(type: string): string {
  const [first, ...rest] = type.split('.');
  if (first === 'crm') return WHEN[type.slice(type.lastIndexOf('.') + 1) as Verb];
  const row = noticeRows().find(({ kind }) => kind === rest.join('.'));
  if (row === undefined) throw new Error(`docs/operations.md has no row for "${rest.join('.')}" in its table of kinds`);
  return row.when;
}

export function schemaDocument(): string {
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:crm-changefeed:events',
    title: 'Changefeed events',
    description:
      'Any event of the built-in and ready-made lists, and of the feed itself. `#/$defs/<type>` is the schema of one type.',
    oneOf: ALL_TYPES.map((type) => ({ $ref: `#/$defs/${type}` })),
    $defs: jsonSchemas('#/$defs/'),
  };
  return written(document);
}

/** AsyncAPI 3: one channel, which is what a subscription receives, and a message for every type. */
export function asyncApiDocument(examples: Examples): string {
  const inComponents = (type: string) => ({ $ref: `#/components/messages/${type}` });
  const document = {
    asyncapi: '3.0.0',
    info: {
      title: packageJson.name,
      version: packageJson.version,
      description: packageJson.description,
      license: { name: packageJson.license },
    },
    defaultContentType: 'application/json',
    channels: {
      subscription: {
        title: 'A subscription',
        description:
          'The events that `on` and the other options of a subscription select. The address is that of its handler: the URL of a webhook, the name of a BullMQ queue, a file.',
        address: null,
        messages: Object.fromEntries(ALL_TYPES.map((type) => [type, inComponents(type)])),
      },
    },
    operations: {
      deliver: {
        action: 'send',
        summary: 'At least once; the events of one record in order.',
        channel: { $ref: '#/channels/subscription' },
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      messages: Object.fromEntries(ALL_TYPES.map((type) => [type, messageOf(type, examples)])),
      messageTraits: { signed: SIGNED },
      schemas: jsonSchemas('#/components/schemas/'),
    },
  };
  return written(document);
}

function messageOf(type: string, examples: Examples): Json {
  return {
    name: type,
    title: type,
    summary: whenOf(type),
    payload: { $ref: `#/components/schemas/${type}` },
    traits: [{ $ref: '#/components/messageTraits/signed' }],
    examples: [{ payload: examples.get(type) }],
  };
}

const SIGNED: Json = {
  headers: {
    type: 'object',
    description: 'Sent by the handler `webhook`, as Standard Webhooks specifies.',
    properties: {
      'webhook-id': { type: 'string', description: 'The id of the event: the same for every attempt.' },
      'webhook-timestamp': { type: 'string', description: 'Seconds since 1970: the time of this attempt.' },
      'webhook-signature': { type: 'string', description: 'One `v1,<base64>` for each secret, separated by spaces.' },
    },
  },
};

export async function eventsPage(examples: Examples): Promise<string> {
  const verbs = [...VERBS, ...TODO_VERBS];
  const parts = [
    INTRODUCTION,
    '## All types',
    table(
      ['list', 'types'],
      [...builtInLists.all, ...readyMadeLists.all].map((list) => [listText(list), typesOf(list).map(asCode).join(' ')]),
    ),
    'The lists with a \\* are polled where they are [switched on](lists.md).',
    table(
      ['verb', 'when'],
      verbs.map((verb) => [`[\`${verb}\`](#${verb})`, WHEN[verb]]),
    ),
    '### The feed itself',
    'Reported by Changefeed about itself: [operations.md](operations.md) says what to do about each. A subscription gets them only by a pattern that begins with `changefeed.`.',
    table(
      ['type', 'when'],
      NOTICE_TYPES.map((type) => [asCode(type), whenOf(type)]),
    ),
    '## The data of an event',
    DATA_TEXT,
    table(
      ['field', 'meaning'],
      optionDocs('events/types.ts', 'changeData').map(({ name, meaning }) => [
        asCode(name),
        meaning || (MEANINGS[name] ?? ''),
      ]),
    ),
    '## Examples',
    'Events of a synthetic workspace, each whole: one for every verb, and one of the feed itself.',
    ...(await Promise.all(verbs.map((verb) => exampleOf(verb, `crm.todo.${verb}`, examples)))),
    await exampleOf('The feed itself: an example', 'changefeed.workspace.unauthorized', examples),
  ];
  return `${parts.join('\n\n')}\n`;
}

const asCode = (text: string): string => `\`${text}\``;

function listText({ name }: ListDescriptor): string {
  return readyMadeLists.all.some((list) => list.name === name) ? `${asCode(name)} *` : asCode(name);
}

/** Declared by the name of their type. */
const MEANINGS: Readonly<Record<string, string>> = {
  class: '`edited`: by a person or an integration. `refreshed`: only fields that the system updates by itself.',
  detectedBy: 'How the change was detected: by its timestamp, its content, or both. `clock`: no change, a todo is due.',
};

const INTRODUCTION = `# Events

Every event is a [CloudEvent](https://cloudevents.io) 1.0 in its JSON form. Handlers, webhooks, queues, files and \`changefeed tail --json\`
all get the same event.

Two files of the package describe every type:

- [events.schema.json](events.schema.json): JSON Schema (2020-12). \`import schema from 'crm-changefeed/events.schema.json' with { type: 'json' }\`;
  \`#/$defs/crm.todo.completed\` is the schema of one type.
- [asyncapi.json](asyncapi.json): the same as an AsyncAPI 3 document, with an example of every type.

| attribute | meaning |
|---|---|
${optionDocs('events/types.ts', 'eventSchema')
  .map(({ name, meaning }) => `| ${asCode(name)} | ${meaning || (ATTRIBUTES()[name] ?? '')} |`)
  .join('\n')}

Lists that you add ([lists.md](lists.md)) have the types \`crm.<object>.created\`, \`updated\`, \`deleted\`, \`snapshot\` and \`schema_changed\`, with
the same data.`;

function ATTRIBUTES(): Readonly<Record<string, string>> {
  return {
    specversion: 'Always `1.0`.',
    datacontenttype: 'Always `application/json`.',
    data: 'What happened: see [below](#the-data-of-an-event).',
  };
}

const DATA_TEXT = `A field that does not apply is absent. [handlers.md](handlers.md#your-own-function) shows which type has which; in TypeScript, \`event.type\`
narrows the event. Contents of \`before\` and \`after\` are records of the CRM as its lists show them, with its field names.`;

async function exampleOf(heading: string, type: string, examples: Examples): Promise<string> {
  const json = await format(JSON.stringify(examples.get(type)), { parser: 'json', printWidth: 120 });
  return [`### ${heading}`, whenOf(type), `\`\`\`json\n${json}\`\`\``].join('\n\n');
}

function written(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * JSON Schemas (2020-12) by name: of whole events by their type, and what they share. Properties that are not named are allowed, so that
 * a receiver does not refuse the events of a later version.
 * @param at where the schemas are in the document: `#/$defs/`
 */
function jsonSchemas(at: string): Record<string, Json> {
  const data = Object.entries(DATA_SCHEMAS).map(
    ([name, schema]) => [`data.${name}`, toJson(schema, 'changeData')] as const,
  );
  const events = ALL_TYPES.map((type) => {
    const properties = { type: { const: type }, data: { $ref: `${at}data.${dataNameOf(type)}` } };
    return [type, { title: type, type: 'object', allOf: [{ $ref: `${at}CloudEvent` }], properties }] as const;
  });
  const shared = { CloudEvent: toJson(ANY_EVENT, 'eventSchema'), Record: RECORD, ...Object.fromEntries(data) };
  const text = JSON.stringify({ ...Object.fromEntries(events), ...shared });
  return JSON.parse(text.replaceAll(RECORD_REF, `${at}Record`)) as Record<string, Json>;
}

/** `data` has a schema for each type. */
const ANY_EVENT = z.strictObject({ ...eventSchema.unwrap().shape, type: z.enum(ALL_TYPES), data: z.unknown() });
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
      if (is(noChanges)) Object.assign(jsonSchema, { type: 'array', maxItems: 0 });
      if (is(recordSchema)) replace(jsonSchema, { $ref: RECORD_REF });
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

/** Declared by the name of a property of `data`. */
const WITHIN: Readonly<Record<string, string>> = {
  actor: 'actorFields',
  changes: 'changeFields',
  merged: 'mergedFields',
  notice: 'noticeFields',
  schema: 'schemaFields',
  unchanged: 'unchangedFields',
};

function commentsOn(properties: Json, declaredBy: string): Json {
  const docs = new Map(optionDocs('events/types.ts', declaredBy).map(({ name, meaning }) => [name, meaning]));
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const description = docs.get(name) ?? '';
      const described = { ...(description !== '' && { description }), ...withinOf(name, property as Json) };
      return [name, described];
    }),
  );
}

function withinOf(name: string, property: Json): Json {
  const declaredBy = WITHIN[name];
  if (declaredBy === undefined) return property;
  if (property['items'] !== undefined) return { ...property, items: withinOf(name, property['items'] as Json) };
  if (property['properties'] === undefined) return property;
  return { ...property, properties: commentsOn(property['properties'] as Json, declaredBy) };
}
