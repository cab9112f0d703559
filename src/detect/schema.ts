/** The schema of a list as its rows show it: which fields there are, in which forms, on how many rows. */
import { ABSENT } from './form.js';

export interface SchemaTally {
  rows: number;
  /** Field → form → rows. */
  fields: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** What a write does to the tally: `<form>\t<field>` → rows more or fewer; the rows themselves under `rows`. */
export type SchemaDelta = Map<string, number>;
export const ROWS = 'rows';

type Forms = ReadonlyMap<string, string>;

/** Adds to `delta` the way from one look of a record (null: not there) to another. */
export function addToDelta(delta: SchemaDelta, before: Forms | null, after: Forms | null): void {
  const add = (name: string, by: number): void => {
    const sum = (delta.get(name) ?? 0) + by;
    if (sum === 0) delta.delete(name);
    else delta.set(name, sum);
  };
  for (const [field, form] of before ?? []) if (after?.get(field) !== form) add(`${form}\t${field}`, -1);
  for (const [field, form] of after ?? []) if (before?.get(field) !== form) add(`${form}\t${field}`, 1);
  add(ROWS, (after === null ? 0 : 1) - (before === null ? 0 : 1));
}

/** The tally from its counters, as they are stored. */
export function schemaFrom(counters: Iterable<readonly [name: string, rows: number]>): SchemaTally {
  const fields = new Map<string, Map<string, number>>();
  let rows = 0;
  for (const [name, count] of counters) {
    if (name === ROWS) rows = count;
    const cut = name.indexOf('\t');
    if (cut === -1 || count <= 0) continue;
    const field = name.slice(cut + 1);
    const forms = fields.get(field) ?? new Map<string, number>();
    fields.set(field, forms.set(name.slice(0, cut), count));
  }
  return { rows, fields };
}

/** The forms of one field and how many rows have each, those without the key among them. */
export function formsOfField(schema: SchemaTally, field: string): Record<string, number> {
  const forms = Object.fromEntries(schema.fields.get(field) ?? []);
  const present = Object.values(forms).reduce((sum, rows) => sum + rows, 0);
  const absent = schema.rows - present;
  return absent > 0 ? { ...forms, [ABSENT]: absent } : forms;
}

/** A schema as data for people: fields by name, forms by frequency. */
export interface ListSchema {
  rows: number;
  fields: { field: string; share: number; forms: { form: string; rows: number }[] }[];
}

export function listSchema({ rows, fields }: SchemaTally): ListSchema {
  const described = [...fields].map(([field, forms]) => {
    const sorted = [...forms].map(([form, count]) => ({ form, rows: count })).sort((a, b) => b.rows - a.rows);
    const present = sorted.reduce((sum, one) => sum + one.rows, 0);
    return { field, share: rows === 0 ? 0 : present / rows, forms: sorted };
  });
  return { rows, fields: described.sort((a, b) => (a.field < b.field ? -1 : 1)) };
}
