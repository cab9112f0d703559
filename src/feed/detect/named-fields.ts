/** The fields that options of a list name, and which of these no row has: a misspelled mask hides nothing. Pure. */
import { z } from 'zod';
import { fieldsOf } from '../../crm/known-fields.js';
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import { compilePattern } from '../../events/pattern.js';

const OPTIONS = ['mask', 'ignore', 'only', 'refreshed'] as const;

export const namedFieldSchema = z.object({ option: z.enum(OPTIONS), pattern: z.string() });
export type NamedField = z.infer<typeof namedFieldSchema>;

export interface NamingOptions {
  mask?: Readonly<Record<string, unknown>> | undefined;
  ignore?: readonly string[] | undefined;
  only?: readonly string[] | undefined;
  refreshed?: readonly string[] | undefined;
}

export function namedFields(options: NamingOptions): NamedField[] {
  return OPTIONS.flatMap((option) => {
    const given = options[option] ?? [];
    const patterns: readonly unknown[] = Array.isArray(given) ? given : Object.keys(given);
    // The schema refuses anything else than a text.
    return patterns.flatMap((pattern) => (typeof pattern === 'string' ? [{ option, pattern }] : []));
  });
}

/** @param fields of the rows, by their names in the interface or as the rows spell them */
export function unmatched(
  named: readonly NamedField[],
  { spellings }: Pick<ListDescriptor, 'spellings'>,
  fields: Iterable<string>,
): NamedField[] {
  if (named.length === 0) return [];
  const names = [...fields].map((field) => field.normalize('NFC'));
  const spelled = names.flatMap((name) => [name, Object.hasOwn(spellings, name) ? (spellings[name] ?? name) : name]);
  return named.filter(({ pattern }) => !spelled.some(compilePattern(pattern.normalize('NFC'))));
}

/** The known field, with an id and a name, into which a pattern leads: options name whole fields. */
export function referenceIn(pattern: string, list: string): string | null {
  const known = fieldsOf(list).filter(({ type }) => type === 'ref' || type === 'refs');
  return known.find(({ name }) => pattern.normalize('NFC').startsWith(`${name}.`))?.name ?? null;
}
