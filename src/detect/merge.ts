/**
 * Into which record a vanished one was merged, where that is certain; a wrong answer is worse than none. Certain is an
 * activity of type `merge` that names the vanished record and exactly one other that is still there.
 */
import type { ChangeEvent } from '../events/types.js';

/** For each vanished record the other ids that activities of type `merge` name beside it. */
export function mergeMentions(
  events: Iterable<ChangeEvent>,
  vanished: ReadonlySet<string>,
): Map<string, ReadonlySet<string>> {
  const mentions = new Map<string, Set<string>>();
  for (const { type, subject, data } of events) {
    if (!type.startsWith('crm.person_activity.') || data.after?.['type'] !== 'merge') continue;
    const named = new Set(textsIn(data.after));
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

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else for (const inner of Object.values(value ?? {})) yield* textsIn(inner);
}
