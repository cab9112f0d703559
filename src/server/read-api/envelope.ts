/** The two bodies of the interface: the success envelope of section 4 and the failure body of section 7. */
import type { ListName } from '../../events/lists.js';

/** The key of each list in `data`. Section 4 names the first four; the last two are left open and taken from the wild. */
export const LIST_KEY = {
  people: 'peopleList',
  organization: 'organizationList',
  memo: 'memoList',
  todo: 'todoList',
  history: 'dealHistoryList',
  activity: 'peopleActivityList',
} as const satisfies Record<ListName, string>;

/** A cursor, null, or `undefined` for a page without the key. */
export type NextCursor = string | null | undefined;

/** The part of a page that holds the records: worth keeping, for it changes only with them. */
export function pageHead(list: ListName, records: readonly string[]): Buffer {
  return Buffer.from(`{"success":true,"data":{"${LIST_KEY[list]}":[${records.join(',')}]`);
}

/** The part of a page behind its records. */
export function pageTail(nextCursor: NextCursor): string {
  return nextCursor === undefined ? '}}' : `,"nextCursor":${JSON.stringify(nextCursor)}}}`;
}

/** A whole page from records that are JSON texts already. */
export function pageBody(list: ListName, records: readonly string[], nextCursor: NextCursor): Buffer {
  return Buffer.concat([pageHead(list, records), Buffer.from(pageTail(nextCursor))]);
}

/** `reason` as seen in the wild: a sentence, or several. */
export interface Failure {
  readonly message: string;
  readonly reason?: string | readonly string[];
}

export function failureBody({ message, reason }: Failure): Buffer {
  return Buffer.from(JSON.stringify({ success: false, message, ...(reason !== undefined && { reason }) }));
}
