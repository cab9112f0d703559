/** Who got an event, when, after how many attempts, with what answer: from the receipts, and from what still waits. */
import { usage } from '../../kit/errors.js';
import { compareLogIds } from '../../events/log-id.js';
import { parsePosition } from '../../events/position.js';
import { explainSelection, readsWorkspace } from '../../events/pattern.js';
import type { ChangeEvent } from '../../events/types.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { Subscription } from '../handlers/handler.js';
import { isoTime } from '../../kit/clock.js';
import type { Receipt, ReceiptOutcome } from './receipt.js';
import type { ReceiptFilter } from './receipts.js';
import type { WaitingDelivery } from '../waiting.js';
import { idsOf, loggedAt, originOf } from '../deliveries.js';
import type { DispatchContext } from '../stores.js';
import { rowOf, rowWithout, type DeliveryRow } from './delivery-row.js';

/** Which deliveries; what is left out does not restrict. */
export interface DeliveriesQuery {
  /** The id of an event, or its position `<workspace>@<log id>`: every subscription answers. @defaultValue all events */
  event?: string | undefined;
  /** With `list`: the id of a record. @defaultValue all records */
  record?: string | undefined;
  list?: ListName | undefined;
  /** @defaultValue all */
  subscription?: string | undefined;
  /** @defaultValue all */
  workspace?: string | undefined;
  /** `failed`: retry and dead. `pending`: what waits. @defaultValue all */
  outcome?: DeliveryRow['outcome'] | 'failed' | undefined;
  /** At most so many, newest first; 1 to 500. @defaultValue 50 */
  limit?: number | undefined;
}

export const MOST_ROWS = 500;
/** The newest that wait are looked at for those of a record. */
const MOST_WAITING = 500;
/** Events of a log that are searched for one that has no receipt and does not wait. */
const MOST_LOGGED = 10_000;

/** @throws ChangefeedError `CF_USAGE` */
export async function findDeliveries(query: DeliveriesQuery, deps: DispatchContext): Promise<DeliveryRow[]> {
  const { event, record, list, outcome, limit = 50 } = query;
  if ((record === undefined) !== (list === undefined)) throw usage('deliveries: give list and record together.');
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ROWS)
    throw usage(`deliveries: limit must be a whole number from 1 to ${MOST_ROWS}.`);
  const chosen = { ...deps, ...chosenBy(query, deps) };
  if (event !== undefined) {
    const rows = await ofEvent(event, chosen);
    return rows.filter((row) => isWanted(row, query)).slice(0, limit);
  }
  const withWaiting = outcome === 'pending' || (outcome === undefined && record !== undefined);
  const waiting = withWaiting ? await waitingRows(query, limit, chosen) : [];
  const ended = outcome === 'pending' ? [] : await endedRows(query, limit, chosen);
  return [...waiting, ...ended].slice(0, limit);
}

function chosenBy({ subscription, workspace }: DeliveriesQuery, { subscriptions, workspaces }: DispatchContext) {
  const named = subscription === undefined ? subscriptions : [subscriptionNamed(subscription, subscriptions)];
  const among = workspaces.filter((name) => workspace === undefined || name === workspace);
  if (workspace !== undefined && among.length === 0)
    throw usage(`There is no workspace "${workspace}". Known: ${workspaces.join(', ')}.`);
  return { subscriptions: named, workspaces: among };
}

/** @throws ChangefeedError `CF_USAGE` */
export function subscriptionNamed(name: string, subscriptions: readonly Subscription[]): Subscription {
  const found = subscriptions.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = subscriptions.map((one) => one.name).join(', ');
  throw usage(`There is no subscription "${name}". Known: ${names === '' ? 'none' : names}.`);
}

function isWanted(row: DeliveryRow, { outcome, list, record, workspace }: DeliveriesQuery): boolean {
  if (workspace !== undefined && row.workspace !== workspace) return false;
  if (record !== undefined && (row.record !== record || row.list !== list)) return false;
  return (
    outcome === undefined || row.outcome === outcome || (outcomesOf(outcome)?.includes(row.outcome as never) ?? false)
  );
}

/** Undefined: receipts of every outcome. */
function outcomesOf(outcome: DeliveriesQuery['outcome']): ReceiptOutcome[] | undefined {
  if (outcome === 'failed') return ['retry', 'dead'];
  return outcome === undefined ? undefined : [outcome as ReceiptOutcome];
}

/** The attempt that ended last comes first. */
const newestFirst = (one: HasEnded, other: HasEnded): number => other.endedAtMs - one.endedAtMs;

