/**
 * The decision: given what is remembered of a record and what the API shows now, did anything happen to it?
 * Pure: no I/O, no clock. The image remembered always moves along, so that a rule switched off later does not report
 * what was muted before, and a rule that changes re-baselines quietly: both images are judged by the rules of today.
 */
import { diffFields } from '../crm/diff.js';
import type { ChangeEvent, FieldChange } from '../events/types.js';
import { ageOf, withinLag } from './age.js';
import { canonicalFields } from './canonical.js';
import { creationTimeOf, modifiedAtOf } from './fields.js';
import { firstSight, instant, buildRecordEvent, type ObservedChange } from './happening.js';
import {
  bothSides,
  contentOf,
  lastEventAt,
  storedModifiedAt,
  type Gone,
  type StoredRecord,
  type Doubt,
} from './known.js';
import type { Baseline, DetectInput, Observation } from './input.js';
import { SCHEMA_RULE, withEveryField, type Rules } from './rules.js';
import { snapshotEvent } from './snapshot.js';

export type { Baseline, DetectInput, Observation } from './input.js';

/** What happened, as the word it is counted under; `sequence` is the record's count of events after it. */
export type Detection =
  | { kind: 'baselined'; sequence: number; event: null }
  /** Nothing that counts: `mutedBy` names the rule; without one the record means what it meant. */
  | { kind: 'touched' | 'ignored'; sequence: number; event: null; mutedBy?: string }
  /** Perhaps an older answer. Without `doubt`, only `modifiedAt` is older and there is nothing to confirm. */
  | { kind: 'stale'; sequence: number; event: null; doubt?: Doubt }
  | { kind: 'created' | 'edited' | 'refreshed' | 'baselined' | 'touched'; sequence: number; event: ChangeEvent };

/** Suspect answers that differ from look to look are believed at the third: nothing is held back for ever. */
const SIGHTINGS_THAT_CONVINCE = 3;

export function detect(input: DetectInput): Detection {
  const { known, baseline } = input;
  if (known === null || known.gone?.dropped === true)
    return baseline === null ? appeared(input, { verb: 'created' }) : baselined(input, baseline);
  if (known.gone !== undefined) return reappeared(input, known, known.gone);
  if (baseline !== null) return { kind: 'baselined', sequence: known.sequence, event: null };
  return changed(input, known);
}

function baselined(input: DetectInput, baseline: Baseline): Detection {
  const sequence = input.known?.sequence ?? 0;
  const quiet = { kind: 'baselined', sequence, event: null } as const;
  if (baseline === 'quiet') return quiet;
  if (baseline === 'emit')
    return { kind: 'baselined', sequence: sequence + 1, event: snapshotEvent(input, sequence + 1) };
  const since = Date.parse(baseline.since);
  const created = creationTimeOf(input.record);
  const stamp = modifiedAtOf(input.record);
  if (created !== null && Date.parse(created) >= since) {
    return { ...appeared(input, { verb: 'created' }), kind: 'baselined' };
  }
  if (stamp === null || !(Date.parse(stamp) >= since)) return quiet;
  const time = instant(stamp) ?? input.observation.observedAt;
  return { ...appeared(input, { verb: 'updated', time, detectedBy: 'timestamp' }), kind: 'baselined' };
}

function appeared(input: DetectInput, how: Partial<ObservedChange> & Pick<ObservedChange, 'verb'>): Detection {
  const sequence = (input.known?.sequence ?? 0) + 1;
  const event = buildRecordEvent(input, { ...firstSight(input), sequence, ...how });
  return { kind: 'created', sequence, event };
}

