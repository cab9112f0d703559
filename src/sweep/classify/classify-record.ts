/**
 * Decides about one record that differs from its stored record: which event, and what is stored. Walks and shortcuts decide by the same
 * function.
 */
import type { Observation } from '../../detect/build-event.js';
import { detect, recordAfter, type Baseline, type Detection, type DetectInput } from '../../detect/detect.js';
import { withoutFields, type Rules } from '../../detect/rules.js';
import { fieldsFollowingDrift, transitions, type DriftedField } from '../../detect/schema-drift/drift.js';
import { isSchemaChangeUndone, storedValueTypes, valueTypesOf, type StoredRecord } from '../../detect/stored-record.js';
import { watchTodo } from '../../detect/watch-todo.js';
import type { CountedKind } from '../counts.js';
import { serialised, type DifferingRecord } from '../records.js';
import type { RecordWrite } from '../store.js';

/** What records are decided by. */
export interface DecideRules {
  rules: Rules;
  images: boolean;
  /** Not null while the list's first complete sweep is under way. */
  baseline: Baseline | null;
  observation: Observation;
  /** When the answer was asked for; null when it is certainly younger than every stored record. */
  askedAtMs: number | null;
  /** Fields that drifted: rows that make the same moves yield no event. */
  drifted: readonly DriftedField[];
}

export interface DecidedRecord {
  /**
   * `unchanged`: left alone, because the stored record was decided after the answer was asked for. `stale`: in doubt, because the answer may
   * come from a lagging replica; a later sweep confirms it. `touched`, `ignored`: no compared field differs in meaning.
   */
  kind: CountedKind;
  write: RecordWrite | null;
  /** The rule that muted a change. */
  mutedBy?: string | undefined;
}

export function decide(row: DifferingRecord, context: DecideRules): DecidedRecord {
  const { key, record, stored } = row;
  if (stored !== null && isDecidedSince(stored, context)) return { kind: 'unchanged', write: null };
  const { rules, images, baseline, observation } = context;
  // What is not stored can be shown by its event only.
  const input: DetectInput = {
    key,
    record,
    stored,
    rules,
    images: images || rules.recognisedOnly,
    baseline,
    observation,
  };
  const detection = detect({ ...input, rules: withoutFields(rules, silentFields(input, context.drifted)) });
  return {
    kind: detection.kind,
    write: recordWrite(row, input, detection),
    mutedBy: 'mutedBy' in detection ? detection.mutedBy : undefined,
  };
}

/**
 * A younger decision wins. One that seems to be of the future was made by a clock that has been put back since, and counts as older: otherwise the
 * record would be left alone until the clock gets there.
 */
export function isDecidedSince(
  stored: StoredRecord,
  { askedAtMs, observation: { observedAt } }: Pick<DecideRules, 'askedAtMs' | 'observation'>,
): boolean {
  const decidedAtMs = Date.parse(stored.decisions?.at(-1)?.at ?? '');
  return askedAtMs !== null && decidedAtMs >= askedAtMs && decidedAtMs <= Date.parse(observedAt);
}

/** Fields that moved with the schema of the list. */
function silentFields(
  { record, stored, rules, baseline }: DetectInput,
  drifted: readonly DriftedField[],
): ReadonlySet<string> {
  if (drifted.length === 0 || stored === null || stored.gone !== undefined || baseline !== null) return new Set();
  // A key that comes back with values on few rows must not look like an edit of these rows.
  if (isSchemaChangeUndone(stored, record, rules)) return new Set(drifted.map(({ field }) => field));
  return fieldsFollowingDrift(transitions(storedValueTypes(stored, rules), valueTypesOf(record, rules)), drifted);
}

/** What is written after a decision; null when nothing new is stored. */
function recordWrite(
  { key, record, digest, state: before }: DifferingRecord,
  input: DetectInput,
  detection: Detection,
): RecordWrite | null {
  if (input.rules.recognisedOnly) return { key, state: null, event: detection.event };
  const next = recordAfter(input, detection);
  if (next === null) return null;
  // A doubtful answer does not replace the image.
  if (detection.kind === 'stale' && before !== null) return { key, state: serialised(next, before), event: null };
  const { derived, timers, since } = watchTodo(input, detection);
  const watched = since === undefined ? next : { ...next, dueSince: since };
  const state = serialised(watched, { digest, image: next.record === null ? null : JSON.stringify(record) });
  return { key, state, event: detection.event, derived, timers };
}
