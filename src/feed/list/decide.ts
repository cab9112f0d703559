/** Decides about one record that differs from its stored record: which event, and what is stored. */
import type { FieldChange } from '../../crm/canonical.js';
import { detect, recordAfter, type Detection, type DetectInput } from '../detect/detect.js';
import type { AnswerTime } from '../detect/left-alone.js';
import { withoutFields } from '../detect/rules.js';
import { fieldsFollowingDrift, type DriftedField } from '../detect/schema-drift/drift.js';
import { isStored } from '../detect/record-state.js';
import { isSchemaChangeUndone } from '../detect/stored-record.js';
import { undoOf } from '../detect/undo.js';
import type { Verdict } from '../detect/survey.js';
import { watchTodo, type Watched } from '../detect/watch-todo.js';
import { serialised, type DifferingRecord } from './records.js';
import type { CountedKind, RecordWrite } from '../store/sweep-state.js';

export interface DecideRules extends AnswerTime {
  /** Fields that drifted: rows that make the same moves yield no event. */
  drifted: readonly DriftedField[];
  verdict: Verdict;
  /** How many snapshots of the list were begun. 0 also where no record of the page was discarded. */
  snapshots: number;
}

export interface DecidedRecord {
  /** `touched`, `ignored`: no compared field differs in meaning. */
  kind: CountedKind;
  write: RecordWrite | null;
  mutedBy?: string | undefined;
}

export function decide(row: DifferingRecord, context: DecideRules): DecidedRecord {
  const { key, record, stored } = row;
  const { rules, baseline, observation, verdict, snapshots } = context;
  const input: DetectInput = { key, record, stored, rules, baseline, observation, snapshots };
  const detected = detect({ ...input, rules: withoutFields(rules, silentFields(row, input, context.drifted)) });
  // Neither stored nor emitted until a person accepts them.
  if (detected.kind === 'created' && verdict.heldSince !== null) return { kind: 'held', write: null };
  // Receivers that were told of it once would go on without it, or with what it was then.
  const isReported = (stored?.sequence ?? 0) > 0;
  const isQuiet = detected.kind === 'created' && verdict.quiet === true && !isReported;
  const detection: Detection = isQuiet ? { kind: 'baselined', sequence: 0, event: null, isDiscarded: true } : detected;
  // Fields that moved with the schema are none of its changes.
  const changes = context.drifted.length === 0 ? detection.event?.data.changes : undefined;
  return {
    kind: detection.kind,
    write: recordWrite(row, input, { detection, changes }),
    mutedBy: 'mutedBy' in detection ? detection.mutedBy : undefined,
  };
}

/** Fields that moved with the schema of the list. */
function silentFields(
  { moves }: DifferingRecord,
  { record, stored, rules, baseline }: DetectInput,
  drifted: readonly DriftedField[],
): ReadonlySet<string> {
  if (drifted.length === 0 || !isStored(stored) || baseline !== null) return new Set();
  // A key that comes back with values on few rows must not look like an edit of these rows.
  if (isSchemaChangeUndone(stored, record, rules)) return new Set(drifted.map(({ field }) => field));
  return fieldsFollowingDrift(moves, drifted);
}

const NOT_WATCHED: Watched = { derived: [], timers: [] };

function recordWrite(
  { key, record, digest }: DifferingRecord,
  input: DetectInput,
  { detection, changes }: { detection: Detection; changes: readonly FieldChange[] | undefined },
): RecordWrite {
  const { stored, rules, observation } = input;
  const next = recordAfter(input, detection);
  const { derived, timers, since } = rules.list.name === 'todo' ? watchTodo(input, detection) : NOT_WATCHED;
  const watched = since === undefined ? next : { ...next, dueSince: since };
  const state = serialised(watched, { digest, image: JSON.stringify(record) });
  const undo = undoOf({ stored, after: next, rules, changes });
  const past = undo === null ? {} : { past: { at: observation.observedAt, undo } };
  return { key, state, event: detection.event, derived, timers, ...past };
}
