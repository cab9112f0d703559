/** Sweeps as drift sees them: rows known before, of which some gain a field. */
import { noDrift, addToDrift, type DriftTally } from '../../src/detect/schema-drift/drift.js';
import { schemaFrom, type SchemaTally } from '../../src/detect/schema-drift/schema.js';

/** A list of so many rows, of which so many have a field in a form: `{ 'string\t등급': 80 }`. */
export const listOf = (rows: number, forms: Record<string, number> = {}): SchemaTally =>
  schemaFrom([['rows', rows], ...Object.entries(forms)]);

export const appears = { field: '출처', from: 'absent', to: 'string' };

/** A sweep over `rows` known rows of which those that `moves` names gain the field 출처. */
export function swept(
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
