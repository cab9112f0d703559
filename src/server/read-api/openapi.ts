/** The OpenAPI 3.1 document of the served lists, generated from the table in `crm/known-fields.ts`. */
import { fieldsOf, type FieldType } from '../../crm/known-fields.js';
import { SIX_LISTS, type ServedList } from './lists.js';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/** The titles of section 4. Other lists are titled by their name. */
const TITLES: Readonly<Record<string, string>> = {
  people: 'List people',
  organization: 'List organizations',
  memo: 'List memos',
  todo: 'List todos',
  history: 'List deal or lead history',
  activity: 'List people activity',
};

const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });

// The interface does not say whether a field may be null or absent, so every field but `id` may be both.
const TYPE_SCHEMAS: Readonly<Record<FieldType, JsonObject>> = {
  string: { type: ['string', 'null'] },
  integer: { type: ['integer', 'null'] },
  boolean: { type: ['boolean', 'null'] },
  timestamp: {
    type: ['string', 'null'],
    format: 'date-time',
    pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`,
  },
  ref: orNull(ref('Ref')),
  refs: { type: ['array', 'null'], items: ref('Ref') },
  any: {},
};

export function openApiDocument(lists: readonly ServedList[] = Object.values(SIX_LISTS)): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Customer-relationship read API',
      version: '2',
      description: 'Read-only lists, paged by an opaque cursor.',
    },
    security: [{ bearer: [] }],
    paths: Object.fromEntries(lists.map((list) => [`/${list.path}`, { get: operation(list) }])),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      parameters: { cursor: CURSOR },
      responses: { Failure: answer('The call failed (section 7).', ref('Failure')) },
      schemas: {
        Ref: REF_SCHEMA,
        Failure: FAILURE_SCHEMA,
        ...Object.fromEntries(lists.flatMap((list) => Object.entries(schemasOf(list)))),
      },
    },
  };
}

const CURSOR: JsonObject = {
  name: 'cursor',
  in: 'query',
  required: false,
  description: 'The nextCursor of the previous answer; left out for the first page.',
  schema: { type: 'string' },
};

const REF_SCHEMA: JsonObject = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'string' }, name: { type: 'string' } },
};

const FAILURE_SCHEMA: JsonObject = {
  type: 'object',
  required: ['success', 'message'],
  properties: {
    success: { const: false },
    message: { type: 'string' },
    reason: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  },
};

function operation(list: ServedList): JsonObject {
  return {
    operationId: `list${schemaName(list)}`,
    summary: TITLES[list.name] ?? `List ${list.name}`,
    parameters: [{ $ref: '#/components/parameters/cursor' }],
    responses: {
      '200': answer('One page.', ref(`${schemaName(list)}Page`)),
      default: { $ref: '#/components/responses/Failure' },
    },
  };
}

function answer(description: string, schema: JsonObject): JsonObject {
  return { description, content: { 'application/json': { schema } } };
}

/** Of a record, and of a page. */
function schemasOf(list: ServedList): JsonObject {
  const properties = Object.fromEntries(fieldsOf(list.name).map(({ name, type }) => [name, TYPE_SCHEMAS[type]]));
  const data: JsonObject = {
    type: 'object',
    required: [list.key],
    properties: {
      [list.key]: { type: 'array', items: ref(schemaName(list)) },
      nextCursor: { type: ['string', 'null'] },
    },
  };
  return {
    [schemaName(list)]: {
      type: 'object',
      required: ['id'],
      properties: { ...properties, id: { type: 'string', minLength: 1 } },
      additionalProperties: true,
    },
    [`${schemaName(list)}Page`]: {
      type: 'object',
      required: ['success', 'data'],
      properties: { success: { const: true }, data },
    },
  };
}

/** `person_activity` → `PersonActivity`. */
function schemaName(list: ServedList): string {
  return list.object.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
