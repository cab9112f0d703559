/** What a subscription would have got of a stretch of the log, and why not the rest. Nothing is sent and nothing is stored. */
import { builtInLists, type ListName, type Lists } from '../crm/lists/lists.js';
import { usage } from '../kit/errors.js';
import { BEFORE_ALL, offsetBefore } from '../events/log-id.js';
import { titleOfEvent } from '../events/describe.js';
import { listOf } from '../events/envelope.js';
import { compileTypes, explainSelection } from '../events/pattern.js';
import type { ChangeEvent } from '../events/types.js';
import { isoTime } from '../kit/clock.js';
import { parseDuration } from '../kit/duration.js';
import type { SubscriptionContext } from './stores.js';
import type { RefusedBy, Tried } from './tried.js';

export interface TryCall {
  /** How far back: a duration such as `'7d'`. @defaultValue '7d' */
  last?: string | undefined;
  /** Only the log of this workspace. @defaultValue all */
  workspace?: string | undefined;
  /** Only the events of this record; `tried` then has each of them, selected or not. */
  record?: { readonly list: string; readonly id: string } | undefined;
  /** How many of the selected events `tried` has, the newest ones. @defaultValue 10 */
  examples?: number | undefined;
  /** Ends the reading; the result is of what was read so far. */
  signal?: AbortSignal | undefined;
}

/** @throws ChangefeedError CF_USAGE when `last` is no duration */
export async function trySubscription(call: TryCall, deps: SubscriptionContext): Promise<Tried> {
  const { last = '7d', workspace: only, record, examples = record === undefined ? 10 : Infinity, signal } = call;
  const { subscription, log, workspaces, clock } = deps;
  const lastMs = parseDuration(last);
  if (lastMs === undefined)
    throw usage(`try, last: found "${last}"; allowed: a duration with its unit, such as 30m or 7d.`);
  const sinceMs = Math.max(0, clock.now() - lastMs);
  const { catalogue = builtInLists } = subscription;
  const list = record && listNamed(record, catalogue);
  const explain = explainSelection(subscription);
  const selectsType = compileTypes(subscription);
  const [byType, byReason] = [new Map<string, number>(), new Map<string, number>()];
  const count = { read: 0, selected: 0 };
  const tried: Tried['tried'][number][] = [];
  const take = (workspace: string, { logId, json, parse }: Scanned): void => {
    if (record !== undefined && !json.includes(JSON.stringify(record.id))) return;
    const type = typeIn(json);
    const event = record === undefined && type !== undefined && !selectsType(type) ? null : parse();
    if (record !== undefined && (event?.subject !== record.id || listOf(event, catalogue) !== list)) return;
    const reason = event === null ? ({ option: 'on', condition: null } as const) : explain(event);
    count.read += 1;
    if (reason !== null) add(byReason, JSON.stringify(reason));
    if (event === null || (reason !== null && record === undefined)) return;
    if (reason === null) {
      count.selected += 1;
      add(byType, event.type);
    }
    tried.push(seenIn({ workspace, logId, event, refusedBy: reason }));
    if (tried.length > examples) tried.shift();
  };
  const isOver = (): boolean => signal?.aborted === true;
  for (const workspace of workspaces) {
    if ((only !== undefined && only !== workspace) || isOver()) continue;
    const range = { after: offsetBefore(`${sinceMs}-0`), last: await log.tail(workspace) };
    if (range.last === BEFORE_ALL) continue;
    for await (const entries of log.scan(workspace, range)) {
      for (const entry of entries) take(workspace, entry);
      if (isOver()) break;
    }
  }
  const refused = sorted(byReason).map(([reason, events]) => ({ ...(JSON.parse(reason) as RefusedBy), events }));
  const byTypes = Object.fromEntries(sorted(byType));
  return { subscription: subscription.name, since: isoTime(sinceMs), ...count, byType: byTypes, refused, tried };
}

type Scanned = { logId: string; json: string; parse: () => ChangeEvent };

/** The type, where it stands as this release writes it; any other event is parsed. */
function typeIn(json: string): string | undefined {
  return /^\{"specversion":"1\.0","id":"[^"\\]*","source":"[^"\\]*","type":"([^"\\]*)"/.exec(json)?.[1];
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

const sorted = (counts: ReadonlyMap<string, number>) => [...counts].sort(([, a], [, b]) => b - a);
