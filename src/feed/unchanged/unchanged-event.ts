/** The event of a record that has been unchanged for long. Pure. */
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import type { CrmRecord, UncheckedRecord } from '../../crm/record.js';
import { buildEvent } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import { dueAfter, stretchKey, type Stretch } from '../../events/unchanged.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import { durationText } from '../../kit/duration.js';
import { eventTime } from '../../kit/iso-time.js';
import { creationTimeOf, modifiedAtOf } from '../detect/fields.js';
import { isInList } from '../detect/record-state.js';
import type { SerialisedRecord } from '../store/sweep-state.js';
import type { Since } from './unchanged-store.js';

/** Reads from a record when it was changed last, in ms. Its fields are unchanged since then, or for longer. */
export function saidSince({ image }: SerialisedRecord, list: ListDescriptor, nowMs: number): number {
  const said = image === null ? {} : (JSON.parse(image) as UncheckedRecord);
  const time = eventTime(modifiedAtOf(said, list) ?? creationTimeOf(said, list));
  return Math.min(nowMs, Date.parse(time ?? isoTime(nowMs)));
}

export interface UnchangedFacts {
  workspace: string;
  list: ListDescriptor;
  stretch: Stretch;
  timeZone: string;
  clock: Pick<Clock, 'now'>;
  /** ISO 8601: since when changes of it are seen. */
  seenSince: string;
  sweep: string;
}

/** Null for a record that is not in its list any more. */
export function unchangedEvent(
  { record, ms, wokenMs }: Since & { wokenMs?: number },
  stored: SerialisedRecord | null,
  { workspace, list, stretch, timeZone, clock, seenSince, sweep }: UnchangedFacts,
): ChangeEvent | null {
  if (stored === null || stored.image === null || !isInList(stored.digest)) return null;
  const { field, related, forMs, days } = stretch;
  const since = isoTime(ms);
  return buildEvent({
    workspace,
    list,
    verb: 'unchanged',
    recordId: record,
    time: isoTime(wokenMs ?? dueAfter(stretch, ms, timeZone)),
    // The same after a crash, and another one after the next change or snooze.
    contentDigest: [stretchKey(stretch), since, ...(wokenMs === undefined ? [] : [isoTime(wokenMs)])].join(' '),
    data: {
      before: null,
      after: { ...(JSON.parse(stored.image) as CrmRecord), id: record },
      changes: [],
      sequence: stored.sequence,
      class: 'edited',
      detectedBy: 'clock',
      observedAt: isoTime(clock.now()),
      sweep,
      unchanged: { for: durationText(forMs), days, field, related, since, seen: ms >= Date.parse(seenSince) },
    },
  });
}
