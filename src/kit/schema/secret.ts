/** Which options may be shown: they are marked where they are declared, so that no list of names can lack one. */
import { z } from 'zod';

/** `address`: shown if it looks like one, without user, password and query. */
export type Visibility = 'shown' | 'address' | 'hidden';

const MARKS = z.registry<{ visibility: Visibility }>();

/** Marks an option as secret: no message shows its value, whatever is wrong with it. */
export function secret<Schema extends z.ZodType>(schema: Schema): Schema {
  MARKS.add(schema, { visibility: 'hidden' });
  return schema;
}

/** Marks an address that is no secret, unless a token was written into its place. */
export function address<Schema extends z.ZodType>(schema: Schema): Schema {
  MARKS.add(schema, { visibility: 'address' });
  return schema;
}

/** An object that holds a secret is hidden like it: people write the secret in its place (`redis: 'redis://…'`). */
export function visibilityAt(schema: z.ZodType, path: readonly PropertyKey[]): Visibility {
  let at = layers(schema);
  for (const step of path) {
    if (markOf(at) === 'hidden') return 'hidden';
    at = at.flatMap((one) => inner(one, step)).flatMap(layers);
  }
  return at.some(holdsSecret) ? 'hidden' : markOf(at);
}

export function markOf(at: readonly z.core.$ZodType[]): Visibility {
  return at.map((one) => MARKS.get(one)?.visibility).find((mark) => mark !== undefined) ?? 'shown';
}

export function holdsSecret(schema: z.core.$ZodType): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return def.type === 'object' && Object.values(def.shape).some((option) => markOf(layers(option)) === 'hidden');
}

function inner(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'array') return [def.element];
  if (def.type === 'record') return [def.valueType];
  if (def.type !== 'object' || !Object.hasOwn(def.shape, step)) return [];
  const option = def.shape[String(step)];
  return option === undefined ? [] : [option];
}

/** The schema with all that it wraps: defaults, transformations, alternatives. */
export function layers(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'union') return [schema, ...def.options.flatMap(layers)];
  if (def.type === 'pipe') return [schema, ...layers(def.in), ...layers(def.out)];
  return 'innerType' in def ? [schema, ...layers(def.innerType)] : [schema];
}

/** The text as it may be shown; undefined when it may not. */
export function showable(text: string, visibility: Visibility): string | undefined {
  if (visibility === 'hidden' || text.includes('whsec_')) return undefined;
  if (visibility === 'address' && !/^[a-z][a-z0-9+.-]*:\/\/|^[\w-]+(\.[\w-]+)+(?=[:/]|$)/i.test(text)) return undefined;
  const shown = withoutCredentials(text);
  return shown !== '' && shown.length <= LONGEST ? shown : undefined;
}

const LONGEST = 64;

/** An address without user, password, query and fragment, which may hold keys. */
function withoutCredentials(text: string): string {
  if (!text.includes('://')) return text;
  return text.replace(/[?#].*$/s, '?…').replace(/:\/\/.*@/s, '://…@');
}
