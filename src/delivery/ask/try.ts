/** What a subscription would have got of a stretch of the log, and why not the rest. Nothing is sent and nothing is stored. */
import { builtInLists, type ListName, type Lists } from '../../crm/lists/lists.js';
import { usage } from '../../kit/errors.js';
import { titleOfEvent } from '../../events/describe.js';
import { listOf } from '../../events/envelope.js';
import { timeOfLogId } from '../../events/log-id.js';
import { END, formatPosition, parsePosition } from '../../events/position.js';
import { compileTypes, explainSelection, type RefusedBy } from '../../events/pattern.js';
import type { ChangeEvent } from '../../events/types.js';
import { isoTime } from '../../kit/clock.js';
import { parseDuration } from '../../kit/duration.js';
import { giveWay } from '../../kit/give-way.js';
import { inUtf8, type LogEntry } from '../../log/entry.js';
import type { Subscription } from '../handlers/handler.js';
import type { SubscriptionContext } from '../stores.js';
import type { Tried } from './tried.js';

/** How far back, and of which events. */
export interface TryCall {
  /** How far back: a duration such as `'7d'`. @defaultValue '7d' */
  last?: string | undefined;
  /** Only the log of this workspace. @defaultValue all */
  workspace?: string | undefined;
  /** Only the events of this record; `tried` then has each of them, selected or not. */
  record?: { readonly list: string; readonly id: string } | undefined;
  /** Only events whose record is called so, or has this id; as with `record`, each of them. */
  search?: string | undefined;
  /** Where a call ended before it was done (`next`). @defaultValue the end of the log */
  from?: string | undefined;
  /** How many of the selected events `tried` has, the newest ones. @defaultValue 10 */
  examples?: number | undefined;
  /** Ends the reading, which begins with the newest event; the result is of what was read so far. */
  signal?: AbortSignal | undefined;
}

type TryDeps = Pick<SubscriptionContext, 'subscription' | 'log' | 'workspaces' | 'clock'>;

/** Then a page shows what was found so far, and asks for the rest. */
export const FIRST_ANSWER_MS = 700;
const DAY_MS = 86_400_000;

/** @throws ChangefeedError CF_USAGE when `last` is no duration or `from` no position, and for a subscription that gets reports */
export async function trySubscription(call: TryCall, deps: TryDeps): Promise<Tried> {
  const { last = '7d', workspace: only, from = '', signal } = call;
  const { subscription, log, clock } = deps;
  if (subscription.report !== undefined)
    throw usage(`try: the subscription "${subscription.name}" gets reports and no events.`);
  const lastMs = parseDuration(last);
  if (lastMs === undefined)
    throw usage(`try, last: found "${last}"; allowed: a duration with its unit, such as 30m or 7d.`);
  const asked = from === '' ? new Map<string, string>() : parsePosition(from);
  if (asked === null) throw usage(`try, from: found "${from}"; allowed: a position such as acme@1700000000000-0.`);
  const sinceMs = Math.max(0, clock.now() - lastMs);
  const counts = new Counts(call, { subscription, nowMs: clock.now(), days: Math.ceil(lastMs / DAY_MS) });
  const workspaces = deps.workspaces.filter((name) => only === undefined || only === name);
  const reached = new Map(workspaces.map((name) => [name, asked.get(name) ?? END]));
  const range = { workspaces, order: 'newest', from: reached, to: `${sinceMs}-0`, signal } as const;
  for await (const entries of log.query(range)) {
    await giveWay();
    for (const entry of entries) {
      counts.take(entry);
      reached.set(entry.workspace, entry.logId);
    }
  }
  const next = signal?.aborted === true ? formatPosition(reached) : null;
  return { subscription: subscription.name, since: isoTime(sinceMs), ...counts.found(), next };
}

