/** What a person asks about one subscription: where it delivers, what it selects, and how that goes. */
import { stretchText } from '../../events/unchanged.js';
import type { Subscription } from '../handlers/handler.js';
import type { Receipt } from './receipt.js';
import { rowOf, type SubscriptionDetails } from './delivery-row.js';
import { placesIn, searchIn, subscriptionNamed } from './find-deliveries.js';
import type { DispatchContext } from '../stores.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST_COUNTED = 100_000;
const NEWEST = 20;

/** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
export async function describeDeliveries(asked: string, deps: DispatchContext): Promise<SubscriptionDetails> {
  const subscription = subscriptionNamed(asked, deps.subscriptions);
  const { name, handler, address = null, order, whenDead, retry } = subscription;
  const { attempts, delayMs, maxDelayMs } = retry;
  const { newest, ...rest } = await readNewest(subscription, deps);
  // One that was skipped has no answer.
  const lastAnswer = newest.find(({ outcome }) => outcome !== 'skipped');
  return {
    ...{ name, handler, address, order, whenDead, retry: { attempts, delayMs, maxDelayMs } },
    selection: selectionOf(subscription),
    receipts: subscription.receipts ?? null,
    copy: subscription.copy !== undefined,
    mutable: subscription.mutable ?? false,
    lastAnswer: lastAnswer === undefined ? null : rowOf(lastAnswer, subscription),
    lastHour: statisticsOf(rest.lastHour, rest.complete),
    lastDay: endsOf(rest.lastDay, rest.complete),
    newest: newest.slice(0, NEWEST).map((receipt) => rowOf(receipt, subscription)),
  };
}

function selectionOf(subscription: Subscription): SubscriptionDetails['selection'] {
  const { on, unchanged, workspaces = null, lists = null, fields = null, from = null, notFrom = null } = subscription;
  const where = subscription.conditions ?? (subscription.where === undefined ? null : 'code');
  const stretch = unchanged === undefined ? null : stretchText(unchanged);
  return { on, unchanged: stretch, workspaces, lists, class: subscription.class ?? null, fields, from, notFrom, where };
}

/** The receipts of the last day, and at least as many as are shown. */
async function readNewest(subscription: Subscription, deps: DispatchContext) {
  const nowMs = deps.clock.now();
  const newest: Receipt[] = [];
  const lastDay: Receipt[] = [];
  for (const { workspace } of placesIn({ ...deps, subscriptions: [subscription] })) {
    let shown = 0;
    for await (const receipt of searchIn(subscription, workspace, {}, deps)) {
      const isRecent = receipt.endedAtMs >= nowMs - DAY_MS;
      if (lastDay.length === MOST_COUNTED || (!isRecent && shown >= NEWEST)) break;
      if (isRecent) lastDay.push(receipt);
      if (shown < NEWEST) newest.push(receipt);
      shown += 1;
    }
  }
  newest.sort((one, other) => other.endedAtMs - one.endedAtMs);
  const lastHour = lastDay.filter(({ endedAtMs }) => endedAtMs >= nowMs - HOUR_MS);
  return { newest, lastHour, lastDay, complete: lastDay.length < MOST_COUNTED };
}

/** The newest receipt of an event counts, whatever came before it. */
function endsOf(receipts: readonly Receipt[], complete: boolean): SubscriptionDetails['lastDay'] {
  const ends = new Map<string, Receipt>();
  for (const one of receipts) {
    const known = ends.get(one.eventId);
    if (known === undefined || known.endedAtMs < one.endedAtMs) ends.set(one.eventId, one);
  }
  const outcomes = { delivered: 0, retry: 0, dead: 0, skipped: 0 };
  for (const { outcome } of ends.values()) outcomes[outcome] += 1;
  const { retry: _again, ...ended } = outcomes;
  return { events: ends.size, ...ended, complete };
}

function statisticsOf(receipts: readonly Receipt[], complete: boolean): SubscriptionDetails['lastHour'] {
  const outcomes = { delivered: 0, retry: 0, dead: 0, skipped: 0 };
  for (const { outcome } of receipts) outcomes[outcome] += 1;
  const attempts = outcomes.delivered + outcomes.retry + outcomes.dead;
  const durations = receipts.flatMap(({ outcome, ms }) => (outcome === 'delivered' ? [ms] : [])).sort((a, b) => a - b);
  const quantile = (share: number): number | null =>
    durations[Math.min(durations.length - 1, Math.floor(share * durations.length))] ?? null;
  return {
    ...{ attempts, outcomes, complete },
    successShare: attempts === 0 ? null : outcomes.delivered / attempts,
    ...{ p50Ms: quantile(0.5), p95Ms: quantile(0.95) },
  };
}
