/** A list's schema as TypeScript: a workspace's own fields are its own, and its code should know them. */
import type { ListSchema } from '../app.js';
import { OBJECT_OF, type ListName } from '../events/lists.js';

export function typesText(list: ListName, { rows, fields }: ListSchema): string {
  const members = fields.map(({ field, share, forms }) => {
    const optional = share < 1 ? '?' : '';
    const types = [...new Set(forms.map(({ form }) => typeOf(form)))];
    return `  ${JSON.stringify(field)}${optional}: ${types.join(' | ')};`;
  });
  return [`/** As seen on ${rows} rows. */`, `export interface ${nameOf(list)} {`, ...members, '}'].join('\n');
}

function nameOf(list: ListName): string {
  return OBJECT_OF[list].replace(/(^|_)([a-z])/g, (_match, _gap, letter: string) => letter.toUpperCase());
}

/** Forms are said in `detect/form.ts`. */
function typeOf(form: string): string {
  if (form === 'timestamp') return 'string';
  if (form === 'empty list') return 'never[]';
  if (form === 'list') return 'unknown[]';
  if (form === 'object') return 'Record<string, unknown>';
  if (form.startsWith('list of ')) return `(${typeOf(form.slice('list of '.length))})[]`;
  if (!form.startsWith('{')) return form;
  const keys = form
    .slice(1, -1)
    .split(', ')
    .filter((key) => key !== '');
  return `{ ${keys.map((key) => `${JSON.stringify(key)}: ${key === 'id' || key === '_id' || key === 'name' ? 'string' : 'unknown'}`).join('; ')} }`;
}
