/** Classifies one record that differs from its stored record: event, quarantine or nothing, and what is stored. */
import type { UnreadableRecord } from '../api/unreadable.js';
import type { UncheckedRecord } from '../crm/record.js';
import { ageOf } from '../detect/age.js';
import type { CreationGuard } from '../detect/creation.js';
import type { Observation } from '../detect/build-event.js';
import { detect, recordAfter, type Baseline, type Detection, type DetectInput } from '../detect/detect.js';
import { modifiedAtOf } from '../detect/fields.js';
import { memoized } from '../detect/memoized.js';
import { withoutFields, type Rules } from '../detect/rules.js';
import {
  addToDrift,
  fieldsFollowingDrift,
  isUnusual,
  transitions,
  type DriftTally,
  type PastDrift,
  type Transition,
} from '../detect/schema-drift/drift.js';
import { addToDelta, type SchemaDelta } from '../detect/schema-drift/schema.js';
import { isEmptyValueType } from '../detect/schema-drift/value-type.js';
import { storedModifiedAt, storedValueTypes, valueTypesOf, type StoredRecord } from '../detect/stored-record.js';
import { watchTodo } from '../detect/watch-todo.js';
import type { CountedKind } from './counts.js';
import type { SweepMemory } from './start-sweep.js';
import type { Checkpoint, RecordWrite, SerialisedRecord } from './store.js';

export interface SeenRecord {
  key: string;
  record: UncheckedRecord;
  /** Of its text. The text itself is made again where it is needed: those of a whole page may take as much memory as the page. */
  characters: number;
  digest: string;
}

/** A page and everything its records are classified by. */
export interface ClassifyOptions {
  records: readonly UncheckedRecord[];
  /** Further records of the page, which cannot be read. What is stored about them stays, and they are not missing. */
  unreadable: readonly UnreadableRecord[];
  checkpoint: Checkpoint;
  memory: SweepMemory;
  rules: Rules;
  images: boolean;
  baseline: Baseline | null;
  past: readonly PastDrift[];
  /** Null: new records are not guarded, as in a baseline. */
  guard: CreationGuard | null;
  /** The list ends with this page. */
  ended: boolean;
  observation: Observation;
  /** Records committed by one script. @defaultValue RECORDS_PER_PART */
  recordsPerPart?: number | undefined;
}

export interface ClassifyRecordOptions extends Omit<
  ClassifyOptions,
  'records' | 'unreadable' | 'checkpoint' | 'guard' | 'ended'
> {
  drift: DriftTally;
  /** Seen before in this sweep. */
  again: boolean;
  /** New records are neither stored nor reported. */
  withholds: boolean;
  /** Changed in place. */
  schemaDelta: SchemaDelta;
}

export interface ClassifiedRecord {
  kind: CountedKind;
  drift: DriftTally;
  write: RecordWrite | null;
  mutedBy?: string | undefined;
}

export function classifyRecord(
  seen: SeenRecord,
  serialised: SerialisedRecord | null,
  options: ClassifyRecordOptions,
): ClassifiedRecord {
  const { rules, again, memory } = options;
  const stored = parseStored(serialised);
  const { silent, unusual } = movesOf(seen, stored, options);
  const input = detectInput(seen, stored, options);
  const detection = detect({ ...input, rules: withoutFields(rules, silent) });
  if (options.withholds && detection.kind === 'created')
    return { kind: 'withheld', drift: options.drift, write: certainDoubt(seen.key, serialised) };
  // When a schema change is undone, all rows show earlier contents. The end of the sweep decides about them.
  const isDoubted = detection.kind === 'stale' && (isOlder(input) || !canQuarantine(unusual, options));
  if (isDoubted) return { kind: 'stale', drift: options.drift, write: recordWrite(seen, serialised, input, detection) };

  const counts = !again && stored !== null;
  const drift = counts ? addToDrift(options.drift, unusual, memory.schema) : options.drift;
  if (isChange(detection) && canQuarantine(unusual, options)) return { kind: 'quarantined', drift, write: null };
  addToDelta(options.schemaDelta, talliedValueTypes(stored, rules), valueTypesOf(seen.record, rules), memory.tracked);
  const mutedBy = 'mutedBy' in detection ? detection.mutedBy : undefined;
  return { kind: detection.kind, drift, write: recordWrite(seen, serialised, input, detection), mutedBy };
}

/** The fields of a record that took another value type in a way that may be a change of the schema. */
export function unusualMoves(
  seen: SeenRecord,
  serialised: SerialisedRecord | null,
  options: Pick<ClassifyRecordOptions, 'rules' | 'baseline' | 'memory' | 'past' | 'drift'>,
): readonly Transition[] {
  return movesOf(seen, parseStored(serialised), options).unusual;
}

function movesOf(
  seen: SeenRecord,
  stored: StoredRecord | null,
  { rules, baseline, memory, past, drift }: Parameters<typeof unusualMoves>[2],
): { silent: ReadonlySet<string>; unusual: readonly Transition[] } {
  if (stored === null || stored.gone !== undefined || baseline !== null) return { silent: new Set(), unusual: [] };
  const moved = movedFields(stored, seen, rules);
  const silent = fieldsFollowingDrift(moved, past);
  // How many rows have an untracked field is not known, so its moves cannot be called unusual.
  const isCounted = ({ field }: Transition): boolean => !silent.has(field) && memory.tracked.admits(field);
  return { silent, unusual: moved.filter((one) => isCounted(one) && isUnusual(one, memory.schema, drift)) };
}

/** A withheld record that reappeared and is confirmed. Without this mark, every sweep that withholds would doubt it again. */
function certainDoubt(key: string, serialised: SerialisedRecord | null): RecordWrite | null {
  if (serialised?.doubt === undefined || serialised.doubt.certain === true) return null;
  return { key, state: { ...serialised, doubt: { ...serialised.doubt, certain: true } }, event: null };
}

function isChange({ kind }: Detection): boolean {
  return kind === 'edited' || kind === 'refreshed' || kind === 'stale';
}

function isOlder({ record, stored, rules, observation }: DetectInput): boolean {
  if (stored === null || observation.lagging === true) return true;
  return ageOf(modifiedAtOf(record, rules.list), storedModifiedAt(stored, rules.list)) === 'older';
}

/** The change may be the schema's rather than the record's own. */
function canQuarantine(
  unusual: readonly Transition[],
  { rules, images }: Pick<ClassifyRecordOptions, 'rules' | 'images'>,
): boolean {
  // With `images: false` there is no quarantine, because it would hold people's data.
  if (!rules.collapse || !images) return false;
  return unusual.some(({ from, to }) => !rules.nullIsAbsent || !(isEmptyValueType(from) && isEmptyValueType(to)));
}

function movedFields(stored: StoredRecord, { record }: SeenRecord, rules: Rules): Transition[] {
  const moved = transitions(storedValueTypes(stored, rules), valueTypesOf(record, rules));
  return moved.filter(({ field }) => rules.compares(field));
}

export function detectInput(
  { key, record }: Pick<SeenRecord, 'key' | 'record'>,
  stored: StoredRecord | null,
  { baseline, rules, observation, images }: Pick<ClassifyOptions, 'baseline' | 'rules' | 'observation' | 'images'>,
): DetectInput {
  return { key, record, stored, baseline, rules, observation, images };
}

/** What is written after a decision; null when nothing new is stored. */
export function recordWrite(
  { key, record, digest }: Pick<SeenRecord, 'key' | 'record' | 'digest'>,
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
