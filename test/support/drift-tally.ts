/** How a field moved in the rows of a list. */
import type { FieldMoves } from '../../src/feed/detect/schema-drift/drift.js';
import { schemaFrom, type SchemaTally } from '../../src/feed/detect/schema-drift/schema.js';

/** A list of `rows` rows. `forms` counts the rows per value type and field: `{ 'string\t등급': 80 }`. */
export const listOf = (rows: number, forms: Record<string, number> = {}): SchemaTally =>
  schemaFrom([['rows', rows], ...Object.entries(forms)]);

export const appears = { field: '출처', from: 'absent', to: 'string' };

export function fieldMoves(
  valueTypes: Record<string, number>,
  moved: readonly (readonly [from: string, to: string, rows: number])[],
): FieldMoves {
  const moves: Record<string, Record<string, number>> = {};
  for (const [from, to, rows] of moved) moves[from] = { ...moves[from], [to]: rows };
  return { moved: moved.reduce((sum, [, , rows]) => sum + rows, 0), moves, valueTypes };
}
