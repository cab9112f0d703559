/**
 * Decides which of the waiting requests of a process is sent next. Pure: the caller says when one may be sent.
 *
 * - Urgent requests (tails, aimed fetches) precede walks, but while walks wait are at most `URGENT_SHARE` of all.
 * - Walks share the rest by start-time fair queueing: a list's virtual time advances by 1/weight with each request,
 *   and the list furthest behind is next. A list that asked for nothing may catch up `CREDIT` requests.
 * - The most valuable urgent request of all lists comes first.
 */
import type { ListName } from '../../crm/lists/lists.js';
import type { BudgetRequest, RequestKind, WalkLoad } from './budget.js';

/** The walk of all lists finds every change, however the other requests fail, so it sets the longest delay. */
const URGENT_SHARE = 0.5;

/**
 * A list's part is by the square root of pages × changes that only its walks find, which minimises their mean delay,
 * and at least an equal part plus one by pages: every list is walked at least once in `MOST_WALKS` times of a walk of
 * all lists in the whole budget. Background lists together get a tenth, by their pages.
 */
const MOST_WALKS = 4;
const EQUALLY = 0.03;
export const BACKGROUND_PART = 0.1;

/** The part of the requests that walks get is measured over so many of them. */
const MEASURED_REQUESTS = 500;

/** Requests that a list may catch up. A walk, which asks for page after page, would lose what it does not use. */
const CREDIT = 60;

/** The credit for one request, less the rounding errors of its parts: 1/2 + 1/2 may be a little less than 1. */
const WHOLE = 1 - 1e-9;

export function createFairQueue<Waiting>(urgentShare = URGENT_SHARE) {
  const walks = createTurns<Waiting>((list) => weights.get(list) ?? 1);
  const urgent: { waiting: Waiting; value: NonNullable<BudgetRequest['value']> }[] = [];
  const loads = new Map<ListName, WalkLoad>();
  const nextUrgent = (nowMs: number): Waiting | undefined => {
    const values = urgent.map(({ value }) => value(nowMs));
    const at = values.indexOf(Math.max(...values));
    return at === -1 ? undefined : urgent.splice(at, 1)[0]?.waiting;
  };
  let weights: ReadonlyMap<ListName, number> = new Map();
  // Urgent requests that walks have earned. Less than two, so that no burst follows a pause of the urgent ones.
  const earned = urgentShare / (1 - urgentShare);
  let credit = 1;
  let walkPart = 1;
  return {
    get size(): number {
      return walks.size + urgent.length;
    },
    add({ list, kind, value = () => 0 }: BudgetRequest, waiting: Waiting): void {
      if (isUrgent(kind)) urgent.push({ waiting, value });
      else walks.add(list, waiting);
    },
    remove(waiting: Waiting): void {
      walks.remove(waiting);
      const at = urgent.findIndex((one) => one.waiting === waiting);
      if (at !== -1) urgent.splice(at, 1);
    },
    next(nowMs: number): Waiting | undefined {
      if (walks.size === 0) return nextUrgent(nowMs);
      const isUrgentNext = urgent.length > 0 && credit >= WHOLE;
      walkPart += ((isUrgentNext ? 0 : 1) - walkPart) / MEASURED_REQUESTS;
      if (isUrgentNext) {
        credit -= 1;
        return nextUrgent(nowMs);
      }
      credit = Math.min(1, credit) + earned;
      return walks.next();
    },
    /** Notes the cost and the yield of a list's walks. Lists without them count as average. */
    weigh(list: ListName, load: WalkLoad): void {
      loads.set(list, load);
      weights = walkWeights(loads, walkPart);
    },
  };
}

function isUrgent(kind: RequestKind): boolean {
  return kind === 'tail' || kind === 'aimed';
}

