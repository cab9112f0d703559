/** The lists for which no process has asked within their usual period. No stored time is believed: a clock may have stepped. */
import type { ListName } from '../../crm/lists/lists.js';
import type { Clock } from '../../kit/clock.js';
import type { ListTimes } from '../store/schedule.js';
import { usualPeriodMs, type Pace } from './schedule.js';

interface AskedList {
  /** Time of the monotonic clock. */
  atMs: number;
  periodMs: number;
  /** The last complete sweep that this process knows. */
  sweepId: string | undefined;
}

/** Less is the start of a sweep. */
const LEAST_MS = 10_000;

export class AskedLists {
  readonly #lists = new Map<ListName, AskedList>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** This process polls the list from now on. */
  begin(list: ListName, pace: Pace): void {
    const periodMs = usualPeriodMs(pace, null);
    this.#lists.set(list, { atMs: this.#clock.monotonic(), periodMs, sweepId: undefined });
  }

  /** The API has answered, or another process holds the lease. */
  asked(list: ListName): void {
    const entry = this.#lists.get(list);
    if (entry !== undefined) entry.atMs = this.#clock.monotonic();
  }

  /** A complete sweep that was not there before shows that a process has asked. */
  stored(list: ListName, lastSweep: ListTimes['lastSweep'], pace: Pace): void {
    const entry = this.#lists.get(list);
    if (entry === undefined) return;
    if (lastSweep?.sweepId !== entry.sweepId) this.asked(list);
    Object.assign(entry, { sweepId: lastSweep?.sweepId, periodMs: usualPeriodMs(pace, lastSweep) });
  }

  /** The late lists, and by how many ms each is late. */
  late(): { list: ListName; forMs: number }[] {
    const nowMs = this.#clock.monotonic();
    const all = [...this.#lists].map(([list, { atMs, periodMs }]) => ({ list, forMs: nowMs - atMs - periodMs }));
    return all.filter(({ forMs }) => forMs > LEAST_MS);
  }
}