/** What was found so far, the newest first. */
class Counts {
  readonly #byType = new Map<string, number>();
  readonly #byReason = new Map<string, number>();
  readonly #tried: Tried['tried'][number][] = [];
  readonly #selectsType: (type: string) => boolean;
  readonly #explain: (event: ChangeEvent) => RefusedBy | null;
  /** Whether it is of the record that is asked for; null: all are. */
  readonly #isOf: ((entry: LogEntry) => boolean) | null;
  readonly #examples: number;
  readonly #nowMs: number;
  readonly #perDay: number[];
  /** Nothing but the type of an event is needed. */
  readonly #isDecidedByType: boolean;
  #read = 0;
  #selected = 0;

  constructor(
    { record, search, examples }: TryCall,
    { subscription, nowMs, days }: { subscription: Subscription; nowMs: number; days: number },
  ) {
    const { catalogue = builtInLists, workspaces, lists, fields, from, notFrom, where, class: wanted } = subscription;
    const list = record && listNamed(record, catalogue);
    this.#nowMs = nowMs;
    this.#perDay = Array.from({ length: days }, () => 0);
    this.#selectsType = compileTypes(subscription);
    this.#explain = explainSelection(subscription);
    this.#isOf =
      record !== undefined
        ? (entry) => entry.subject === inUtf8(record.id) && listOf(entry, catalogue) === list
        : search !== undefined
          ? (entry) => entry.subject === inUtf8(search) || (titleOfEvent(entry.parse())?.includes(search) ?? false)
          : null;
    this.#examples = examples ?? (this.#isOf === null ? 10 : Infinity);
    const others = [workspaces, lists, fields, from, notFrom, where, wanted];
    this.#isDecidedByType = others.every((option) => option === undefined);
  }

  take(entry: LogEntry): void {
    if (this.#isOf?.(entry) === false) return;
    const refusedBy = this.#refusedBy(entry);
    this.#read += 1;
    if (refusedBy !== null) add(this.#byReason, reasonOf(refusedBy));
    else {
      this.#selected += 1;
      add(this.#byType, entry.type);
      this.#addToDay(timeOfLogId(entry.logId));
    }
    if (this.#tried.length < this.#examples && (refusedBy === null || this.#isOf !== null))
      this.#tried.push(seenIn(entry, refusedBy));
  }

  #addToDay(loggedMs: number): void {
    const day = Math.min(this.#perDay.length - 1, Math.max(0, Math.floor((this.#nowMs - loggedMs) / DAY_MS)));
    this.#perDay[day] = (this.#perDay[day] ?? 0) + 1;
  }

  #refusedBy(entry: LogEntry): RefusedBy | null {
    if (!this.#selectsType(entry.type)) return BY_TYPE;
    return this.#isDecidedByType ? null : this.#explain(entry.parse());
  }

  found(): Pick<Tried, 'read' | 'selected' | 'byType' | 'perDay' | 'refused' | 'tried'> {
    const refused = sorted(this.#byReason).map(([reason, events]) => ({
      ...(JSON.parse(reason) as Pick<RefusedBy, 'option' | 'condition'>),
      events,
    }));
    const byType = Object.fromEntries(sorted(this.#byType));
    const counts = { read: this.#read, selected: this.#selected, byType, perDay: this.#perDay };
    return { ...counts, refused, tried: this.#tried.toReversed() };
  }
}

const BY_TYPE: RefusedBy = { option: 'on', condition: null, wanted: null, found: null };

/** Not the values, which would make a reason of each event. */
const reasonOf = ({ option, condition }: RefusedBy): string => JSON.stringify({ option, condition });

function listNamed({ list }: NonNullable<TryCall['record']>, catalogue: Lists): ListName {
  const found = catalogue.parse(list);
  if (found === undefined)
    throw usage(
      `try, record: there is no list "${list}"; allowed: ${catalogue.all.map(({ name }) => name).join(', ')}.`,
    );
  return found.name;
}

function seenIn(entry: LogEntry, refusedBy: RefusedBy | null): Tried['tried'][number] {
  const { workspace, logId, type, subject: record } = entry;
  const event = entry.parse();
  const { observedAt } = event.data;
  return { workspace, logId, refusedBy, id: event.id, type, record, title: titleOfEvent(event), observedAt };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const sorted = (counts: ReadonlyMap<string, number>) =>
  [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