/** 1 on average. @param walkPart the part of all requests that walks get */
export function walkWeights(loads: ReadonlyMap<ListName, WalkLoad>, walkPart = 1): Map<ListName, number> {
  const background = [...loads].filter(([, { isBackground }]) => isBackground === true);
  const usual = [...loads].filter(([, { isBackground }]) => isBackground !== true);
  const inBackground = usual.length === 0 ? 1 : background.length === 0 ? 0 : BACKGROUND_PART;
  const weigh =
    (part: number) =>
    ([list, share]: [ListName, number]): [ListName, number] => [list, loads.size * part * share];
  return new Map([
    ...byPages(background).map(weigh(inBackground)),
    ...usualShares(usual, walkPart * (1 - inBackground)).map(weigh(1 - inBackground)),
  ]);
}

type Loads = [ListName, WalkLoad][];
type Shares = [ListName, number][];

function usualShares(loads: Loads, walkPart: number): Shares {
  const bound = Math.min(1 - EQUALLY, 1 / (MOST_WALKS * walkPart));
  const pages = byPages(loads).map(([, part]) => part);
  const least = pages.map((part) => EQUALLY / loads.length + bound * part);
  const changes = byChange(loads);
  const shares = atLeast(least, changes.length > 0 ? changes : pages);
  return loads.map(([list], at) => [list, shares[at] ?? 0]);
}

/** Shares of one as wanted, but none below its least; those that want more give in proportion. */
function atLeast(least: readonly number[], wanted: readonly number[]): readonly number[] {
  let shares = wanted;
  const isBelow = (share: number, at: number): boolean => share < (least[at] ?? 0);
  while (shares.some(isBelow)) {
    const isShort = shares.map((share, at) => share <= (least[at] ?? 0));
    const remaining = 1 - sum(least.filter((_, at) => isShort[at]));
    const all = sum(wanted.filter((_, at) => isShort[at] !== true));
    shares = wanted.map((part, at) => (isShort[at] === true ? (least[at] ?? 0) : (part * remaining) / all));
  }
  return shares;
}

function byPages(loads: Loads): Shares {
  const all = sum(loads.map(([, load]) => pagesOf(load)));
  return loads.map(([list, load]) => [list, pagesOf(load) / all]);
}

/** Empty while no change is known. A list whose changes are not known counts as average. */
function byChange(loads: Loads): number[] {
  const roots = loads.map(([, load]) => Math.sqrt(pagesOf(load) * (load.changesPerSecond ?? 0)));
  const measured = loads.filter(([, { changesPerSecond }]) => changesPerSecond !== null);
  const average = sum(roots) / sum(measured.map(([, load]) => pagesOf(load)));
  const filled = loads.map(([, load], at) =>
    load.changesPerSecond === null ? average * pagesOf(load) : (roots[at] ?? 0),
  );
  const all = sum(filled);
  return all > 0 ? filled.map((root) => root / all) : [];
}

function pagesOf({ pages }: WalkLoad): number {
  return Math.max(1, pages);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

interface WaitingLine<Waiting> {
  waiting: Waiting[];
  /** Virtual time at which its next request is due. */
  due: number;
}

function createTurns<Waiting>(weightOf: (name: string) => number) {
  const lines = new Map<string, WaitingLine<Waiting>>();
  // The virtual time of the last request taken.
  let time = 0;
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(name: string, waiting: Waiting): void {
      const line = lines.get(name) ?? { waiting: [], due: time };
      if (line.waiting.length === 0) line.due = Math.max(line.due, time - CREDIT / weightOf(name));
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
    next(): Waiting | undefined {
      const [name, line] = [...lines].filter(([, one]) => one.waiting.length > 0).sort(byDue)[0] ?? [];
      if (name === undefined || line === undefined) return undefined;
      time = line.due;
      line.due += 1 / weightOf(name);
      size -= 1;
      return line.waiting.shift();
    },
  };
}

function byDue<Waiting>([, one]: [string, WaitingLine<Waiting>], [, other]: [string, WaitingLine<Waiting>]): number {
  return one.due - other.due;
}
