/**
 * What the processes of a storm write down themselves, each line appended whole to one file: the order of the lines is the
 * order in which things happened, whatever became of the process. Nothing of it goes through what is being tested.
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

export function readRecord(file: string): Line[] {
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Line);
}
