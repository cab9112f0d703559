/** What waits for a person, in words: for status, problems and `changefeed held`. */
import type { Held } from '../sweep/store.js';

/** What is held, and why, as one sentence. */
export function heldText({ what, why, count, of, known }: Held): string {
  const isReplaced = why === 'replaced' && known !== undefined;
  const reason = isReplaced
    ? `only ${known.seen} of ${known.of} known records were seen. Check whether this is the token of another workspace, or a backup was restored.`
    : 'this is more than may change at once.';
  return what === 'removals'
    ? `${count} of ${of} records are missing and their removals are held; ${why === 'replaced' ? 'the list shows other records than before.' : reason}`
    : `${count} of ${of} records are new and are held; ${reason}`;
}

export function heldCount(held: readonly Held[], what: Held['what']): number {
  return held.find((one) => one.what === what)?.count ?? 0;
}
