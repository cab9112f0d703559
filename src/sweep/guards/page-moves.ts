/** The fields that move on most rows of a page in a way that the schema does not know: only the whole list can show what that means. */
import { movingFields, type Transition } from '../../detect/schema-drift/drift.js';
import { storedValueTypes, valueTypesOf } from '../../detect/stored-record.js';
import { isDifference, unknownMoves, type MoveRules } from '../../detect/survey.js';
import { parseStored, type SeenRecord } from '../classify/classify-record.js';
import type { SerialisedRecord } from '../store.js';

export interface PageMoves {
  /** For each row that differs, in order. */
  moved: readonly (readonly Transition[])[];
  /** The fields. */
  moving: readonly string[];
}

/** @param states the stored records of the rows that differ */
export function movesOnPage(
  rows: readonly SeenRecord[],
  { differing, states }: { differing: readonly SeenRecord[]; states: readonly (SerialisedRecord | null)[] },
  known: MoveRules,
): PageMoves {
  const { rules } = known;
  const moved = differing.map(({ record }, index) => {
    const stored = parseStored(states[index] ?? null);
    if (stored === null || stored.gone !== undefined) return [];
    return unknownMoves(storedValueTypes(stored, rules), valueTypesOf(record, rules), known);
  });
  if (moved.every((moves) => moves.length === 0)) return { moved, moving: [] };
  const shown = rows.map(({ record }) => valueTypesOf(record, rules));
  return { moved, moving: movingFields({ moved, shown }, (move) => isDifference(move, rules)) };
}
