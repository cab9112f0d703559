/**
 * What a process knows of a workspace's log: the newest entry, whose absence shows that Redis went back to an earlier state, and the steps
 * that it committed lately, which it can put back then. A process has another mark after that; what still arrives for the old one is ignored.
 */
import type { ListName } from '../crm/lists/lists.js';
import { BEFORE_ALL, compareLogIds, timeOfLogId } from '../events/log-id.js';
import type { Step } from '../sweep/store.js';

/** What a step has committed about records and to the log. */
export type PuttableStep = Pick<Step, 'writes' | 'events' | 'schema' | 'schemaSequences'>;

export interface KeptStep {
  list: ListName;
  /** Of its last event. */
  logId: string;
  step: PuttableStep;
  /** Characters of what it wrote. */
  size: number;
}

/** A failover that loses more than this is not one of seconds; then the next sweeps have to find what is missing. */
const KEPT_MS = 120_000;
const MOST_KEPT = 16_000_000;

export class LogMark {
  #newest: string;
  #steps: KeptStep[] = [];
  #size = 0;

  /** @param newest `''` where nothing is known */
  constructor(newest = '') {
    this.#newest = newest;
  }

  get newest(): string {
    return this.#newest;
  }

  /** Oldest first. */
  get steps(): readonly KeptStep[] {
    return this.#steps;
  }

  /** @param logId an entry that was read or written after the log was seen to have the newest one; `''` for none */
  saw(logId: string): void {
    if (logId !== '' && compareLogIds(logId, this.#newest === '' ? BEFORE_ALL : this.#newest) > 0) this.#newest = logId;
  }

  keep(kept: KeptStep): void {
    this.#steps.push(kept);
    this.#size += kept.size;
    const isOld = ({ logId }: KeptStep): boolean => timeOfLogId(kept.logId) - timeOfLogId(logId) > KEPT_MS;
    const first = this.#steps.findIndex((one) => {
      if (!isOld(one) && this.#size <= MOST_KEPT) return true;
      this.#size -= one.size;
      return false;
    });
    if (first !== 0) this.#steps = first === -1 ? [] : this.#steps.slice(first);
  }
}
