/**
 * What proposed rules would have done to events in the log, for `rules test`. Pure. Changes that the present rules mute are not
 * in the log, so they are not in the preview.
 */
import { diffRecords } from '../crm/canonical.js';
import type { ChangeEvent } from '../events/types.js';
import type { Rules } from './rules.js';

export type PreviewOutcome =
  /** Would be emitted unchanged. */
  | 'same'
  /** Would be emitted with fewer or more fields, or in another class. */
  | 'different'
  | 'muted';

export interface PreviewedEvent {
  id: string;
  type: string;
  subject: string;
  outcome: PreviewOutcome;
  /** Fields that the event names, and would name. */
  before: readonly string[];
  after: readonly string[];
  /** The first rule that mutes it. */
  rule?: string;
}

export interface RulesPreview {
  looked: number;
  counts: Record<PreviewOutcome, number>;
  /** Only events that would not be the same. */
  events: PreviewedEvent[];
}

/** @param events of one list, in any order. Events other than `updated` are the same under any rules. */
export function previewRules(events: readonly ChangeEvent[], rules: Rules): RulesPreview {
  const counts: RulesPreview['counts'] = { same: 0, different: 0, muted: 0 };
  const changed: PreviewedEvent[] = [];
  for (const event of events) {
    const previewed = previewEvent(event, rules);
    counts[previewed.outcome] += 1;
    if (previewed.outcome !== 'same') changed.push(previewed);
  }
  return { looked: events.length, counts, events: changed };
}

function previewEvent({ id, type, subject, data }: ChangeEvent, rules: Rules): PreviewedEvent {
  const before = data.changes.map(({ field }) => field);
  const base = { id, type, subject, before };
  if (!type.endsWith('.updated') || (data.before === null && data.changes.length === 0)) {
    return { ...base, outcome: 'same', after: before };
  }
  const after = fieldsUnder(rules, data, before);
  const rule = before.map((field) => rules.mutedBy(field.normalize('NFC'))).find((name) => name !== null);
  if (after.length === 0 && !(before.length === 0 && rules.touch)) {
    return { ...base, outcome: 'muted', after, rule: rule ?? (before.length === 0 ? 'touch' : 'same meaning') };
  }
  const isClass = after.every((field) => rules.isSystemKept(field.normalize('NFC'))) ? 'refreshed' : 'edited';
  const same = isClass === data.class && after.join('\n') === before.join('\n');
  return { ...base, outcome: same ? 'same' : 'different', after, ...(rule === undefined ? {} : { rule }) };
}

/** With `images: false`, only names can be compared. */
function fieldsUnder(rules: Rules, { before, after }: ChangeEvent['data'], named: readonly string[]): string[] {
  if (before === null || after === null) return named.filter((field) => rules.compares(field.normalize('NFC')));
  return diffRecords(before, after, rules).map(({ field }) => field);
}
