/**
 * The states of a record: one table, which decides everywhere whether a record is in its list.
 *
 * | state | kept as | in the list | shown again | leaves it |
 * |---|---|---|---|---|
 * | unknown | nothing | no | created; quiet in a baseline | by a page that shows it |
 * | stored | a digest of its text | yes | compared | missed by a complete sweep: missing |
 * | missing | stored, and an entry of the missing ones | yes, until it is confirmed | stored | confirmed: gone · too many: held |
 * | held removal | as missing; the summary of the sweep counts it | yes, until a person decides | stored | accepted: gone · discarded: discarded |
 * | held, new | not kept; the summary counts it and names some | no, as for the receivers | held | accepted: created · discarded: stored, said to be discarded |
 * | discarded | stored with the digest DISCARDED | no | compared with what was stored: stored · created, as reappeared, where a snapshot has said since that it is gone | shown again |
 * | gone | the digest GONE, its sequence, no image | no | created, as reappeared | shown again |
 * | erased | a tombstone; nothing of the record | no, although the CRM shows it | left out | the tombstone is lifted |
 * | unreadable | as before; the summary of the sweep names it | as before | compared | the CRM shows it in a readable form |
 *
 * Receivers agree with the table but for what a person, or the list, keeps from them: held, discarded, erased, unreadable. Timers and
 * counts of todos, snapshots and the mirror show the records that are in the list; guards and removals count them.
 */
import type { StoredRecord } from './stored-record.js';

/** In place of a deleted record's digest: differs from every digest, so the record is compared when it reappears. */
export const GONE = 'gone';
/** The same of a record whose held removal a person has discarded. Its image is kept: shown again, it is what receivers have, or differs. */
export const DISCARDED = 'discarded';

/** @param digest as it is stored @param isMissing complete sweeps have not shown it, and its removal is not decided */
export function stateOf(digest: string, isMissing: boolean): 'stored' | 'missing' | 'discarded' | 'gone' {
  if (digest === GONE) return 'gone';
  if (digest === DISCARDED) return 'discarded';
  return isMissing ? 'missing' : 'stored';
}

/** @param digest as it is stored; null where nothing is */
export function isInList(digest: string | null | undefined): boolean {
  return digest !== null && digest !== undefined && digest !== GONE && digest !== DISCARDED;
}

/** A page that shows it shows no new record: receivers have it. */
export function isKnown(digest: string | null | undefined): boolean {
  return isInList(digest) || digest === DISCARDED;
}

/** The same by what is stored beside the digest. */
export function isStored<Stored extends Pick<StoredRecord, 'gone' | 'discarded'>>(
  stored: Stored | null,
): stored is Stored {
  return stored !== null && stored.gone === undefined && stored.discarded === undefined;
}

/** Its removal, or its creation, was kept from receivers by a person, and no later event has said more of it. */
export function isDiscarded(stored: Pick<StoredRecord, 'decisions'> | null): boolean {
  return stored?.decisions?.at(-1)?.what === 'discarded';
}
