/** What a subscription would have got of a stretch of the log, and why not the rest. Nothing is sent and nothing is stored. */
import { setImmediate } from 'node:timers/promises';
import { builtInLists, type ListName, type Lists } from '../crm/lists/lists.js';
import { usage } from '../kit/errors.js';
import { BEFORE_ALL, offsetBefore } from '../events/log-id.js';
import { titleOfEvent } from '../events/describe.js';
import { listOf } from '../events/envelope.js';
import { createPartialReader, type AskedFields } from '../events/partial.js';
import { compileTypes, explainSelection } from '../events/pattern.js';
import type { ChangeEvent } from '../events/types.js';
import { isoTime } from '../kit/clock.js';
import { parseDuration } from '../kit/duration.js';
import type { Subscription } from './handlers/handler.js';
import type { SubscriptionContext } from './stores.js';
import type { RefusedBy, Tried } from './tried.js';

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
  /** Where a call ended before it was done (`next`). */
  from?: { readonly workspace: string; readonly before: string } | undefined;
  /** How many of the selected events `tried` has, the newest ones. @defaultValue 10 */
  examples?: number | undefined;
  /** Ends the reading, which begins with the newest event; the result is of what was read so far. */
  signal?: AbortSignal | undefined;
}

type TryDeps = Pick<SubscriptionContext, 'subscription' | 'log' | 'workspaces' | 'clock'>;

type Scanned = { logId: string; bytes: Buffer; parse: () => ChangeEvent };

/** The process has other things to do between so many events. */
const AT_ONCE = 100;

/** @throws ChangefeedError CF_USAGE when `last` is no duration, and for a subscription that gets reports */
export async function trySubscription(call: TryCall, deps: TryDeps): Promise<Tried> {
  const { last = '7d', workspace: only, from, signal } = call;
  const { subscription, log, workspaces, clock } = deps;
  if (subscription.report !== undefined)
    throw usage(`try: the subscription "${subscription.name}" gets reports and no events.`);
  const lastMs = parseDuration(last);
  if (lastMs === undefined)
    throw usage(`try, last: found "${last}"; allowed: a duration with its unit, such as 30m or 7d.`);
  const sinceMs = Math.max(0, clock.now() - lastMs);
  const counts = new Counts(call, subscription);
  const wanted = workspaces.filter((name) => only === undefined || only === name);
  let next: Tried['next'] = null;
  for (const workspace of wanted.slice(from === undefined ? 0 : wanted.indexOf(from.workspace))) {
    const end = from?.workspace === workspace ? from.before : await log.tail(workspace);
    const range = { after: offsetBefore(`${sinceMs}-0`), last: end };
    if (end === BEFORE_ALL) continue;
    for await (const entries of log.scan(workspace, range)) {
      for (const [at, entry] of entries.entries()) {
        if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
        if (signal?.aborted === true) next ??= { workspace, before: entry.logId };
        if (next !== null) break;
        counts.take(workspace, entry);
      }
      if (next !== null) break;
    }
    if (next !== null) break;
  }
  return { subscription: subscription.name, since: isoTime(sinceMs), ...counts.found(), next };
}

/** What was found so far, the newest first. */
class Counts {
  readonly #byType = new Map<string, number>();
  readonly #byReason = new Map<string, number>();
  readonly #tried: (() => Tried['tried'][number])[] = [];
  readonly #selectsType: (type: string) => boolean;
  readonly #explain: (event: ChangeEvent) => RefusedBy | null;
  readonly #isOf: ((event: ChangeEvent) => boolean) | null;
  readonly #text: string;
  readonly #examples: number;
  /** Nothing but the type of an event is needed. */
  readonly #isDecidedByType: boolean;
  /** What decides about an event, where that are some fields. */
  readonly #parsePart: (bytes: Buffer) => ChangeEvent | null;
  #read = 0;
  #selected = 0;

  constructor({ record, search, examples }: TryCall, subscription: Subscription) {
    const { catalogue = builtInLists, workspaces, lists, fields, from, notFrom, where, class: wanted } = subscription;
    const list = record && listNamed(record, catalogue);
    this.#selectsType = compileTypes(subscription);
    this.#explain = explainSelection(subscription);
    this.#text = JSON.stringify(record?.id ?? search ?? '').slice(1, -1);
    this.#isOf =
      record !== undefined
        ? (event) => event.subject === record.id && listOf(event, catalogue) === list
        : search !== undefined
          ? (event) => event.subject === search || (titleOfEvent(event)?.includes(search) ?? false)
          : null;
    this.#examples = examples ?? (this.#isOf === null ? 10 : Infinity);
    const others = [workspaces, lists, fields, from, notFrom, where, wanted];
    this.#isDecidedByType = this.#isOf === null && others.every((option) => option === undefined);
    const asks = where === undefined ? NO_FIELDS : where.asks;
    this.#parsePart = this.#isOf === null && asks !== undefined ? createPartialReader(asks) : () => null;
  }

  take(workspace: string, { logId, bytes, parse }: Scanned): void {
    if (this.#isOf !== null && !bytes.includes(this.#text)) return;
    const type = typeIn(bytes);
    const isRefused = this.#isOf === null && type !== undefined && !this.#selectsType(type);
    const isSure = this.#isDecidedByType && type !== undefined;
    const event = isRefused || isSure ? null : (this.#parsePart(bytes) ?? parse());
    if (event !== null && this.#isOf?.(event) === false) return;
    const refusedBy = isRefused ? BY_TYPE : event === null ? null : this.#explain(event);
    this.#read += 1;
    if (refusedBy !== null) add(this.#byReason, JSON.stringify(refusedBy));
    else {
      this.#selected += 1;
      add(this.#byType, type ?? event?.type ?? '');
    }
    if (this.#tried.length < this.#examples && (refusedBy === null || this.#isOf !== null))
      this.#tried.push(() => seenIn({ workspace, logId, event: parse(), refusedBy }));
  }

  found(): Pick<Tried, 'read' | 'selected' | 'byType' | 'refused' | 'tried'> {
    const refused = sorted(this.#byReason).map(([reason, events]) => ({
      ...(JSON.parse(reason) as RefusedBy),
      events,
    }));
    const byType = Object.fromEntries(sorted(this.#byType));
    const tried = this.#tried.map((make) => make()).reverse();
    return { read: this.#read, selected: this.#selected, byType, refused, tried };
  }
}

const NO_FIELDS: AskedFields = { before: [], after: [], changes: [] };
const BY_TYPE: RefusedBy = { option: 'on', condition: null };

/** Where the type stands in an event as this release writes it. */
const HEAD = 400;

/** Undefined for any other event, which is parsed. */
function typeIn(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, HEAD);
  return /^\{"specversion":"1\.0","id":"[^"\\]*","source":"[^"\\]*","type":"([^"\\]*)"/.exec(head)?.[1];
}

function listNamed({ list }: NonNullable<TryCall['record']>, catalogue: Lists): ListName {
  const found = catalogue.parse(list);
  if (found === undefined)
    throw usage(
      `try, record: there is no list "${list}"; allowed: ${catalogue.all.map(({ name }) => name).join(', ')}.`,
    );
  return found.name;
}

function seenIn({
  event,
  ...rest
}: {
  workspace: string;
  logId: string;
  event: ChangeEvent;
  refusedBy: RefusedBy | null;
}) {
  const { id, type, subject: record, data } = event;
  return { ...rest, id, type, record, title: titleOfEvent(event), observedAt: data.observedAt };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const sorted = (counts: ReadonlyMap<string, number>) =>
  [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
