/** What is remembered of a record after a decision about it; null when there is nothing new to remember. */
import { textOf } from './canonical.js';
import type { Detection } from './detect.js';
import { modifiedAtOf } from './fields.js';
import type { DetectInput } from './input.js';
import {
  bothSides,
  contentOf,
  earlierWith,
  fingerprintsOf,
  withDecision,
  type StoredRecord,
  type Decision,
} from './known.js';
import type { Rules } from './rules.js';

export function remember(input: DetectInput, detection: Detection): StoredRecord | null {
  const { known, rules } = input;
  const trail = trailAfter(input, detection);
  if (detection.kind === 'stale') {
    if (known === null || detection.doubt === undefined) return null;
    return { ...known, doubt: detection.doubt, ...trail };
  }
  const earlier = known === null ? undefined : earlierAfter(input, known, rules);
  return { sequence: detection.sequence, ...imageOf(input), ...(earlier === undefined ? {} : { earlier }), ...trail };
}

/** A record that was reported as deleted: its content goes, what is needed to know it again stays. */
export function rememberGone(
  known: StoredRecord,
  at: Pick<Decision, 'at' | 'sweep' | 'event'>,
  rules: Rules,
): StoredRecord {
  const [before] = bothSides(known, {}, rules);
  const stamp = known.record === null ? (known.modifiedAt ?? null) : modifiedAtOf(known.record);
  return {
    sequence: known.sequence + 1,
    record: null,
    gone: { at: at.at, modifiedAt: stamp, content: contentOf(before) },
    ...(known.earlier === undefined ? {} : { earlier: known.earlier }),
    decisions: withDecision(known.decisions, { ...at, what: 'deleted' }),
  };
}

/** A record of another source, dropped without an event: its sequence alone stays. */
export function droppedRecord({ sequence }: StoredRecord, at: string): StoredRecord {
  return { sequence, record: null, gone: { at, modifiedAt: null, content: '', dropped: true } };
}

function imageOf({
  record,
  rules,
  images = true,
}: DetectInput): Pick<StoredRecord, 'record' | 'fields' | 'modifiedAt'> {
  if (images) return { record };
  return { record: null, fields: fingerprintsOf(record, rules), modifiedAt: modifiedAtOf(record) };
}

function earlierAfter(
  { record, images = true }: DetectInput,
  known: StoredRecord,
  rules: Rules,
): readonly string[] | undefined {
  // Contents are told apart in the terms they are kept in: after a switch of `images` the old digests say nothing.
  if (known.gone !== undefined) return known.earlier;
  if ((known.fields === undefined) !== images) return undefined;
  const [before, after] = bothSides(known, record, rules);
  return textOf(before) === textOf(after) ? known.earlier : earlierWith(known, contentOf(before));
}

function trailAfter({ known, observation }: DetectInput, detection: Detection): Pick<StoredRecord, 'decisions'> {
  const entry = entryOf(detection);
  if (entry === null) return known?.decisions === undefined ? {} : { decisions: known.decisions };
  const { observedAt: at, sweep } = observation;
  return { decisions: withDecision(known?.decisions, { at, sweep, ...entry }) };
}

/** Five decisions stay with a record: of one with 100,000 fields they would be larger than its image. */
const FIELDS_NAMED = 100;

function named(fields: readonly string[]): Pick<Decision, 'fields' | 'furtherFields'> {
  if (fields.length <= FIELDS_NAMED) return { fields };
  return { fields: fields.slice(0, FIELDS_NAMED), furtherFields: fields.length - FIELDS_NAMED };
}

/** Only what did something, or was kept from doing it, is worth telling. */
function entryOf(detection: Detection): Pick<Decision, 'what' | 'fields' | 'furtherFields' | 'rule' | 'event'> | null {
  const { kind, event } = detection;
  if (event !== null) {
    const what = kind === 'baselined' ? 'created' : event.data.reappeared === true ? 'reappeared' : kind;
    const fields = event.data.changes.map(({ field }) => field);
    return { what, event: event.id, ...(fields.length === 0 ? {} : named(fields)) };
  }
  if (kind === 'stale') return { what: 'stale' };
  if (kind === 'baselined' || detection.mutedBy === undefined) return null;
  return { what: kind === 'touched' ? 'touched' : 'muted', rule: detection.mutedBy };
}
