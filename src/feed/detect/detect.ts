/**
 * Decides what an answer of the API means for one record: did something change, and what is stored? Pure: no clock.
 *
 * The stored image follows the answer also where rules mute the change, so a rule switched off later reports nothing
 * old.
 */
import type { UncheckedRecord } from '../../crm/record.js';
import { nextSequence } from '../../events/envelope.js';
import type { ChangeEvent, FieldChange } from '../../events/types.js';
import {
  buildRecordEvent,
  firstAppearance,
  snapshotEvent,
  type ObservedChange,
  type SeenRecordInput,
} from './build-event.js';
import { eventTime } from '../../kit/iso-time.js';
import { creationTimeOf, modifiedAtOf } from './fields.js';
import { SCHEMA_RULE, isEdit, withEveryField, type Rules } from './rules.js';
import {
  changesSince,
  hasNewTime,
  storedContent,
  withDecision,
  type Decision,
  type StoredRecord,
} from './stored-record.js';

/** `since`: in the first sweep, only records created or changed at or after that time (ISO 8601) yield events. */
export type Baseline = 'quiet' | 'emit' | { since: string };

export interface DetectInput extends SeenRecordInput {
  /** Null when the record was never seen. */
  stored: StoredRecord | null;
  /** Not null while the list's first complete sweep is under way. */
  baseline: Baseline | null;
  /** How many snapshots of the list were begun. Their receivers do not have what was discarded before. @defaultValue 0 */
  snapshots?: number;
}

/** The decision. Sweeps count records by `kind`. `sequence` is the record's number of events after the decision. */
export type Detection =
  /** `isDiscarded`: a person has discarded the new records that were held. */
  | { kind: 'baselined'; sequence: number; event: null; isDiscarded?: true }
  /** No event. `mutedBy` names the rule; without it the contents are equal. */
  | { kind: 'touched' | 'ignored'; sequence: number; event: null; mutedBy?: string }
  | { kind: 'created' | 'edited' | 'refreshed' | 'baselined' | 'touched'; sequence: number; event: ChangeEvent };

export function detect(input: DetectInput): Detection {
  const { stored, baseline } = input;
  if (stored === null || stored.gone?.dropped === true)
    return baseline === null ? appeared(input, { verb: 'created' }) : baselined(input, baseline);
  const isToldGone = stored.discarded !== undefined && (stored.discardedAfter ?? 0) < (input.snapshots ?? 0);
  if (stored.gone !== undefined || isToldGone)
    return appeared(input, { verb: 'created', time: input.observation.observedAt, reappeared: true });
  if (baseline !== null) return { kind: 'baselined', sequence: stored.sequence, event: null };
  const changes = changesSince(stored, input.record, input.rules);
  return changes.length === 0 ? unchanged(input, stored) : updated(input, stored, changes);
}

function baselined(input: DetectInput, baseline: Baseline): Detection {
  const quiet = { kind: 'baselined', sequence: input.stored?.sequence ?? 0, event: null } as const;
  if (baseline === 'quiet') return quiet;
  const sequence = nextSequence(quiet.sequence, input.observation);
  if (baseline === 'emit') return { kind: 'baselined', sequence, event: snapshotEvent(input, sequence) };
  const since = Date.parse(baseline.since);
  const created = creationTimeOf(input.record, input.rules.list);
  const modifiedAt = modifiedAtOf(input.record, input.rules.list);
  if (created !== null && Date.parse(created) >= since) {
    return { ...appeared(input, { verb: 'created' }), kind: 'baselined' };
  }
  if (modifiedAt === null || !(Date.parse(modifiedAt) >= since)) return quiet;
  const time = eventTime(modifiedAt) ?? input.observation.observedAt;
  return { ...appeared(input, { verb: 'updated', time, detectedBy: 'timestamp' }), kind: 'baselined' };
}

function appeared(input: DetectInput, change: Partial<ObservedChange> & { verb: ObservedChange['verb'] }): Detection {
  const sequence = nextSequence(input.stored?.sequence ?? 0, input.observation);
  const event = buildRecordEvent(input, { ...firstAppearance(input), sequence, ...change });
  return { kind: 'created', sequence, event };
}

