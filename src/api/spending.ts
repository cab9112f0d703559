/** What a process's requests of the last minute were for, in memory. */
import type { ListName } from '../crm/lists/lists.js';
import type { Clock } from '../runtime/clock.js';
import type { BudgetRequest, RequestKind } from './budget.js';

export interface Spent {
  list: ListName;
  kind: RequestKind;
  /** Requests in the last minute. */
  requests: number;
}

const MINUTE_MS = 60_000;

export function createSpending(clock: Clock) {
  let sent: { list: ListName; kind: RequestKind; atMs: number }[] = [];
  let prunedMs = clock.now();
  const prune = (nowMs: number): void => {
    sent = sent.filter(({ atMs }) => nowMs - atMs < MINUTE_MS);
    prunedMs = nowMs;
  };
  return {
    count({ list, kind }: BudgetRequest): void {
      const nowMs = clock.now();
      if (nowMs - prunedMs >= MINUTE_MS) prune(nowMs);
      sent.push({ list, kind, atMs: nowMs });
    },
    lastMinute(): Spent[] {
      prune(clock.now());
      const spent = new Map<string, Spent>();
      for (const { list, kind } of sent) {
        const name = `${kind} ${list}`;
        spent.set(name, { list, kind, requests: (spent.get(name)?.requests ?? 0) + 1 });
      }
      return [...spent.values()];
    },
  };
}
