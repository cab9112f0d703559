/** From what happened to the event that says so. With `images: false` events name records and fields, never contents. */
import { buildEvent } from '../events/envelope.js';
import type { CrmRecord } from '../crm/record.js';
import type { ChangeClass, ChangeEvent, DetectedBy, FieldChange, Verb } from '../events/types.js';
import { canonicalText } from './canonical.js';
import { digestOf } from './digest.js';
import { creationTimeOf } from './fields.js';
import type { DetectInput, Observation } from './input.js';
import type { UncheckedRecord } from '../crm/record.js';

export interface ObservedChange {
  verb: Verb;
  time: string;
  before: UncheckedRecord | null;
  changes: FieldChange[];
  class: ChangeClass;
  detectedBy: DetectedBy;
  sequence: number;
  reappeared?: true;
}

/** What there is to say of a record that nothing was known of. */
export function firstSight({
  record,
  observation,
}: Pick<DetectInput, 'record' | 'observation'>): Omit<ObservedChange, 'verb' | 'sequence'> {
  const time = instant(creationTimeOf(record)) ?? observation.observedAt;
  return { time, before: null, changes: [], class: 'edited', detectedBy: 'content' };
}

export function buildRecordEvent(input: DetectInput, happening: ObservedChange): ChangeEvent {
  const { key, record, rules, observation, images = true } = input;
  const { verb, time, before, changes, ...rest } = happening;
  return buildEvent({
    workspace: observation.workspace,
    list: rules.list,
    verb,
    recordId: key,
    time,
    contentDigest: inEpoch(digestOf(canonicalText(record, rules)), observation),
    data: {
      before: before === null || !images ? null : withId(before, key),
      after: images ? withId(record, key) : { id: key },
      changes: images ? changes : changes.map(({ field }) => ({ field, before: null, after: null })),
      ...rest,
      observedAt: observation.observedAt,
      sweep: observation.sweep,
    },
  });
}

export interface Removal {
  key: string;
  /** The last image; null when none is kept. */
  record: UncheckedRecord | null;
  sequence: number;
  mergedInto?: string | undefined;
}

/** A record that two complete sweeps no longer showed. */
export function removalEvent(
  { key, record, sequence, mergedInto }: Removal,
  { rules, observation, images = true }: Pick<DetectInput, 'rules' | 'observation' | 'images'>,
): ChangeEvent {
  return buildEvent({
    workspace: observation.workspace,
    list: rules.list,
    verb: 'deleted',
    recordId: key,
    time: observation.observedAt,
    contentDigest: inEpoch('deleted', observation),
    data: {
      before: record === null || !images ? null : withId(record, key),
      after: null,
      changes: [],
      sequence,
      class: 'edited',
      detectedBy: 'content',
      observedAt: observation.observedAt,
      sweep: observation.sweep,
      ...(mergedInto === undefined ? {} : { mergedInto }),
    },
  });
}

/** Part of an event's id. */
export function inEpoch(digest: string, { epoch }: Observation): string {
  return epoch === undefined ? digest : `${digest} ${epoch}`;
}

function withId(record: UncheckedRecord, key: string): CrmRecord {
  return 'id' in record ? (record as CrmRecord) : { id: key, ...record };
}

/** A timestamp in the form events carry, or null when the text is none. */
export function instant(text: string | null): string | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
