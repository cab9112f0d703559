/** The fields that move on most rows of a page in a way that the schema does not know: only the whole list can show what that means. */
import { movingFields, type Transition } from '../../detect/schema-drift/drift.js';
import { storedValueTypes, valueTypesOf } from '../../detect/stored-record.js';
import { isDifference, unknownMoves, type MoveRules } from '../../detect/survey.js';
import type { DifferingRecord, SeenRecord } from '../records.js';

export interface PageMoves {
  /** For each row that differs, in order. */
  moved: readonly (readonly Transition[])[];
  /** The fields. */
  moving: readonly string[];
}

export const NO_MOVES: PageMoves = { moved: [], moving: [] };

export function movesOnPage(
  rows: readonly SeenRecord[],
  differing: readonly DifferingRecord[],
  known: MoveRules,
): PageMoves {
  const { rules } = known;
  const moved = differing.map(({ record, stored }) => {
    if (stored === null || stored.gone !== undefined) return [];
    return unknownMoves(storedValueTypes(stored, rules), valueTypesOf(record, rules), known);
  });
  if (moved.every((moves) => moves.length === 0)) return NO_MOVES;
  const shown = rows.map(({ record }) => valueTypesOf(record, rules));
  return { moved, moving: movingFields({ moved, shown }, (move) => isDifference(move, rules)) };
}