function unchanged(input: DetectInput, stored: StoredRecord): Detection {
  const { record, rules } = input;
  const { sequence } = stored;
  const mutedBy = mutingRule(stored, record, rules);
  if (mutedBy !== null) return { kind: 'ignored', sequence, event: null, mutedBy };
  if (!hasNewTime(stored, record, rules)) return { kind: 'ignored', sequence, event: null };
  if (!rules.touch) return { kind: 'touched', sequence, event: null, mutedBy: 'touch' };
  return { ...updated(input, stored, []), kind: 'touched' };
}

function mutingRule(stored: StoredRecord, record: UncheckedRecord, rules: Rules): string | null {
  const muted = changesSince(stored, record, withEveryField(rules))[0];
  return muted === undefined ? null : (rules.mutedBy(muted.field.normalize('NFC')) ?? SCHEMA_RULE);
}

function updated(input: DetectInput, stored: StoredRecord, changes: FieldChange[]): Detection & { event: ChangeEvent } {
  const { record, rules } = input;
  const isNewTime = hasNewTime(stored, record, rules);
  const kind = changes.some((change) => isEdit(change, rules)) ? 'edited' : 'refreshed';
  const sequence = nextSequence(stored.sequence, input.observation);
  const event = buildRecordEvent(input, {
    verb: 'updated',
    // A `modifiedAt` that stayed the same is the time of an earlier change.
    time: (isNewTime ? eventTime(modifiedAtOf(record, rules.list)) : null) ?? input.observation.observedAt,
    before: stored.record,
    changes,
    class: kind,
    detectedBy: changes.length === 0 ? 'timestamp' : isNewTime ? 'both' : 'content',
    sequence,
  });
  return { kind, sequence, event };
}

export function recordAfter(input: DetectInput, detection: Detection): StoredRecord {
  const { stored, record, rules } = input;
  const { sequence, event } = detection;
  const decision = decisionOf(input, detection);
  const decisions = decision === null ? stored?.decisions : withDecision(stored?.decisions, decision);
  const content = stored === null || event !== null ? null : contentBeforeDrift(stored, detection, rules);
  return {
    sequence,
    record,
    ...(content !== null && { beforeDrift: content }),
    ...(rules.masks !== '' && { masked: rules.masks }),
    ...(decisions !== undefined && { decisions }),
  };
}

/** While the last decision is that the record followed a change of the schema. */
function contentBeforeDrift(stored: StoredRecord, detection: Detection, rules: Rules): string | null {
  const mutedBy = 'mutedBy' in detection ? detection.mutedBy : undefined;
  if (mutedBy === SCHEMA_RULE) return storedContent(stored, rules);
  return mutedBy === undefined ? (stored.beforeDrift ?? null) : null;
}

/** A record keeps five decisions. For a record with 100,000 fields, all names would be larger than the image. */
const FIELDS_NAMED = 100;

/** Only decisions that yielded an event, or kept one from the receivers, enter the decision log. */
function decisionOf(input: DetectInput, detection: Detection): Decision | null {
  const { observation, stored } = input;
  const { observedAt: at, sweep } = observation;
  const { kind, event } = detection;
  if (event !== null) {
    const what = kind === 'baselined' ? 'created' : event.data.reappeared === true ? 'reappeared' : kind;
    const all = event.data.changes.map(({ field }) => field);
    const fields = all.slice(0, FIELDS_NAMED);
    const furtherFields = all.length - fields.length;
    const named = { ...(fields.length > 0 && { fields }), ...(furtherFields > 0 && { furtherFields }) };
    return { at, sweep, what, event: event.id, ...named };
  }
  if (kind === 'baselined' && detection.isDiscarded === true) return { at, sweep, what: 'discarded' };
  if (stored?.discarded !== undefined) return { at, sweep, what: 'reappeared' };
  if (kind === 'baselined' || detection.mutedBy === undefined) return null;
  return { at, sweep, what: kind === 'touched' ? 'touched' : 'muted', rule: detection.mutedBy };
}