/** A record that was reported as deleted. Just as it was, it may be a lagging replica's: that needs a second look. */
function reappeared(input: DetectInput, known: StoredRecord, gone: Gone): Detection {
  const content = contentOf(canonicalFields(input.record, input.rules));
  const age = ageOf(modifiedAtOf(input.record), storedModifiedAt(known));
  const isCertain = known.doubt?.certain === true && known.doubt.content === content;
  const isOld = age === 'older' || (age === 'unclear' && [gone.content, ...(known.earlier ?? [])].includes(content));
  const doubtful = isOld && !isCertain;
  const recent = withinLag(gone.at, input.observation.observedAt);
  const doubt = doubtful ? suspicion(input.observation, known, { content, recent }) : null;
  if (doubt !== null) return { kind: 'stale', sequence: known.sequence, event: null, doubt };
  return appeared(input, { verb: 'created', time: input.observation.observedAt, reappeared: true });
}

function changed(input: DetectInput, known: StoredRecord): Detection {
  const { record, rules, observation } = input;
  const [before, after] = bothSides(known, record, rules);
  const changes = diffFields(before, after);
  const age = ageOf(modifiedAtOf(record), storedModifiedAt(known));
  if (changes.length === 0) return unmoved(input, known, age === 'older');
  const content = contentOf(after);
  const lagging = age !== 'newer' && observation.lagging === true;
  const doubtful = age === 'older' || lagging || (age === 'unclear' && (known.earlier ?? []).includes(content));
  const recent = (age === 'older' || lagging) && withinLag(lastEventAt(known), observation.observedAt);
  const doubt = doubtful ? suspicion(observation, known, { content, recent }) : null;
  if (doubt !== null) return { kind: 'stale', sequence: known.sequence, event: null, doubt };
  return updated(input, known, changes);
}

/**
 * The doubt that remains about an answer; null once it has been seen in this way often enough. While what we know is so
 * `recent` that a replica's lag explains the answer, no number of looks is enough.
 */
function suspicion(
  observation: Observation,
  { doubt: suspect }: StoredRecord,
  { content, recent }: { content: string; recent: boolean },
): Doubt | null {
  const first = { content, sweep: observation.sweep, sightings: 1 };
  if (suspect === undefined) return first;
  // A record that stands on two pages of one sweep has not been looked at twice: both may come from one replica.
  if (suspect.sweep === observation.sweep) return { ...suspect, content };
  if (suspect.sweep !== observation.previousSweep) return first;
  const sightings = suspect.sightings + 1;
  if (!recent && (suspect.content === content || sightings >= SIGHTINGS_THAT_CONVINCE)) return null;
  return { content, sweep: observation.sweep, sightings };
}

function unmoved(input: DetectInput, known: StoredRecord, older: boolean): Detection {
  const { record, rules } = input;
  const { sequence } = known;
  if (older) return { kind: 'stale', sequence, event: null };
  const [before, after] = bothSides(known, record, withEveryField(rules));
  const [muted] = diffFields(before, after);
  if (muted !== undefined) {
    return { kind: 'ignored', sequence, event: null, mutedBy: mutingRule(rules, muted.field) };
  }
  if (modifiedAtOf(record) === storedModifiedAt(known)) return { kind: 'ignored', sequence, event: null };
  if (!rules.touch) return { kind: 'touched', sequence, event: null, mutedBy: 'touch' };
  return { ...updated(input, known, []), kind: 'touched' };
}

function mutingRule(rules: Rules, field: string): string {
  return rules.mutedBy(field.normalize('NFC')) ?? SCHEMA_RULE;
}

function updated(input: DetectInput, known: StoredRecord, changes: FieldChange[]): Detection & { event: ChangeEvent } {
  const { record, rules } = input;
  const stamp = modifiedAtOf(record);
  const stampMoved = stamp !== storedModifiedAt(known);
  const kind = changes.every(({ field }) => rules.isSystemKept(field.normalize('NFC'))) ? 'refreshed' : 'edited';
  const sequence = known.sequence + 1;
  const event = buildRecordEvent(input, {
    verb: 'updated',
    // A stamp that did not move is the time of some earlier change.
    time: (stampMoved ? instant(stamp) : null) ?? input.observation.observedAt,
    before: known.record,
    changes,
    class: kind,
    detectedBy: changes.length === 0 ? 'timestamp' : stampMoved ? 'both' : 'content',
    sequence,
  });
  return { kind, sequence, event };
}
