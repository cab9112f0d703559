/** The two bodies of the interface: the success envelope of section 4 and the failure body of section 7. */

/** A cursor, null, or `undefined` for a page without the key. */
export type NextCursor = string | null | undefined;

/** The part of a page that holds the records (array `key`). It changes only when they do, so it can be cached. */
export function pageHead(key: string, records: readonly string[]): Buffer {
  return Buffer.from(`{"success":true,"data":{${JSON.stringify(key)}:[${records.join(',')}]`);
}

export function pageTail(nextCursor: NextCursor): string {
  return nextCursor === undefined ? '}}' : `,"nextCursor":${JSON.stringify(nextCursor)}}}`;
}

export function pageBody(key: string, records: readonly string[], nextCursor: NextCursor): Buffer {
  return Buffer.concat([pageHead(key, records), Buffer.from(pageTail(nextCursor))]);
}

/** Real answers carry `reason`: one sentence or several. */
export interface Failure {
  readonly message: string;
  readonly reason?: string | readonly string[];
}

export function failureBody({ message, reason }: Failure): Buffer {
  return Buffer.from(JSON.stringify({ success: false, message, ...(reason !== undefined && { reason }) }));
}
