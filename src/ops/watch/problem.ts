/** One thing that needs attention, as the parts that find them make it. Pure. */
import type { ProcessStatus } from '../../redis/process-registry.js';
import { agoMs } from '../../kit/stored-time.js';
import { englishMessage, type Facts } from '../../words/problems.js';
import type { Problem, Status } from './status.js';

export type Observed = Omit<Status, 'problems'>;

interface Found {
  subject: string;
  workspace?: string | null;
  list?: string | null;
  since?: string | null;
  /** What else the text of the problem names. `workspace`, `list` and `since` are among the facts anyway. */
  facts?: Facts;
}

/** A problem of all workspaces, unless it names one. */
export function problem(severity: Problem['severity'], kind: Problem['kind'], { subject, ...found }: Found): Problem {
  const { workspace = null, list = null, since = null } = found;
  const known = Object.entries({ workspace, list, since }).flatMap(([name, fact]) =>
    fact === null ? [] : [[name, fact]],
  );
  const facts = { ...(Object.fromEntries(known) as Facts), ...found.facts };
  return { kind, severity, subject, workspace, list, since, message: englishMessage(kind, facts), facts };
}

/** How long a process has run; Infinity where a clock that has stepped does not say it. */
export function runsMs({ startedAt }: ProcessStatus, at: string): number {
  return agoMs(startedAt, Date.parse(at)) ?? Infinity;
}

export function msBetween(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}

/** With a full stop. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
