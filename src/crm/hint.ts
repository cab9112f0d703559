/** Ids from outside of records that may have changed. A hint only queues a lookup, so little is checked. */

/** At once. */
const MOST_IDS = 1_000;
/** Ids of the vendor have 24 or 36 characters. */
const LONGEST_ID = 200;

/** The end of a sentence; null when the ids can be used. */
export function problemOfIds(ids: unknown): string | null {
  if (!Array.isArray(ids)) return 'expected "ids" to be an array of record ids';
  if (ids.length === 0 || ids.length > MOST_IDS) return `expected 1 to ${MOST_IDS} ids at once, found ${ids.length}`;
  const isId = (id: unknown): boolean => typeof id === 'string' && id !== '' && id.length <= LONGEST_ID;
  const odd = ids.findIndex((id) => !isId(id));
  return odd === -1
    ? null
    : `expected every id to be a text of 1 to ${LONGEST_ID} characters; number ${odd + 1} is not`;
}
