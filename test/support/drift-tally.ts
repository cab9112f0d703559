/** Tallies of schema drift for sweeps in which some stored rows gain a field. */
import { noDrift, addToDrift, type DriftTally } from '../../src/detect/schema-drift/drift.js';
import { schemaFrom, type SchemaTally } from '../../src/detect/schema-drift/schema.js';

/** A list of `rows` rows. `forms` counts the rows per value type and field: `{ 'string\t등급': 80 }`. */
export const listOf = (rows: number, forms: Record<string, number> = {}): SchemaTally =>
  schemaFrom([['rows', rows], ...Object.entries(forms)]);

export const appears = { field: '출처', from: 'absent', to: 'string' };

/** A sweep over `rows` stored rows, of which those selected by `moves` gain the field 출처. */
export function driftTally(
  rows: number,
  moves: (row: number) => boolean,
  given: { schema?: SchemaTally; drift?: DriftTally } = {},
) {
  const { schema = listOf(rows), drift = noDrift() } = given;
  return Array.from({ length: rows }, (_, row) => row).reduce(
    (tally, row) => addToDrift(tally, moves(row) ? [appears] : [], schema),
    drift,
  );
}
