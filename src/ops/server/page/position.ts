/** A place in the logs of all workspaces: `acme@1700-0,beta@1699-3`. Id of server-sent events, cursor of pages. */

/** Workspace → log id; `+` is the end of the log. */
export type Position = ReadonlyMap<string, string>;

const PART = /^([\w.-]{1,64})@(\d{1,15}-\d{1,19}|0|\+)$/;

export function formatPosition(position: Position): string {
  return [...position].map(([workspace, logId]) => `${workspace}@${logId}`).join(',');
}

export function parsePosition(text: string): Position | null {
  const parts = text.split(',').map((part) => PART.exec(part));
  if (parts.includes(null)) return null;
  return new Map(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']));
}
