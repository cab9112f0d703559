/** The OpenAPI 3.1 document of the API, made of the schemas that check the requests. */
import { z } from 'zod';
import { refusal, streamed } from './answers.js';
import type { Endpoint } from './endpoint.js';
import { streamQuery } from './stream.js';

type Json = Record<string, unknown>;

export function openApiDocument(endpoints: readonly Endpoint[], version: string): Json {
  const paths: Record<string, Json> = { '/events': { get: streamOperation() } };
  for (const one of endpoints) {
    const path = one.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: operationOf(one) };
  }
  // Each schema brings those that it refers to. In the document they have one place.
  const schemas: Json = { Refusal: schemaOf(refusal, 'output') };
  const text = JSON.stringify(paths, (name, value: Json) => {
    if (name === '$defs') Object.assign(schemas, value);
    return name === '$defs' ? undefined : value;
  });
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Changefeed: status page',
      version,
      description:
        'What the status page reads and does. Actions need the header `x-changefeed-action`, with any value. Objects may get further properties.',
    },
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'http.tokens of the configuration' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'changefeed_session',
          description: 'begins with POST /api/session',
        },
      },
      schemas,
    },
    security: [{ token: [] }, { session: [] }, {}],
    paths: JSON.parse(text) as Json,
  };
  return JSON.parse(JSON.stringify(document).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}

function operationOf({ method, path, summary, access, query, body, answer }: Endpoint): Json {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    summary,
    'x-role': access,
    parameters: [...inPath, ...parametersOf(query), ...(method === 'GET' ? [] : [ACTION])],
    ...(body !== undefined && { requestBody: { content: json(schemaOf(body, 'input')) } }),
    responses: { 200: { description: 'OK', content: json(schemaOf(answer, 'output')) }, ...REFUSALS },
  };
}

function streamOperation(): Json {
  const from = { name: 'Last-Event-ID', in: 'header', description: 'the position of the last event that was received' };
  return {
    summary: 'Events as they come: server-sent events or lines of JSON.',
    'x-role': 'read',
    parameters: [...parametersOf(streamQuery), { ...from, schema: { type: 'string' } }],
    responses: {
      200: {
        description: 'Without end, unless `follow=false`. `id` of a server-sent event is its position.',
        content: {
          'text/event-stream': { schema: { type: 'string' } },
          'application/x-ndjson': { schema: schemaOf(streamed, 'output') },
        },
      },
      ...REFUSALS,
    },
  };
}

const ACTION = { name: 'x-changefeed-action', in: 'header', required: true, schema: { type: 'string' } };
const REFUSALS = { default: { description: 'Refused', content: json({ $ref: '#/components/schemas/Refusal' }) } };

function parametersOf(query: z.ZodObject | undefined): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function json(schema: unknown): Json {
  return { 'application/json': { schema } };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const {
    $schema: _,
    id: _id,
    ...rest
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: open }) as Json;
  return rest;
}

/** An object gets further properties later, unless its schema says that it does not. */
function open({ zodSchema, jsonSchema }: Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]): void {
  if (zodSchema instanceof z.ZodObject && zodSchema.def.catchall === undefined) delete jsonSchema.additionalProperties;
}
