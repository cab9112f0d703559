/**
 * Decides which of the waiting requests of a process is sent next. Pure: the caller says when one may be sent.
 *
 * - Urgent requests (tails, aimed fetches) come before walks, but while walks wait, at most `URGENT_SHARE` of the requests are urgent.
 * - Walks share the rest by weight, by start-time fair queueing: each list has a virtual time that advances by 1/weight with each
 *   request, and the list that is furthest behind is next. A list that asked for nothing for a while gets no credit for that time.
 * - Of the urgent requests, the most valuable one of all lists comes first (sweep/shortcuts/plan.ts).
 */
import type { ListName } from '../crm/lists/lists.js';
import type { BudgetRequest, RequestKind, WalkLoad } from './budget.js';

/**
 * The walk of all lists finds every change, however the other requests fail, so it sets the longest delay: the time of a walk in the
 * whole budget, divided by the part that is left to walks.
 */
const URGENT_SHARE = 0.4;

/**
 * The weight of a list's walks is the sum of three parts.
 * - By pages: every list is then swept in the same time. This bounds the longest delay.
 * - By the square root of pages × rate of change: minimises the mean delay of all changes.
 * - Equal: a small list is swept often, and at little cost, even before anything has changed in it.
 * The first part is the largest, because a change must not be found later than by a walk of all lists in turn: with 0.92, a sweep takes at
 * most 1.09 times as long.
 */
const BY_PAGES = 0.92;
const BY_CHANGE = 0.05;
const EQUALLY = 0.03;

/** The credit for one request, less the rounding errors of its parts: 1/2 + 1/2 may be a little less than 1. */
const WHOLE = 1 - 1e-9;

export interface FairQueue<Waiting> {
  readonly size: number;
  add(request: Pick<BudgetRequest, 'list' | 'kind' | 'value'>, waiting: Waiting): void;
  /** Removes one that no longer waits. */
  remove(waiting: Waiting): void;
  /** Takes the one whose turn it is; undefined when none waits. */
  next(nowMs: number): Waiting | undefined;
  /** What the walks of a list cost and find. Lists without it count as average. */
  weigh(list: ListName, load: WalkLoad): void;
}

export function createFairQueue<Waiting>(urgentShare = URGENT_SHARE): FairQueue<Waiting> {
  const walks = createTurns<Waiting>();
  const urgent: { waiting: Waiting; value: NonNullable<BudgetRequest['value']> }[] = [];
  const loads = new Map<ListName, WalkLoad>();
  const nextUrgent = (nowMs: number): Waiting | undefined => {
    const values = urgent.map(({ value }) => value(nowMs));
    const at = values.indexOf(Math.max(...values));
    return at === -1 ? undefined : urgent.splice(at, 1)[0]?.waiting;
  };
  let weights: ReadonlyMap<ListName, number> = new Map();
  // Urgent requests that walks have earned them. Less than two, so that a pause of the urgent ones is followed by no burst.
  const earned = urgentShare / (1 - urgentShare);
  let credit = 1;
  return {
    get size() {
      return walks.size + urgent.length;
    },
    add({ list, kind, value = () => 0 }, waiting) {
      if (isUrgent(kind)) urgent.push({ waiting, value });
      else walks.add(list, waiting);
    },
    remove(waiting) {
      walks.remove(waiting);
      const at = urgent.findIndex((one) => one.waiting === waiting);
      if (at !== -1) urgent.splice(at, 1);
    },
    next(nowMs) {
      if (walks.size === 0) return nextUrgent(nowMs);
      if (urgent.length > 0 && credit >= WHOLE) {
        credit -= 1;
        return nextUrgent(nowMs);
      }
      credit = Math.min(1, credit) + earned;
      return walks.next((list) => weights.get(list) ?? 1);
    },
    weigh(list, load) {
      loads.set(list, load);
      weights = walkWeights(loads);
    },
  };
}

function isUrgent(kind: RequestKind): boolean {
  return kind === 'tail' || kind === 'aimed';
}

/** The weights of the lists' walks; 1 on average. */
export function walkWeights(loads: ReadonlyMap<ListName, WalkLoad>): Map<ListName, number> {
  const lists = [...loads];
  const pages = lists.map(([, load]) => Math.max(1, load.pages));
  const roots = lists.map(([, load]) => Math.sqrt(Math.max(1, load.pages) * load.changesPerSecond));
  const allPages = sum(pages);
  const allRoots = sum(roots);
  return new Map(
    lists.map(([list], at) => {
      const byPages = (pages[at] ?? 0) / allPages;
      const byChange = allRoots > 0 ? (roots[at] ?? 0) / allRoots : byPages;
      return [list, lists.length * (BY_PAGES * byPages + BY_CHANGE * byChange) + EQUALLY];
    }),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

interface Line<Waiting> {
  waiting: Waiting[];
  /** Virtual time at which its next request is due. */
  due: number;
}

/** Start-time fair queueing over named lines. */
function createTurns<Waiting>() {
  const lines = new Map<string, Line<Waiting>>();
  // That of the last request taken.
  let time = 0;
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(name: string, waiting: Waiting): void {
      const line = lines.get(name) ?? { waiting: [], due: time };
      if (line.waiting.length === 0) line.due = Math.max(line.due, time);
      line.waiting.push(waiting);
      lines.set(name, line);
      size += 1;
    },
    remove(waiting: Waiting): void {
      for (const line of lines.values()) {
        const at = line.waiting.indexOf(waiting);
        if (at === -1) continue;
        line.waiting.splice(at, 1);
        size -= 1;
      }
    },
    next(weightOf: (name: string) => number): Waiting | undefined {
      const [name, line] = [...lines].filter(([, one]) => one.waiting.length > 0).sort(byDue)[0] ?? [];
      if (name === undefined || line === undefined) return undefined;
      time = line.due;
      line.due += 1 / weightOf(name);
      size -= 1;
      return line.waiting.shift();
    },
  };
}

function byDue<Waiting>([, one]: [string, Line<Waiting>], [, other]: [string, Line<Waiting>]): number {
  return one.due - other.due;
}
