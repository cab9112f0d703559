/**
 * The decision: given what is remembered of a record and what the API shows now, did anything happen to it?
 * Pure: no I/O, no clock. The image remembered always moves along, so that a rule switched off later does not report
 * what was muted before, and a rule that changes re-baselines quietly: both images are judged by the rules of today.
 */
import { buildEvent } from '../events/envelope.js';
import type { ChangeClass, ChangeEvent, CrmRecord, DetectedBy, FieldChange, Verb } from '../events/types.js';
import { canonicalFields, canonicalText } from './canonical.js';
import { diffFields } from './diff.js';
import { digestOf } from './digest.js';
import { creationTimeOf, stampOf } from './fields.js';
import type { RawValue } from './raw.js';
import type { Rules } from './rules.js';

/** What is remembered of a record. */
export interface KnownRecord {
  sequence: number;
  record: RawValue;
}

export interface Observation {
  workspace: string;
  sweep: string;
  /** ISO 8601, UTC. */
  observedAt: string;
}

export type Baseline = 'quiet' | 'emit';

export interface DetectInput {
  key: string;
  record: RawValue;
  /** Null when the record was never seen. */
  known: KnownRecord | null;
  /** Not null while the list's first complete sweep is under way. */
  baseline: Baseline | null;
  rules: Rules;
  observation: Observation;
}

/** What happened, as the word it is counted under; `sequence` is the record's count of events after it. */
export type Detection =
  | { kind: 'baselined' | 'touched' | 'ignored'; sequence: number; event: null }
  | { kind: 'created' | 'edited' | 'refreshed' | 'baselined'; sequence: number; event: ChangeEvent };

export function detect(input: DetectInput): Detection {
  const { known, baseline } = input;
  if (known === null) return baseline === null ? appeared(input, 'created') : baselined(input);
  if (baseline !== null) return { kind: 'baselined', sequence: known.sequence, event: null };
  return changed(input, known);
}

function baselined(input: DetectInput): Detection {
  if (input.baseline === 'quiet') return { kind: 'baselined', sequence: 0, event: null };
  return { ...appeared(input, 'snapshot'), kind: 'baselined' };
}

function appeared(input: DetectInput, verb: 'created' | 'snapshot'): Detection & { event: ChangeEvent } {
  const time = instant(creationTimeOf(input.record)) ?? input.observation.observedAt;
  const event = toEvent(input, {
    verb,
    time,
    before: null,
    changes: [],
    class: 'edited',
    detectedBy: 'content',
    sequence: 1,
  });
  return { kind: 'created', sequence: 1, event };
}

function changed(input: DetectInput, known: KnownRecord): Detection {
  const { record, rules } = input;
  const changes = diffFields(canonicalFields(known.record, rules), canonicalFields(record, rules));
  const stamp = stampOf(record);
  const stampMoved = stamp !== stampOf(known.record);
  if (changes.length === 0) {
    return { kind: stampMoved ? 'touched' : 'ignored', sequence: known.sequence, event: null };
  }
  const kind = changes.every(({ field }) => rules.isSystemKept(field.normalize('NFC'))) ? 'refreshed' : 'edited';
  const event = toEvent(input, {
    verb: 'updated',
    // A stamp that did not move is the time of some earlier change.
    time: (stampMoved ? instant(stamp) : null) ?? input.observation.observedAt,
    before: known.record,
    changes,
    class: kind,
    detectedBy: stampMoved ? 'both' : 'content',
    sequence: known.sequence + 1,
  });
  return { kind, sequence: known.sequence + 1, event };
}

interface Happening {
  verb: Verb;
  time: string;
  before: RawValue | null;
  changes: FieldChange[];
  class: ChangeClass;
  detectedBy: DetectedBy;
  sequence: number;
}

function toEvent({ key, record, rules, observation }: DetectInput, happening: Happening): ChangeEvent {
  const { verb, time, before, ...rest } = happening;
  return buildEvent({
    workspace: observation.workspace,
    list: rules.list,
    verb,
    recordId: key,
    time,
    contentDigest: digestOf(canonicalText(record, rules)),
    data: {
      before: before === null ? null : withId(before, key),
      after: withId(record, key),
      ...rest,
      observedAt: observation.observedAt,
      sweep: observation.sweep,
    },
  });
}

function withId(record: RawValue, key: string): CrmRecord {
  return 'id' in record ? (record as CrmRecord) : { id: key, ...record };
}

/** A timestamp in the form events carry, or null when the text is none. */
function instant(text: string | null): string | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
