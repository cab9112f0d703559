/** The two bodies of the interface: the success envelope of section 4 and the failure body of section 7. */

/** A cursor, null, or `undefined` for a page without the key. */
export type NextCursor = string | null | undefined;

/** @param records the texts of the array `key` */
export function pageBody(key: string, records: readonly string[], nextCursor: NextCursor): Buffer {
  const next = nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
  return Buffer.from(`{"success":true,"data":{${JSON.stringify(key)}:[${records.join(',')}]${next}}}`);
}

/** Real answers carry `reason`: one sentence or several. */
export interface Failure {
  readonly message: string;
  readonly reason?: string | readonly string[];
}

export function failureBody({ message, reason }: Failure): Buffer {
  return Buffer.from(JSON.stringify({ success: false, message, ...(reason !== undefined && { reason }) }));
}
