/** The JSON schema of a configuration file in JSON, for editors: made from the schemas that check it. */
import { z } from 'zod';
import { KINDS } from '../../src/delivery/handlers/registry.js';
import { configSchema } from '../../src/config/schema.js';
import { conditionsSchema } from '../../src/delivery/handlers/where.js';

type JsonSchema = Record<string, unknown>;

export function configJsonSchema(): JsonSchema {
  const whole = toSchema(configSchema);
  // What only code can have.
  const { subscriptions, redis, ...properties } = whole['properties'] as Record<string, JsonSchema>;
  return {
    ...whole,
    title: 'changefeed.config.json',
    properties: {
      ...properties,
      workspaces: withSwitches(whole['properties'] as Record<string, JsonSchema>),
      // Each has a short form.
      redis: { anyOf: [{ type: 'string' }, redis] },
      subscriptions: {
        ...subscriptions,
        items: { oneOf: KINDS.map(({ handler, schema }) => withHandler(handler, toSchema(schema))) },
      },
    },
  };
}

/** A list is switched on by `true`, off by `false`. */
function withSwitches({ workspaces }: Record<string, JsonSchema>): JsonSchema {
  const { items } = workspaces as { items: { properties: { lists: JsonSchema } } };
  const { lists } = items.properties;
  const additionalProperties = { anyOf: [{ type: 'boolean' }, lists['additionalProperties']] };
  const properties = { ...items.properties, lists: { ...lists, additionalProperties } };
  return { ...workspaces, items: { ...items, properties } };
}

function withHandler(handler: string, { $schema: _, ...schema }: JsonSchema): JsonSchema {
  const { transform: _code, ...properties } = schema['properties'] as Record<string, unknown>;
  const { $schema: _same, ...where } = toSchema(conditionsSchema);
  return {
    ...schema,
    title: handler,
    properties: { handler: { const: handler }, ...properties, where: { ...(properties['where'] as object), ...where } },
    required: ['handler', ...((schema['required'] as string[] | undefined) ?? [])],
  };
}

function toSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    // An editor would take it as "not to be written".
    override: ({ jsonSchema }) => delete jsonSchema.readOnly,
  });
}
