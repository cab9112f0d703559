/** One record that differs from what is remembered: an event, a wait, or silence; and what is to be remembered of it. */
import type { UncheckedRecord } from '../crm/record.js';
import { detect, type DetectInput, type Detection } from '../detect/detect.js';
import { followers, isUnusual, tallied, transitions, type DriftTally, type Transition } from '../detect/drift.js';
import { ageOf } from '../detect/age.js';
import { modifiedAtOf } from '../detect/fields.js';
import { isEmptyValueType } from '../detect/form.js';
import { storedValueTypes, valueTypesOf, storedModifiedAt, type StoredRecord } from '../detect/known.js';
import { remember } from '../detect/remember.js';
import { watchTodo } from '../detect/watch.js';
import { withoutFields, type Rules } from '../detect/rules.js';
import { addToDelta, type SchemaDelta } from '../detect/schema.js';
import { workedOut } from '../detect/worked-out.js';
import type { CountedKind } from './counts.js';
import type { JudgeOptions } from './judging.js';
import type { SweptRecordState, RecordWrite } from './store.js';

export interface SeenRecord {
  key: string;
  record: UncheckedRecord;
  text: string;
  digest: string;
}

export interface JudgeRecordOptions extends Omit<JudgeOptions, 'records' | 'checkpoint' | 'guard' | 'ended'> {
  drift: DriftTally;
  /** Seen before in this sweep. */
  again: boolean;
  /** New records are neither stored nor reported. */
  withholds: boolean;
  /** Added to. */
  schemaDelta: SchemaDelta;
}

export interface JudgedRecord {
  kind: CountedKind;
  drift: DriftTally;
  write: RecordWrite | null;
  mutedBy?: string | undefined;
}

export function judgeRecord(
  seen: SeenRecord,
  state: SweptRecordState | null,
  options: JudgeRecordOptions,
): JudgedRecord {
  const { rules, again, memory, baseline } = options;
  const known = state === null ? null : knownRecord(state);
  const moved = known === null || known.gone !== undefined || baseline !== null ? [] : movedFields(known, seen, rules);
  const quiet = followers(moved, options.past);
  const input = inputOf(seen, known, options);
  const detection = detect({ ...input, rules: withoutFields(rules, quiet) });
  if (options.withholds && detection.kind === 'created')
    return { kind: 'withheld', drift: options.drift, write: stillCertain(seen.key, state) };
  // Of a field that is not tracked nobody knows how many rows have it.
  const unusual = moved.filter(
    (one) => !quiet.has(one.field) && memory.tracked.admits(one.field) && isUnusual(one, memory.schema, options.drift),
  );
  // A schema that goes back to what it was shows contents seen before, on all rows: that is for the end of the sweep to say.
  const isDoubted = detection.kind === 'stale' && (isOlder(input) || !canWait(unusual, options));
  if (isDoubted) return { kind: 'stale', drift: options.drift, write: writeOf(seen, state, input, detection) };

  const counts = !again && known !== null;
  const drift = counts ? tallied(options.drift, unusual, memory.schema) : options.drift;
  if (isChange(detection) && canWait(unusual, options)) return { kind: 'quarantined', drift, write: null };
  addToDelta(options.schemaDelta, countedForms(state, known, rules), valueTypesOf(seen.record, rules), memory.tracked);
  const mutedBy = 'mutedBy' in detection ? detection.mutedBy : undefined;
  return { kind: detection.kind, drift, write: writeOf(seen, state, input, detection), mutedBy };
}

/** A record that came back, and is believed by now: were the doubt forgotten, it would begin again with every sweep that withholds. */
function stillCertain(key: string, state: SweptRecordState | null): RecordWrite | null {
  if (state?.doubt === undefined || state.doubt.certain === true) return null;
  return { key, state: { ...state, doubt: { ...state.doubt, certain: true } }, event: null };
}

function isChange({ kind }: Detection): boolean {
  return kind === 'edited' || kind === 'refreshed' || kind === 'stale';
}

function isOlder({ record, known, observation }: DetectInput): boolean {
  if (known === null || observation.lagging === true) return true;
  return ageOf(modifiedAtOf(record), storedModifiedAt(known)) === 'older';
}

/** A change that may be the schema's rather than the record's own. */
function canWait(
  unusual: readonly Transition[],
  { rules, images }: Pick<JudgeRecordOptions, 'rules' | 'images'>,
): boolean {
  // Without images there is nothing to wait in: what waits would be people's data.
  if (!rules.collapse || !images) return false;
  return unusual.some(({ from, to }) => !rules.nullIsAbsent || !(isEmptyValueType(from) && isEmptyValueType(to)));
}

function movedFields(known: StoredRecord, { record }: SeenRecord, rules: Rules): Transition[] {
  const moved = transitions(storedValueTypes(known, rules), valueTypesOf(record, rules));
  return moved.filter(({ field }) => rules.compares(field));
}

export function inputOf(
  { key, record }: SeenRecord,
  known: StoredRecord | null,
  { baseline, rules, observation, images }: Pick<JudgeOptions, 'baseline' | 'rules' | 'observation' | 'images'>,
): DetectInput {
  return { key, record, known, baseline, rules, observation, images };
}

/** What is to be written after a decision; null when there is nothing new to remember. */
export function writeOf(
  { key, text, digest }: SeenRecord,
  state: SweptRecordState | null,
  input: DetectInput,
  detection: Detection,
): RecordWrite | null {
  const next = remember(input, detection);
  if (next === null) return null;
  const { record: _, ...memory } = next;
  // A suspect answer leaves the image we trust in its place.
  if (detection.kind === 'stale' && state !== null) {
    return { key, state: { ...memory, digest: state.digest, image: state.image }, event: null };
  }
  const { derived, timers, since } = watchTodo(input, detection);
  const watched = since === undefined ? memory : { ...memory, dueSince: since };
  const written = { ...watched, digest, image: next.record === null ? null : text };
  return { key, state: written, event: detection.event, derived, timers };
}

/** The forms that the tally of the schema holds for a record. */
export function countedForms(
  state: SweptRecordState | null,
  known: StoredRecord | null,
  rules: Rules,
): ReadonlyMap<string, string> | null {
  if (state === null || known === null || known.gone !== undefined || state.counted === false) return null;
  return storedValueTypes(known, rules);
}

export function knownRecord(state: SweptRecordState): StoredRecord {
  return workedOut(loaded, state, () => {
    const { digest: _, counted: _counted, image, ...memory } = state;
    return { ...memory, record: image === null ? null : (JSON.parse(image) as UncheckedRecord) };
  });
}

const loaded = new WeakMap<SweptRecordState, StoredRecord>();
