/** Leaves out and names records that cannot be read. What another record could be to blame for refuses the page. */
import type { UncheckedRecord } from '../../crm/record.js';

export interface UnreadableRecord {
  /** Null when the record has none that can be used. */
  id: string | null;
  reason: string;
}

/** In UTF-8, ids of this length fit the two-byte length field of stored pages. */
export const LONGEST_ID = 16_000;

/** Records of the CRM have three levels. Parsers of receivers stop at 64 (.NET), 512 (PHP) or 1,000 (Redis). */
export const MOST_LEVELS = 50;

/** Null for a record that can be read. */
export function whyUnreadable(record: UncheckedRecord): UnreadableRecord | null {
  const { id } = record;
  if (typeof id === 'string' && /\p{Surrogate}/u.test(id))
    return { id: null, reason: 'its "id" holds half a character' };
  if (typeof id === 'string' && id.length > LONGEST_ID)
    return { id: null, reason: `its "id" has ${id.length} characters; at most ${LONGEST_ID} can be stored` };
  if (!isDeeperThan(record, MOST_LEVELS)) return null;
  return { id: typeof id === 'string' ? id : null, reason: `it is nested more than ${MOST_LEVELS} levels deep` };
}

/** Uses no recursion, which such a value would break. */
function isDeeperThan(value: object, levels: number): boolean {
  let inLevel: object[] = [value];
  for (let level = 1; inLevel.length > 0; level += 1) {
    if (level > levels) return true;
    const inNext: object[] = [];
    for (const parent of inLevel)
      for (const inner of Object.values(parent) as unknown[])
        if (typeof inner === 'object' && inner !== null) inNext.push(inner);
    inLevel = inNext;
  }
  return false;
}

/** Such a record may be new, also where it has no id. */
export function hasUnreadable({ unreadable = [] }: { unreadable?: readonly UnreadableRecord[] | undefined }): boolean {
  return unreadable.length > 0;
}
