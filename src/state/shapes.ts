/**
 * The names of fields, kept once per list instead of in every record. A *shape* is the names of a record in their order; the record
 * keeps the texts between them. All shapes of a list are one field of its records: they are lost only together with them.
 *
 * A text has a shape when it contains the names in their order, and it is put together from the same pieces. So a shape never
 * changes a text, even where a name also occurs inside a value.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { NO_RECORD, shownField } from './record-key.js';
import { readJson } from './stored.js';

/** Rows whose names differ from row to row are kept whole: shapes would take more room than they save. */
const MOST_SHAPES = 32;
const MOST_NAMES = 500;

/** Between pieces. JSON as it is stored contains no line break. */
const BREAK = '\n';

export interface Shapes {
  /** Identifies this table, to notice that Redis has another one. "" for the empty table. */
  readonly tag: string;
  readonly shapes: readonly (readonly string[])[];
}

export const NO_SHAPES: Shapes = { tag: '', shapes: [] };

const stored = z.tuple([z.string()]).rest(z.array(z.string()));

export function packShapes({ tag, shapes }: Shapes): string {
  return shapes.length === 0 ? '' : JSON.stringify([tag, ...shapes]);
}

export function unpackShapes(json: string | null, hash: string): Shapes {
  if (json === null) return NO_SHAPES;
  const remedy = `Restore Redis from a backup, or remove all records of the list (DEL ${hash}): the next sweep then takes a new baseline.`;
  const at = { key: hash, field: shownField(NO_RECORD), what: 'the field names of records', remedy };
  const [tag, ...shapes] = readJson<z.infer<typeof stored>>(stored, json, at);
  return { tag, shapes };
}

/** With the shape of these names; the same table when it is there already, or no further one is kept. */
export function learnShape(known: Shapes, names: readonly string[]): Shapes {
  if (names.length < 2 || names.length > MOST_NAMES || known.shapes.length >= MOST_SHAPES) return known;
  if (known.shapes.some((shape) => shape.length === names.length && shape.every((name, at) => name === names[at])))
    return known;
  const shapes = [...known.shapes, names];
  return { tag: known.tag === '' ? randomBytes(4).toString('hex') : known.tag, shapes };
}

/** The shape with the most names that a text has, and the pieces between the names; null when it has none. */
export function withoutNames({ shapes }: Shapes, text: string): { shape: number; pieces: string } | null {
  if (text.includes(BREAK)) return null;
  let found: { shape: number; pieces: string } | null = null;
  for (const [shape, names] of shapes.entries()) {
    if (found !== null && names.length <= (shapes[found.shape] ?? []).length) continue;
    const pieces = piecesOf(separatorsOf(names), text);
    if (pieces !== null) found = { shape, pieces };
  }
  return found;
}

/** The text with its names; null where there is no such shape. */
export function withNames({ shapes }: Shapes, shape: number, pieces: string): string | null {
  const names = shapes[shape];
  if (names === undefined) return null;
  const separators = separatorsOf(names);
  const between = pieces.split(BREAK);
  if (between.length !== separators.length) return null;
  return `${separators.map((separator, at) => `${separator}${between[at]}`).join('')}}`;
}

function piecesOf(separators: readonly string[], text: string): string | null {
  const [first = ''] = separators;
  if (!text.startsWith(first) || !text.endsWith('}')) return null;
  const pieces: string[] = [];
  let from = first.length;
  for (const separator of separators.slice(1)) {
    const at = text.indexOf(separator, from);
    if (at === -1) return null;
    pieces.push(text.slice(from, at));
    from = at + separator.length;
  }
  return [...pieces, text.slice(from, -1)].join(BREAK);
}

const separatorsCache = new WeakMap<readonly string[], readonly string[]>();

function separatorsOf(names: readonly string[]): readonly string[] {
  const cached = separatorsCache.get(names);
  if (cached !== undefined) return cached;
  const separators = names.map((name, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  separatorsCache.set(names, separators);
  return separators;
}
