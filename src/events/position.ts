/** A position in the logs of several workspaces, as it is written: `acme@1700000000000-0,beta@1699999999999-3`. */

/** Workspace → the offset up to which its log was read, exclusive. */
export type Position = ReadonlyMap<string, string>;

/** The end of a log, whatever is logged. */
export const END = '+';

const PART = /^([\w.-]{1,64})@(\d{1,15}-\d{1,19}|0|\+)$/;

/** Id of server-sent events, cursor of pages, and `next` of what has not looked at all yet. */
export function formatPosition(position: Position): string {
  return [...position].map(([workspace, logId]) => `${workspace}@${logId}`).join(',');
}

export function parsePosition(text: string): Position | null {
  const parts = text.split(',').map((part) => PART.exec(part));
  if (parts.includes(null)) return null;
  return new Map(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']));
}
