/** What a record is, told as an event: by a baseline that is to be heard, and to subscriptions that begin with a snapshot. */
import type { ChangeEvent } from '../events/types.js';
import { firstSight, buildRecordEvent } from './happening.js';
import type { DetectInput } from './input.js';

/** `sequence`: the record's count of events so far, so that what follows it counts on from there. */
export function snapshotEvent(
  input: Pick<DetectInput, 'key' | 'record' | 'rules' | 'observation' | 'images'>,
  sequence: number,
): ChangeEvent {
  const unknown = { ...input, known: null, baseline: null };
  return buildRecordEvent(unknown, { verb: 'snapshot', ...firstSight(input), sequence });
}
