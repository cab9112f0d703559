/** The OpenAPI document of a set of routes, made of the zod schemas of the routes that have tags. */
import type { FastifyDynamicSwaggerOptions, OpenAPIV3_2 } from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { z } from 'zod';

type Document = FastifyDynamicSwaggerOptions['openapi'];
type Described = { summary?: string; description?: string };
type Answers = Record<string, { headers?: object }>;

/** To be called before the routes are added. When the app is ready, `app.swagger()` gives the document. */
export async function documentRoutes(
  app: FastifyInstance,
  document: NonNullable<Document>,
  schemaRegistry: typeof z.globalRegistry = z.globalRegistry,
): Promise<void> {
  // Loaded with the first server: a program that only imports the library serves nothing.
  const [{ default: plugin }, { createJsonSchemaTransform, createJsonSchemaTransformObject }] = await Promise.all([
    import('@fastify/swagger'),
    import('fastify-type-provider-zod'),
  ]);
  const options = { schemaRegistry, zodToJsonConfig: { override: open } };
  const toJson = createJsonSchemaTransform(options);
  const toComponents = createJsonSchemaTransformObject(options);
  await app.register(plugin, {
    openapi: { openapi: '3.1.0', servers: [{ url: '/' }], ...document },
    hideUntagged: true,
    transform(route) {
      const made = toJson(route);
      // A hidden route has none.
      const shown = (made.schema as Described | undefined) ?? {};
      const { summary = '', description = `${summary.replace(/\.$/, '')}.` } = shown;
      Object.assign(shown, { description });
      const { response = {} } = (route.schema as FastifySchema | undefined) ?? {};
      // The transform drops the headers of an answer.
      for (const [status, { headers }] of Object.entries(response as Answers))
        Object.assign((made.schema.response as Answers)[status] ?? {}, headers && { headers });
      return made;
    },
    transformObject(given) {
      const { paths = {}, components, ...made } = toComponents(given) as OpenAPIV3_2.Document;
      const tags = [...new Set(Object.values(paths).flatMap(tagsOf))].map((name) => ({ name }));
      return { ...made, tags, paths, components: { ...components, schemas: reachable(paths, components?.schemas) } };
    },
  });
}

const tagsOf = (path: object | undefined): string[] =>
  Object.values((path ?? {}) as Record<string, { tags?: string[] }>).flatMap(({ tags = [] }) => tags);

/** An object gets further properties later, unless its schema says that it does not. */
function open({ zodSchema, jsonSchema }: Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]): void {
  if (zodSchema instanceof z.ZodObject && zodSchema.def.catchall === undefined) delete jsonSchema.additionalProperties;
}

/** The registry has schemas of other documents, and each schema twice: as what is given and as what is taken. */
function reachable(from: object, schemas: Readonly<Record<string, object>> = {}, found: Record<string, object> = {}) {
  for (const [, name = ''] of JSON.stringify(from).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    const schema = schemas[name];
    if (schema !== undefined && found[name] === undefined) reachable((found[name] = schema), schemas, found);
  }
  return found;
}

export function json(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema } } };
}