interface HasEnded {
  endedAtMs: number;
}

interface Ended extends HasEnded {
  row: DeliveryRow;
}

async function endedRows(query: DeliveriesQuery, limit: number, deps: DispatchContext): Promise<DeliveryRow[]> {
  const search = { recordId: query.record, outcomes: outcomesOf(query.outcome) };
  const found = await Promise.all(
    placesIn(deps).map(async ({ subscription, workspace }) => {
      const rows: Ended[] = [];
      for await (const receipt of searchIn(subscription, workspace, search, deps)) {
        const row = rowOf(receipt, subscription);
        if (isWanted(row, query)) rows.push({ endedAtMs: receipt.endedAtMs, row });
        if (rows.length === limit) break;
      }
      return rows;
    }),
  );
  const rows = found.flat().toSorted(newestFirst);
  return rows.slice(0, limit).map(({ row }) => row);
}

/** Where there may be receipts, and deliveries that wait. A subscription that gets reports reads no log, and has receipts. */
export function placesIn({ subscriptions, workspaces }: DispatchContext) {
  return subscriptions.flatMap((subscription) =>
    workspaces
      .filter((name) => subscription.workspaces?.includes(name) ?? true)
      .map((workspace) => ({ subscription, workspace })),
  );
}

export function searchIn(
  { name: subscription, receipts }: Subscription,
  workspace: string,
  search: ReceiptFilter,
  deps: DispatchContext,
): AsyncGenerator<Receipt> {
  const sinceMs = receipts == null ? 0 : deps.clock.now() - receipts.ageMs;
  return deps.receipts.search({ subscription, workspace }, { ...search, sinceMs });
}

async function waitingRows(query: DeliveriesQuery, limit: number, deps: DispatchContext): Promise<DeliveryRow[]> {
  const { waiting } = deps;
  const most = query.record === undefined ? limit : MOST_WAITING;
  const rows = await Promise.all(
    placesIn(deps).map(async ({ subscription, workspace }) => {
      const found = await waiting.newest(subscription.name, workspace, most);
      return await Promise.all(found.map((one) => waitingRow(one, workspace, subscription, deps)));
    }),
  );
  const sorted = rows.flat().toSorted((one, other) => compareLogIds(other.logId, one.logId));
  return sorted.filter((row) => isWanted(row, { ...query, outcome: 'pending' })).slice(0, limit);
}

async function waitingRow(
  one: WaitingDelivery,
  workspace: string,
  subscription: Subscription,
  { log, gate }: DispatchContext,
): Promise<DeliveryRow> {
  const logId = loggedAt(one.id);
  const logged = logId === undefined ? null : await log.event(workspace, logId);
  const event = logged?.event ?? (await gate.stored(subscription.name, one.id))?.event;
  const { id = idsOf(one.id).eventId, type = '', subject = '' } = event ?? {};
  const row = rowWithout({ id, workspace, logId: logId ?? '0-0', type, subject }, subscription, { outcome: 'pending' });
  return { ...row, ...aboutWaiting(one) };
}

function aboutWaiting({ id, attempts, nextAtMs }: WaitingDelivery): Partial<DeliveryRow> {
  const nextAttemptAt = nextAtMs === null ? null : isoTime(nextAtMs);
  return { attempt: attempts, nextAttemptAt, origin: originOf(id) ?? null };
}

interface Located {
  workspace: string;
  logId: string;
  /** Null: the log has dropped it. */
  event: ChangeEvent | null;
}

/** What was found of one event in one subscription. */
interface FoundIn {
  subscription: Subscription;
  receipts: Receipt[];
  waiting: { workspace: string; one: WaitingDelivery }[];
}

async function ofEvent(asked: string, deps: DispatchContext): Promise<DeliveryRow[]> {
  const [[workspace, logId] = []] = parsePosition(asked) ?? [];
  const given = workspace === undefined || logId === undefined ? null : await deps.log.event(workspace, logId);
  const id = given === null ? asked : given.event.id;
  const found = await Promise.all(deps.subscriptions.map((one) => findIn(id, one, deps)));
  const at = given === null || workspace === undefined ? await locate(id, found, deps) : { workspace, ...given };
  const rows = await Promise.all(found.map((one) => rowsIn(one, id, at, deps)));
  const all = rows.flat();
  const waits = all.filter(({ endedAtMs }) => endedAtMs === Infinity);
  const ended = all.filter(({ endedAtMs }) => Number.isFinite(endedAtMs)).toSorted(newestFirst);
  const without = all.filter(({ endedAtMs }) => endedAtMs === -Infinity);
  return [...waits, ...ended, ...without].map(({ row }) => row);
}

