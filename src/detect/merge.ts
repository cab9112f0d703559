/**
 * Into which record a vanished one was merged, where that is certain; a wrong answer is worse than none. Two things make it so:
 *
 *   an activity of type `merge` that names the vanished record and exactly one other that is still there; or
 *   an activity of type `merge` that names one record, and everything that was linked to the vanished one moved to that
 *   very record, and nobody else who went in that time could be the one the activity speaks of.
 *
 * Links alone say nothing: a person who tidies up moves them by hand and deletes the rest.
 */
import type { ChangeEvent } from '../events/types.js';

/** What links to a person, in memos and todos. */
const LINK = 'peopleId';
const DELETED = 'crm.person.deleted';

/** For each vanished record the other ids that activities of type `merge` name beside it. */
export function mergeMentions(
  events: Iterable<ChangeEvent>,
  vanished: ReadonlySet<string>,
): Map<string, ReadonlySet<string>> {
  const mentions = new Map<string, Set<string>>();
  for (const { subject, record } of mergesIn(events)) {
    const named = new Set(textsIn(record));
    named.delete(subject);
    for (const id of named) {
      if (!vanished.has(id)) continue;
      const others = mentions.get(id) ?? new Set<string>();
      for (const other of named) if (other !== id) others.add(other);
      mentions.set(id, others);
    }
  }
  return mentions;
}

/** The one that is still there, when it is one. */
export function survivorOf(mentioned: ReadonlySet<string>, isPresent: (id: string) => boolean): string | undefined {
  const [survivor, ...others] = [...mentioned].filter(isPresent);
  return others.length === 0 ? survivor : undefined;
}

export interface MovedLinks {
  /** Where links of each record went; null: to nothing. */
  movedTo: ReadonlyMap<string, ReadonlySet<string | null>>;
  /** Activities of type `merge` by the one record they name. */
  merges: readonly { survivor: string; atMs: number }[];
  /** People who were told to be gone: when. */
  goneAtMs: ReadonlyMap<string, number>;
}

/** @param events of a stretch of the log without a hole */
export function movedLinks(events: Iterable<ChangeEvent>): MovedLinks {
  const movedTo = new Map<string, Set<string | null>>();
  const goneAtMs = new Map<string, number>();
  const all = [...events];
  for (const { type, subject, data } of all) {
    if (type === DELETED) goneAtMs.set(subject, Date.parse(data.observedAt));
    for (const { field, before, after } of data.changes) {
      if (field !== LINK || typeof before !== 'string') continue;
      const targets = movedTo.get(before) ?? new Set();
      movedTo.set(before, targets.add(typeof after === 'string' ? after : null));
    }
  }
  const merges = [...mergesIn(all)].flatMap(({ record }) => {
    const { [LINK]: survivor, date } = record;
    return typeof survivor === 'string' && typeof date === 'string' ? [{ survivor, atMs: Date.parse(date) }] : [];
  });
  return { movedTo, merges, goneAtMs };
}

/**
 * The record that took everything of a vanished one over, by the second rule.
 * @param missing everybody whom complete sweeps do not show now
 * @param beforeMs the merge was before this: whoever went by then is missing or was told to be gone
 */
export function heirOf(
  vanished: string,
  { movedTo, merges, goneAtMs }: MovedLinks,
  { missing, beforeMs }: { missing: Iterable<string>; beforeMs: number },
): string | undefined {
  const [heir, ...others] = movedTo.get(vanished) ?? [];
  if (heir === undefined || heir === null || others.length > 0) return undefined;
  const merge = merges.find(({ survivor, atMs }) => survivor === heir && atMs < beforeMs);
  if (merge === undefined) return undefined;
  const goneSince = [...goneAtMs].filter(([, atMs]) => atMs >= merge.atMs).map(([id]) => id);
  const couldBeMeant = (id: string): boolean => {
    const targets = movedTo.get(id);
    return id !== vanished && (targets === undefined || (targets.size === 1 && targets.has(heir)));
  };
  return [...missing, ...goneSince].some(couldBeMeant) ? undefined : heir;
}

function* mergesIn(events: Iterable<ChangeEvent>): Generator<{ subject: string; record: Record<string, unknown> }> {
  for (const { type, subject, data } of events) {
    if (type.startsWith('crm.person_activity.') && data.after?.['type'] === 'merge')
      yield { subject, record: data.after };
  }
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}
