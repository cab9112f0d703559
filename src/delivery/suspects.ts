/**
 * Finds the event that makes its process crash. All events that were in flight in a crashed process are suspects, because
 * it is not known which of them was the cause. They run in groups, one group at a time over all subscriptions of the
 * process: half of them first; of a group that was in flight at the next crash, half of it, until one runs alone. So the
 * cause of N suspects is alone after about log N crashes, and the others are handled on the way.
 *
 * Late is not crashed: a run whose process lives has lost its lock, and nothing else. Each run notes its process.
 */
import { reasonOf, type Clock, onAbort } from '../kit/clock.js';
import type { NotedRun } from './groups/group-entry.js';

export interface Verdict {
  alone: number;
  late: number;
  last: 'ended' | 'late' | 'crashed';
  /** How many suspects may run at once with it; null: it is no suspect. */
  most: number | null;
}

/** @param lost BullMQ's count of lost locks now */
export function judge(before: NotedRun | null, lost: number, lives: boolean): Verdict {
  const { among = 0, alone = 0, late = 0 } = before ?? {};
  if (before === null || before.lost >= lost) return { last: 'ended', most: null, alone, late: 0 };
  if (lives) return { last: 'late', most: among === 0 ? null : among, alone, late: late + 1 };
  const most = among === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(among / 2));
  return { last: 'crashed', most, alone: alone + (among === 1 ? 1 : 0), late: 0 };
}

/** Those that come within this time of the first are divided together. */
const GATHER_MS = 500;

interface Waiting {
  most: number;
  begin: (among: number) => void;
}

export class Suspects {
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  #running = 0;
  #half = 0;
  #isPlanned = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when its group runs, with the size of the group. `ended` must follow. @throws the signal's reason */
  turn(most: number, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    return new Promise((resolve, reject) => {
      const begin = (among: number): void => {
        forget();
        resolve(among);
      };
      const one = { most, begin };
      this.#waiting.push(one);
      const forget = onAbort(signal, () => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        reject(reasonOf(signal));
      });
      this.#plan();
    });
  }

  ended(): void {
    this.#running -= 1;
    this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned || this.#running > 0 || this.#waiting.length === 0) return;
    this.#isPlanned = true;
    void this.#clock.sleep(GATHER_MS).then(() => {
      this.#isPlanned = false;
      this.#start();
    });
  }

  #start(): void {
    // The least suspect first, in the largest group.
    const waiting = this.#waiting.toSorted((a, b) => b.most - a.most);
    // The second half is not divided again.
    this.#half = Math.max(this.#half, Math.ceil(waiting.length / 2));
    const group = waiting.filter(({ most }, index) => index < Math.min(this.#half, most));
    this.#waiting = waiting.slice(group.length);
    if (this.#waiting.length === 0) this.#half = 0;
    this.#running = group.length;
    for (const { begin } of group) begin(group.length);
  }
}

/** A late run is no crash; but a handler that always blocks its process for longer than a lock must not run for ever. */
const LATE_PER_CRASH = 4;

/** Why the event is the cause of the crashes; null: it is not. */
export function isCause({ last, alone, late }: Verdict, mostCrashes: number): string | null {
  if (last === 'crashed' && 1 + alone >= mostCrashes)
    return `The process was lost while it handled this event, the last ${alone} times with no other suspect.`;
  if (late >= LATE_PER_CRASH * mostCrashes)
    return `The process that handled this event did not respond for longer than the lock, ${late} times in a row.`;
  return null;
}
