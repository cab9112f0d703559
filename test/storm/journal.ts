/**
 * What the processes of a storm write down themselves, each line appended whole to one file. Nothing of it goes through what
 * is being tested. A line carries the time at which it happened: a process that is stopped between reading the clock and
 * writing leaves its line far behind those of the processes that went on, so lines are ordered by their time.
 */
import { appendFileSync, readFileSync } from 'node:fs';

/** One event on its way to one subscription. */
export interface Told {
  subscription: string;
  record: string;
  sequence: number;
  replay: boolean;
}

/**
 * How a handler ended: `failed`, and will be tried again; `final`, the last try or a permanent error; `aborted` by its
 * signal, because the process stops or another has the event.
 */
export type Outcome = 'done' | 'failed' | 'final' | 'aborted';

export type Happening =
  | ({ kind: 'begin'; pid: number; run: number; attempt: number } & Told)
  | { kind: 'end'; pid: number; run: number; outcome: Outcome }
  /** A side effect within `once`. */
  | ({ kind: 'effect'; pid: number } & Told)
  /** Written before SIGSTOP, SIGCONT and SIGKILL are sent. */
  | { kind: 'stopped' | 'continued' | 'gone'; pid: number }
  /** The machine gave this process no time since `sinceMs`. */
  | { kind: 'slept'; pid: number; sinceMs: number }
  /** A dead letter, written before it is retried or dropped. */
  | ({ kind: 'retried' | 'dropped' } & Told);

export type Line = Happening & { at: number };

export function note(file: string, happening: Happening): void {
  appendFileSync(file, `${JSON.stringify({ at: Date.now(), ...happening })}\n`);
}

/** In the order in which things happened; lines of the same millisecond in the order in which they were written. */
export function readRecord(file: string): Line[] {
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Line).toSorted((a, b) => a.at - b.at);
}
