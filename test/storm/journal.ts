/**
 * The journal of a storm: what its processes report themselves, one line per write in one file. It does not go through the
 * code under test. Each line carries the time of its fact. A process that is stopped between reading the clock and writing
 * leaves its line far behind those of the other processes, so lines are ordered by their time.
 */
import { appendFileSync, readFileSync } from 'node:fs';

export interface StormEvent {
  subscription: string;
  record: string;
  sequence: number;
  replay: boolean;
}

/**
 * How a handler ended. `failed`: it will be retried. `final`: the last attempt or a permanent error. `aborted`: by its signal,
 * because the process stops or another process has the event.
 */
export type Outcome = 'done' | 'failed' | 'final' | 'aborted';

export type JournalEntry =
  | ({ kind: 'begin'; pid: number; run: number; attempt: number } & StormEvent)
  | { kind: 'end'; pid: number; run: number; outcome: Outcome }
  /** A side effect within `once`. */
  | ({ kind: 'effect'; pid: number } & StormEvent)
  /** Written before SIGSTOP, SIGCONT and SIGKILL are sent. */
  | { kind: 'stopped' | 'continued' | 'killed'; pid: number }
  /** The machine gave this process no CPU time since `sinceMs`. */
  | { kind: 'starved'; pid: number; sinceMs: number }
  /** A dead letter, written before it is retried or dropped. */
  | ({ kind: 'retried' | 'dropped' } & StormEvent);

export type Line = JournalEntry & { at: number };

export function appendEntry(file: string, entry: JournalEntry): void {
  appendFileSync(file, `${JSON.stringify({ at: Date.now(), ...entry })}\n`);
}

/** Longer than a process that is continued takes to go on, and too short to ask Redis something before it. */
const GOES_ON_MS = 5;

/** Ordered by time; lines of the same millisecond in the order in which they were written. */
export function readJournal(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return withCallsBeforeStops(byTime(lines.map((line) => JSON.parse(line) as Line)));
}

function byTime(lines: readonly Line[]): Line[] {
  return lines.toSorted((a, b) => a.at - b.at);
}

/**
 * A process may be stopped when it has looked at its lock and called the handler, and the handler has not read the clock. Then the begin of this run is
 * the first that it writes when it is continued, at once; it began before the stop.
 */
function withCallsBeforeStops(lines: readonly Line[]): Line[] {
  const stoppedAt = new Map<number, number>();
  const continued = new Map<number, { at: number; stoppedAt: number }>();
  const moved = lines.map((line): Line => {
    if (!('pid' in line)) return line;
    const { kind, pid, at } = line;
    const stop = stoppedAt.get(pid);
    const before = continued.get(pid);
    const goesOn = before !== undefined && at - before.at <= GOES_ON_MS ? before : undefined;
    continued.delete(pid);
    if (kind === 'stopped') stoppedAt.set(pid, at);
    else stoppedAt.delete(pid);
    // It may be continued twice, or without a stop.
    const wasStopped = stop ?? goesOn?.stoppedAt;
    if (kind === 'continued' && wasStopped !== undefined) continued.set(pid, { at, stoppedAt: wasStopped });
    const isFirst = kind === 'begin' && goesOn !== undefined;
    return isFirst ? { ...line, at: goesOn.stoppedAt } : line;
  });
  return byTime(moved);
}
