/**
 * Decides about one record that differs from its stored record: which event, and what is stored. Walks and shortcuts decide by the same
 * function.
 */
import type { UncheckedRecord } from '../../crm/record.js';
import type { Observation } from '../../detect/build-event.js';
import { detect, recordAfter, type Baseline, type Detection, type DetectInput } from '../../detect/detect.js';
import { memoized } from '../../detect/memoized.js';
import { withoutFields, type Rules } from '../../detect/rules.js';
import { fieldsFollowingDrift, transitions, type DriftedField } from '../../detect/schema-drift/drift.js';
import {
  isSchemaChangeUndone,
  lastDecisionAt,
  storedValueTypes,
  valueTypesOf,
  type StoredRecord,
} from '../../detect/stored-record.js';
import { watchTodo } from '../../detect/watch-todo.js';
import type { CountedKind } from '../counts.js';
import type { RecordWrite, SerialisedRecord } from '../store.js';

export interface SeenRecord {
  key: string;
  record: UncheckedRecord;
  /** Of its text. The text itself is made again where it is needed: those of a whole page may take as much memory as the page. */
  characters: number;
  digest: string;
}

/** What records are decided by. */
export interface DecideRules {
  rules: Rules;
  images: boolean;
  /** Not null while the list's first complete sweep is under way. */
  baseline: Baseline | null;
  observation: Observation;
  /** Fields that drifted: rows that make the same moves yield no event. */
  drifted: readonly DriftedField[];
}

/**
 * - `left alone`: the stored record was decided after the answer was asked for.
 * - `doubt`: the answer may come from a lagging replica. A later sweep confirms it.
 * - `same`: no compared field differs in meaning.
 */
export type DecisionOutcome = 'left alone' | 'doubt' | 'same' | 'created' | 'updated';

export interface DecidedRecord {
  outcome: DecisionOutcome;
  kind: CountedKind;
  write: RecordWrite | null;
  /** The rule that muted a change. */
  mutedBy?: string | undefined;
}

/** @param askedAtMs when the answer was asked for; null when it is certainly younger than every stored record */
export function decide(
  row: SeenRecord,
  serialised: SerialisedRecord | null,
  askedAtMs: number | null,
  context: DecideRules,
): DecidedRecord {
  const stored = parseStored(serialised);
  if (stored !== null && isDecidedSince(stored, askedAtMs, context.observation))
    return { outcome: 'left alone', kind: 'unchanged', write: null };
  const { key, record } = row;
  const { rules, images, baseline, observation } = context;
  const input: DetectInput = { key, record, stored, rules, images, baseline, observation };
  const detection = detect({ ...input, rules: withoutFields(rules, silentFields(input, context.drifted)) });
  return {
    outcome: OUTCOMES[detection.kind],
    kind: detection.kind,
    write: recordWrite(row, serialised, input, detection),
    mutedBy: 'mutedBy' in detection ? detection.mutedBy : undefined,
  };
}

/**
 * A younger decision wins. One that seems to be of the future was made by a clock that has been put back since, and counts as older: otherwise the
 * record would be left alone until the clock gets there.
 * @param askedAtMs null: the answer is certainly younger than every stored record
 */
export function isDecidedSince(
  stored: StoredRecord,
  askedAtMs: number | null,
  { observedAt }: Pick<Observation, 'observedAt'>,
): boolean {
  const decidedAtMs = Date.parse(lastDecisionAt(stored) ?? '');
  return askedAtMs !== null && decidedAtMs >= askedAtMs && decidedAtMs <= Date.parse(observedAt);
}

const OUTCOMES: Readonly<Record<Detection['kind'], DecisionOutcome>> = {
  stale: 'doubt',
  ignored: 'same',
  touched: 'same',
  baselined: 'created',
  created: 'created',
  edited: 'updated',
  refreshed: 'updated',
};

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
  { key, record, digest }: SeenRecord,
  before: SerialisedRecord | null,
  input: DetectInput,
  detection: Detection,
): RecordWrite | null {
  const next = recordAfter(input, detection);
  if (next === null) return null;
  // A doubtful answer does not replace the image.
  if (detection.kind === 'stale' && before !== null) return { key, state: serialised(next, before), event: null };
  const { derived, timers, since } = watchTodo(input, detection);
  const watched = since === undefined ? next : { ...next, dueSince: since };
  const state = serialised(watched, { digest, image: next.record === null ? null : JSON.stringify(record) });
  return { key, state, event: detection.event, derived, timers };
}

/** A stored record as it is written, with the digest and the text of its image. */
export function serialised(
  { record: _, ...rest }: StoredRecord,
  { digest, image }: Pick<SerialisedRecord, 'digest' | 'image'>,
): SerialisedRecord {
  return { ...rest, digest, image };
}

/** The value types that the schema tally holds for a record. */
export function talliedValueTypes(stored: StoredRecord | null, rules: Rules): ReadonlyMap<string, string> | null {
  return stored === null || stored.gone !== undefined ? null : storedValueTypes(stored, rules);
}

export function parseStored(state: SerialisedRecord): StoredRecord;
export function parseStored(state: SerialisedRecord | null): StoredRecord | null;
export function parseStored(state: SerialisedRecord | null): StoredRecord | null {
  if (state === null) return null;
  return memoized(parsed, state, () => {
    const { digest: _, image, ...rest } = state;
    return { ...rest, record: image === null ? null : (JSON.parse(image) as UncheckedRecord) };
  });
}

const parsed = new WeakMap<SerialisedRecord, StoredRecord>();