/** The receipts of the event, of the event into which it was merged, and of all digests. */
async function findIn(id: string, subscription: Subscription, deps: DispatchContext): Promise<FoundIn> {
  const receipts: Receipt[] = [];
  let ids: readonly string[] = [id];
  while (ids.length > 0) {
    const into = new Set<string>();
    for (const workspace of deps.workspaces) {
      for await (const receipt of searchIn(subscription, workspace, { eventIds: ids }, deps)) {
        // The first search has found all digests.
        if (receipt.digest === undefined || ids[0] === id) receipts.push(receipt);
        if (receipt.into !== undefined) into.add(receipt.into);
      }
    }
    ids = [...into].filter((one) => !receipts.some(({ eventId }) => eventId === one));
  }
  const waiting = await Promise.all(
    deps.workspaces.map(async (workspace) => {
      const found = await deps.waiting.ofEvent(subscription.name, workspace, id);
      return found.map((one) => ({ workspace, one }));
    }),
  );
  return { subscription, receipts, waiting: waiting.flat() };
}

/** Where the event is in the log; null: it is not known. */
async function locate(
  id: string,
  found: readonly FoundIn[],
  { log, workspaces }: DispatchContext,
): Promise<Located | null> {
  const receipt = found.flatMap(({ receipts }) => receipts).find(({ eventId }) => eventId === id);
  const waits = found.flatMap(({ waiting }) => waiting).find(({ one }) => loggedAt(one.id) !== undefined);
  const at = receipt ?? (waits && { workspace: waits.workspace, logId: loggedAt(waits.one.id) ?? '0-0' });
  if (at !== undefined) {
    const { workspace, logId } = at;
    return { workspace, logId, event: (await log.event(workspace, logId))?.event ?? null };
  }
  for (const workspace of workspaces)
    for await (const entries of log.query({ workspaces: [workspace], order: 'newest', limit: MOST_LOGGED }))
      for (const entry of entries) {
        const logged = entry.logged();
        if (logged.event.id === id) return { workspace, ...logged };
      }
  return null;
}

async function rowsIn(
  { subscription, receipts, waiting }: FoundIn,
  id: string,
  at: Located | null,
  deps: DispatchContext,
): Promise<Ended[]> {
  const refusedBy = at?.event == null ? null : explainSelection(subscription)(at.event);
  const isSelected = refusedBy === null;
  const own = receipts.filter((one) => one.digest === undefined || (isSelected && isInDigest(one, at)));
  const rows = own.map((one): Ended => ({ endedAtMs: one.endedAtMs, row: rowOf(one, subscription) }));
  const known = receipts.find(({ eventId }) => eventId === id);
  const { type = known?.type ?? '', subject = known?.recordId ?? '' } = at?.event ?? {};
  const event = { id, workspace: at?.workspace ?? '', logId: at?.logId ?? '0-0', type, subject };
  const isTriedAgain = own.toSorted(newestFirst)[0]?.outcome === 'retry';
  const waits = isTriedAgain ? [] : waiting;
  for (const { workspace, one } of waits) {
    const row = rowWithout({ ...event, workspace }, subscription, { outcome: 'pending' });
    rows.push({ endedAtMs: Infinity, row: { ...row, ...aboutWaiting(one) } });
  }
  if (rows.length > 0 || at === null) return rows;
  const outcome = await outcomeWithout(subscription, at, isSelected, deps);
  const endedAtMs = outcome === 'pending' ? Infinity : -Infinity;
  return [{ endedAtMs, row: rowWithout(event, subscription, { outcome, refusedBy }) }];
}

function isInDigest({ digest, workspace, logId }: Receipt, at: Located | null): boolean {
  if (digest === undefined || at === null || workspace !== at.workspace) return false;
  return compareLogIds(digest.fromLogId, at.logId) <= 0 && compareLogIds(at.logId, logId) <= 0;
}

async function outcomeWithout(
  subscription: Subscription,
  { workspace, logId }: Located,
  isSelected: boolean,
  { offsets }: DispatchContext,
): Promise<'pending' | 'not selected' | 'no receipt'> {
  if (!isSelected || !readsWorkspace(subscription, workspace)) return 'not selected';
  const offset = await offsets.get(workspace, subscription.name);
  return offset === null || compareLogIds(offset, logId) < 0 ? 'pending' : 'no receipt';
}
