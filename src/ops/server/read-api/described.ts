/** The routes of the read API as its OpenAPI document describes them. Nothing is checked by these schemas. */
import { z } from 'zod';
import { fieldsOf, type FieldType } from '../../../crm/known-fields.js';
import { json } from '../http/openapi.js';
import type { ServedList } from './lists.js';

export const DOCUMENT = {
  info: {
    title: 'Customer-relationship read API',
    version: '2',
    license: { name: 'MIT', identifier: 'MIT' },
    description:
      'Read-only lists, paged by an opaque cursor. Every request, also a GET without a body, carries the header `content-type: application/json`.',
  },
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } } as const,
  security: [{ bearer: [] }],
};

const REFUSALS = {
  400: 'The header `content-type: application/json` is missing, or a parameter is wrong.',
  401: 'The token is missing or wrong.',
  404: 'There is no such list or record.',
  429: 'Too many requests, or too many wrong tokens.',
  default: 'The call failed (section 7).',
};
const ETAG = { etag: { type: 'string', description: 'the version of the answer, for `if-none-match`' } };

export function describedBy(names: typeof z.globalRegistry, { mirror }: { mirror: boolean }) {
  const parts = partsOf(names);
  const { types, parameter, refused } = parts;
  const cursor = parameter('The nextCursor of the previous answer; left out for the first page.');
  const filters = {
    updated_since: parameter('Only records that have changed since this time.'),
    ids: parameter('Only these records, separated by commas.'),
  };
  const headers = z.object({
    'content-type': z.literal('application/json'),
    ...(mirror && { 'if-none-match': parameter('The `etag` of the answer that is known.') }),
  });
  const operation = (operationId: string, summary: string, schema: z.ZodType) => ({
    ...{ tags: ['lists'], operationId, summary, headers },
    response: {
      200: { ...json('What was asked for.', schema), ...(mirror && { headers: ETAG }) },
      ...(mirror && { 304: z.null().register(names, { description: 'The answer that is known is still right.' }) }),
      ...refused,
    },
  });
  const list = (served: ServedList) => {
    const name = nameOf(served);
    const fields = fieldsOf(served.name).map((field) => [field.name, types[field.type]] as const);
    const record = z
      .looseObject({ ...Object.fromEntries(fields), id: z.string().min(1) })
      .register(names, { id: name });
    const data = z.object({ [served.key]: z.array(record), nextCursor: z.string().nullish() });
    const page = succeeded(data).register(names, { id: `${name}Page` });
    const querystring = z.object({ cursor, ...(mirror && filters) });
    return {
      page: { ...operation(`list${name}`, `List ${served.name}`, page), querystring },
      record: operation(`get${name}`, `Get a record of ${served.name}`, succeeded(record)),
    };
  };
  return { hints: hints(parts), list };
}

const succeeded = (data: z.ZodType) => z.object({ success: z.literal(true), data });

function hints({ parameter, refused, failure }: ReturnType<typeof partsOf>) {
  const taken = succeeded(z.object({ queued: z.int(), reason: z.string().optional() }));
  return {
    ...{ tags: ['hints'], operationId: 'addHint', summary: 'Says which records may have changed.' },
    description: 'A body of our own, or that of the webhooks of the vendor. The token is that for hints.',
    querystring: z.object({ token: parameter('In place of the bearer token.') }),
    body: z.union([
      z.object({ list: z.string(), ids: z.array(z.string()) }),
      z.looseObject({ objectType: z.string(), objectId: z.string() }),
    ]),
    response: {
      200: json('It names no record of a list that is polled.', taken),
      202: json('The records will be read.', taken),
      ...refused,
      400: json('The body is wrong.', failure),
    },
  };
}

function partsOf(names: typeof z.globalRegistry) {
  const ref = z.object({ id: z.string(), name: z.string() }).register(names, { id: 'Ref' });
  // The interface does not say whether a field may be null or absent, so every field but `id` may be both.
  const types: Readonly<Record<FieldType, z.ZodType>> = {
    string: z.string().nullish(),
    integer: z.int().nullish(),
    boolean: z.boolean().nullish(),
    timestamp: z.iso.datetime({ precision: 3 }).nullish(),
    ref: ref.nullish(),
    refs: z.array(ref).nullish(),
    any: z.unknown().optional(),
  };
  const reason = z.union([z.string(), z.array(z.string())]).optional();
  const failure = z
    .object({ success: z.literal(false), message: z.string(), reason })
    .register(names, { id: 'Failure' });
  const refused = Object.fromEntries(Object.entries(REFUSALS).map(([status, text]) => [status, json(text, failure)]));
  const parameter = (description: string) => z.string().optional().register(names, { description });
  return { types, failure, refused, parameter };
}

function nameOf({ object }: ServedList): string {
  return object.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
