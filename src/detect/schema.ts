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

/**
 * Distinct field names tracked per list. A list that has more uses people's data as keys: its tally would grow with every
 * record. A lower limit would leave out fields of a real list, which have been seen to number a few hundred.
 */
export const MOST_FIELDS = 2_000;

/** The field names of a list's tally, and room for new ones up to the limit. First come, first tracked. */
export class TrackedFields {
  readonly #names: Set<string>;
  readonly #hadRoom: boolean;
  #refused = false;
  #reported = false;

  constructor({ fields }: Pick<SchemaTally, 'fields'>) {
    this.#names = new Set(fields.keys());
    this.#hadRoom = this.#names.size < MOST_FIELDS;
  }

  has(field: string): boolean {
    return this.#names.has(field);
  }

  /** True for a tracked field, and for a new one while there is room, which is tracked from then on. */
  admits(field: string): boolean {
    if (this.#names.has(field)) return true;
    if (this.#names.size >= MOST_FIELDS) {
      this.#refused = true;
      return false;
    }
    this.#names.add(field);
    return true;
  }

  /** True once: when a field is refused for the first time and none was refused before. */
  justFilled(): boolean {
    if (!this.#hadRoom || !this.#refused || this.#reported) return false;
    this.#reported = true;
    return true;
  }
}

type Forms = ReadonlyMap<string, string>;

/** Adds to `delta` the way from one look of a record (null: not there) to another. Fields that are not tracked are left out. */
export function addToDelta(
  delta: SchemaDelta,
  before: Forms | null,
  after: Forms | null,
  tracked: TrackedFields,
): void {
  const add = (name: string, by: number): void => {
    const sum = (delta.get(name) ?? 0) + by;
    if (sum === 0) delta.delete(name);
    else delta.set(name, sum);
  };
  for (const [field, form] of before ?? [])
    if (after?.get(field) !== form && tracked.has(field)) add(`${form}\t${field}`, -1);
  for (const [field, form] of after ?? [])
    if (before?.get(field) !== form && tracked.admits(field)) add(`${form}\t${field}`, 1);
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
