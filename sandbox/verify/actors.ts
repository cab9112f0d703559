/** Whether events say rightly who made a change. Only edits of people and organizations are judged: rows of history exist for them. */
import type { MutationLine } from '../journal/lines.js';
import { changedFields, isKept, SYSTEM } from '../world/credits.js';
import type { JudgedEvent } from './read.js';

export interface ActorCounts {
  /** Every edited field has its right actor. */
  right: number;
  /** At least one field has an actor who did not change it last. */
  wrong: number;
  /** Nothing wrong is said, but not everything. */
  missing: number;
}

/** @param lines the mutations that the event reports. @returns null for an event that is not judged */
export function judgeActors({ data }: JudgedEvent, lines: readonly MutationLine[]): keyof ActorCounts | null {
  const { list } = lines[0] ?? {};
  if (list !== 'people' && list !== 'organization') return null;
  const makers = new Map<string, Actor>();
  for (const { before, after, actor } of lines) {
    if (before === null || after === null || actor === undefined) return null;
    for (const field of changedFields(before, after)) makers.set(field, isKept(list, field) ? SYSTEM : actor);
  }
  const claims = new Map(data.changes?.map(({ field, actor }) => [field, actor ?? data.actor]));
  const claimed = [...makers].filter(([field]) => claims.has(field));
  const isWrong = ([field, maker]: [string, Actor]): boolean => {
    const claim = claims.get(field);
    return claim !== undefined && (claim.type !== maker.type || claim.id !== maker.id);
  };
  if (claimed.some(isWrong)) return 'wrong';
  const edited = claimed.filter(([, maker]) => maker !== SYSTEM);
  if (edited.length === 0) return null;
  return edited.every(([field]) => claims.get(field) !== undefined) ? 'right' : 'missing';
}

type Actor = NonNullable<MutationLine['actor']>;
