/** The JSON schema of a configuration file in JSON, for editors: made from the schemas that check it. */
import { z } from 'zod';
import { DESTINATIONS } from '../../src/delivery/handlers/destinations.js';
import { EVENT_TYPES, NOTICE_TYPES } from '../../src/events/catalogue.js';
import { KINDS } from '../../src/delivery/handlers/registry.js';
import { configSchema } from '../../src/config/schema.js';
import { describeOptions } from './described-options.js';
import { conditionsSchema } from '../../src/delivery/handlers/where.js';

type JsonSchema = Record<string, unknown>;

export function configJsonSchema(): JsonSchema {
  const whole = toSchema(configSchema);
  // What only code can have.
  const { subscriptions, redis, destinations, kinds, ...properties } = whole['properties'] as Record<
    string,
    JsonSchema
  >;
  const described = describeOptions({
    ...whole,
    title: 'changefeed.config.json',
    properties: {
      ...properties,
      workspaces: withSwitches(whole['properties'] as Record<string, JsonSchema>),
      // Each has a short form.
      redis: { anyOf: [{ type: 'string' }, redis] },
      kinds: { ...kinds, items: { type: 'string' } },
      destinations: {
        ...destinations,
        additionalProperties: byHandler(
          Object.entries(DESTINATIONS).map(([handler, schema]) => [handler, withKind(handler, toSchema(schema))]),
        ),
      },
      subscriptions: {
        ...subscriptions,
        items: {
          ...byHandler(KINDS.map(({ handler, schema }) => [handler, withHandler(handler, toSchema(schema))])),
          properties: { handler: { type: 'string', examples: HANDLERS } },
        },
      },
    },
  });
  // What a module of `kinds` is called is known to it alone.
  const then = {
    properties: {
      subscriptions: {
        description: 'Of the kinds of this package.',
        items: { properties: { handler: { enum: HANDLERS } } },
      },
    },
  };
  return { ...described, if: { not: { required: ['kinds'] } }, then };
}

const HANDLERS = KINDS.map(({ handler }) => handler);

/** By its handler, so that an editor names a wrong handler, and the wrong option of the right one: of alternatives it names any. */
function byHandler(kinds: readonly (readonly [handler: string, schema: JsonSchema])[]): JsonSchema {
  return {
    type: 'object',
    required: ['handler'],
    properties: { handler: { enum: kinds.map(([handler]) => handler) } },
    allOf: kinds.map(([handler, schema]) => ({
      if: { properties: { handler: { const: handler } }, required: ['handler'] },
      then: schema,
    })),
  };
}

/** Completed by editors. Others are allowed: patterns, and the types of own lists. */
const TYPES = ['crm.*', ...EVENT_TYPES, ...NOTICE_TYPES];

/** A list is switched on by `true`, off by `false`. */
function withSwitches({ workspaces }: Record<string, JsonSchema>): JsonSchema {
  const { items } = workspaces as {
    items: { required: string[]; properties: { lists: JsonSchema; token: { anyOf: [JsonSchema] } } };
  };
  // A file in JSON has no functions.
  const {
    lists,
    token,
    fetchPage: _code,
    ...others
  } = items.properties as typeof items.properties & { fetchPage: unknown };
  const additionalProperties = { anyOf: [{ type: 'boolean' }, lists['additionalProperties']] };
  const properties = { ...others, token: token.anyOf[0], lists: { ...lists, additionalProperties } };
  const required = ['name', 'baseUrl', 'token'];
  return { ...workspaces, items: { ...items, properties, required } };
}

function withKind(handler: string, { $schema: _, ...schema }: JsonSchema): JsonSchema {
  const required = ['handler', ...((schema['required'] as string[] | undefined) ?? [])];
  return {
    ...schema,
    title: handler,
    properties: { handler: { const: handler }, ...Object(schema['properties']) },
    required,
  };
}

function withHandler(handler: string, schema: JsonSchema): JsonSchema {
  const { transform: _code, ...properties } = schema['properties'] as Record<string, unknown>;
  const { $schema: _same, ...where } = toSchema(conditionsSchema);
  return withKind(handler, {
    ...schema,
    properties: {
      ...properties,
      ...withTypes(properties['on']),
      where: { ...(properties['where'] as object), ...where },
    },
  });
}

/** `todoReport` selects no types. */
function withTypes(on: unknown): JsonSchema {
  return on === undefined ? {} : { on: { ...(on as JsonSchema), items: { type: 'string', examples: TYPES } } };
}

function toSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    // An editor would take it as "not to be written".
    override: ({ jsonSchema }) => delete jsonSchema.readOnly,
  });
}
