/** The events about one record that a page has shown. */
import type { CrmRecord, UncheckedRecord } from '../../crm/record.js';
import { buildEvent } from '../../events/envelope.js';
import type { Verb } from '../../events/kinds.js';
import type { ChangeClass, ChangeEvent, DetectedBy, FieldChange } from '../../events/types.js';
import { canonicalText, digestOf } from '../../crm/canonical.js';
import { eventTime } from '../../kit/iso-time.js';
import { creationTimeOf } from './fields.js';
import type { Rules } from './rules.js';

export interface Observation {
  workspace: string;
  /** The epoch of the state. @defaultValue 0 */
  epoch?: number;
  sweep: string;
  /** ISO 8601, UTC. */
  observedAt: string;
}

export interface SeenRecordInput {
  key: string;
  record: UncheckedRecord;
  rules: Rules;
  observation: Observation;
}

export interface ObservedChange {
  verb: Verb;
  time: string;
  before: UncheckedRecord | null;
  changes: readonly FieldChange[];
  class: ChangeClass;
  detectedBy: DetectedBy;
  sequence: number;
  reappeared?: true;
}

/** The common parts of events about a record that has no stored record. */
export function firstAppearance({ record, rules, observation }: SeenRecordInput) {
  const time = eventTime(creationTimeOf(record, rules.list)) ?? observation.observedAt;
  return { time, before: null, changes: [], class: 'edited', detectedBy: 'content' } as const;
}

export function buildRecordEvent(input: SeenRecordInput, change: ObservedChange): ChangeEvent {
  const { key, record, rules, observation } = input;
  const { verb, time, before, changes, ...rest } = change;
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
      changes,
      ...rest,
      observedAt: observation.observedAt,
      sweep: observation.sweep,
    },
  });
}

/** Builds an event of a baseline that emits, or of a snapshot. @param sequence the record's number of events so far */
export function snapshotEvent(input: SeenRecordInput, sequence: number): ChangeEvent {
  return buildRecordEvent(input, { verb: 'snapshot', ...firstAppearance(input), sequence });
}

export function withId(record: UncheckedRecord, key: string): CrmRecord {
  return 'id' in record ? (record as CrmRecord) : { id: key, ...record };
}
