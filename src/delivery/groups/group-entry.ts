/** An entry of an ordering group, and the run that was noted with it, as they are stored. */
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

/** The counterpart of lua/shared/entry.lua. */
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

/** Stored with the delivery: the last run that has begun it. */
export interface NotedRun {
  process: string;
  /** BullMQ's count of lost locks of the job at that time. */
  lost: number;
  /** How many suspects ran at once, itself included; 0: it was no suspect. */
  among: number;
  /** The crashes in which it was the only suspect that ran. */
  alone: number;
  /** Runs in a row whose lock was lost by a process that lives. */
  late: number;
}

const NOTED = /^(\S+) (\d+) (\d+) (\d+) (\d+)$/;

export function packRun({ process, lost, among, alone, late }: NotedRun): string {
  return [process, lost, among, alone, late].join(' ');
}

/** Null: none is noted. */
export function runIn(text: string): NotedRun | null {
  const [, process, ...numbers] = NOTED.exec(text) ?? [];
  const [lost = 0, among = 0, alone = 0, late = 0] = numbers.map(Number);
  return process === undefined ? null : { process, lost, among, alone, late };
}
