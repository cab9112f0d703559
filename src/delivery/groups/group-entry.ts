/** An entry of an ordering group, as it is stored. */
import { describe } from '../../kit/errors.js';
import { unreadable } from '../../redis/stored.js';

export interface GroupEntry {
  /** The id of the delivery and of its job: see ../deliveries.ts. */
  id: string;
  logId: string;
  atMs: number;
  /** `stored`: with the group, not in the log. `decided`: stored, and no longer merged (debounce). */
  kind: 'logged' | 'stored' | 'decided';
  type: string;
}

const LOG_ID = /^\d+-\d+$/;
export const SEPARATOR = '\x1f';

/** The counterpart of redis/lua/entry.lua. */
export function packEntry({ id, logId, atMs, kind, type }: GroupEntry): string {
  return [id, logId, atMs, kind, type].join(SEPARATOR);
}

export function entryIn(text: string, key: string): GroupEntry {
  const [id = '', logId = '', at = '', kind = '', type = ''] = text.split(SEPARATOR);
  const isKind = kind === 'logged' || kind === 'stored' || kind === 'decided';
  if (isKind && LOG_ID.test(logId)) return { id, logId, atMs: Number(at), kind, type };
  throw unreadable({ what: 'an entry of an ordering group', key }, describe(text));
}

/** The counterpart of `scoreOf` in group-enter.lua: the log id, or a little before it. */
export function logIdOf(score: string): string {
  const ms = Math.floor(Number(score));
  return `${ms}-${Math.round((Number(score) - ms) * 4_096)}`;
}
