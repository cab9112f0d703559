/** The schema of a list as a TypeScript interface. */
import { keysOfValueType } from '../feed/detect/schema-drift/schema.js';
import type { ListSchema } from '../feed/detect/schema-drift/schema.js';
import { descriptorOf, LIST_NAMES, nameOf as nameOfList, type ListRef } from '../crm/lists/lists.js';
import { escapeInvisible } from '../kit/printable.js';

/** One interface, named as the list's records are in event types. It compiles for any names of fields. */
export function typesText(list: ListRef, { rows, fields }: ListSchema): string {
  const head = rows === 0 ? 'No row has been seen yet.' : `As seen on ${rows} ${rows === 1 ? 'row' : 'rows'}.`;
  const members = rows === 0 ? ['  [field: string]: unknown;'] : fields.flatMap(memberLines);
  return [`/** ${head} */`, `export interface ${nameOf(list)} {`, ...members, '}'].join('\n');
}

export interface SeenList {
  list: ListRef;
  schema: ListSchema;
}

export function typesFile(seen: readonly SeenList[]): string {
  // The events of a further list have the type that `defineList` is given.
  const typed = seen.filter(
    ({ list, schema }) => schema.rows > 0 && LIST_NAMES.some((name) => name === nameOfList(list)),
  );
  const members = typed.map(({ list }) => `    ${descriptorOf(list).object}: ${nameOf(list)};`);
  const augmentation = [`declare module 'crm-changefeed' {`, '  interface CrmRecords {', ...members, '  }', '}'];
  return [
    '/** Written by `changefeed schema --types`: the records as they have been seen. With this file, events have these types. */',
    ...(members.length === 0 ? [] : ["import 'crm-changefeed';"]),
    ...seen.map(({ list, schema }) => `\n${typesText(list, schema)}`),
    ...(members.length === 0 ? [] : ['', ...augmentation]),
  ].join('\n');
}

function nameOf(list: ListRef): string {
  return descriptorOf(list).object.replace(/(^|_)([a-z])/g, (_match, _gap, letter: string) => letter.toUpperCase());
}

function memberLines({ field, share, forms }: ListSchema['fields'][number]): string[] {
  const remarks = [
    ...(share < 1 ? [`On ${percent(share)} of the rows.`] : []),
    ...(forms.some(({ form }) => form.includes('timestamp')) ? ['ISO 8601.'] : []),
    ...(forms.every(({ form }) => form === 'null') ? ['Always null so far.'] : []),
  ];
  const member = `  ${nameText(field)}${share < 1 ? '?' : ''}: ${unionOf(forms.map(({ form }) => form))};`;
  return remarks.length === 0 ? [member] : [`  /** ${remarks.join(' ')} */`, member];
}

/** Never "0 %" for a field that was seen, nor "100 %" for a field that is missing on some rows. */
function percent(share: number): string {
  const rounded = Math.round(share * 1_000) / 10;
  if (rounded === 0) return 'less than 0.1 %';
  return rounded === 100 ? 'more than 99.9 %' : `${rounded} %`;
}

/** A name that is not an identifier is quoted, with nothing invisible in it; reserved words are allowed. */
function nameText(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : escapeInvisible(JSON.stringify(name));
}

/** The most frequent first, null last. A field that was always null has an unknown type. */
function unionOf(forms: readonly string[]): string {
  const isList = forms.some((form) => form.startsWith('list'));
  const telling = forms.filter((form) => form !== 'null' && !(form === 'empty list' && isList));
  if (telling.length === 0) return 'unknown';
  return [...new Set([...telling.map(typeOf), ...(forms.includes('null') ? ['null'] : [])])].join(' | ');
}

function typeOf(form: string): string {
  if (form.startsWith('timestamp')) return 'string';
  if (form === 'list' || form === 'empty list') return 'unknown[]';
  if (form === 'object') return 'Record<string, unknown>';
  if (form.startsWith('list of ')) return `${typeOf(form.slice('list of '.length))}[]`;
  if (!form.startsWith('{')) return form;
  const keys = keysOfValueType(form);
  if (keys.length === 0) return 'Record<string, never>';
  return `{ ${keys.map((key) => `${nameText(key)}: ${/^(_?id|name)$/.test(key) ? 'string' : 'unknown'}`).join('; ')} }`;
}
