/** What a process's requests of the last minute were for: counters in memory, in slots of a few seconds. */
import type { ListName } from '../crm/lists/lists.js';
import type { Clock } from '../runtime/clock.js';
import type { BudgetRequest, RequestKind } from './budget.js';

export interface Spent {
  list: ListName;
  kind: RequestKind;
  /** Requests in the last minute. */
  requests: number;
}

export interface Spending {
  count(request: Pick<BudgetRequest, 'list' | 'kind'>): void;
  lastMinute(): Spent[];
}

const SLOT_MS = 5_000;
const SLOTS = 12;

export function createSpending(clock: Clock): Spending {
  // Slot → `<kind> <list>` → requests; only the slots of the last minute.
  const slots = new Map<number, Map<string, Spent>>();
  const slotNow = (): number => Math.floor(clock.now() / SLOT_MS);
  const forget = (now: number): void => {
    for (const slot of slots.keys()) if (slot <= now - SLOTS || slot > now) slots.delete(slot);
  };
  return {
    count({ list, kind }) {
      const now = slotNow();
      forget(now);
      add(slotOf(slots, now), { list, kind, requests: 1 });
    },
    lastMinute() {
      forget(slotNow());
      const total = new Map<string, Spent>();
      for (const slot of slots.values()) for (const spent of slot.values()) add(total, spent);
      return [...total.values()];
    },
  };
}

function slotOf(slots: Map<number, Map<string, Spent>>, slot: number): Map<string, Spent> {
  const found = slots.get(slot) ?? new Map<string, Spent>();
  slots.set(slot, found);
  return found;
}

function add(to: Map<string, Spent>, { list, kind, requests }: Spent): void {
  const name = `${kind} ${list}`;
  to.set(name, { list, kind, requests: requests + (to.get(name)?.requests ?? 0) });
}
