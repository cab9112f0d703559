/**
 * "Did billing get it?" at a million receipts: the deliveries of one event, of one record, and the failed ones, in ten subscriptions with 100,000 receipts
 * each, and in one with a million; and the memory of a receipt.
 *
 *     npm run bench -- receipts [--turns 5]
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { findDeliveries, type DeliveriesQuery } from '../src/delivery/receipts/find-deliveries.js';
import { eventId } from '../src/events/envelope.js';
import type { Redis } from '../src/redis/client.js';
import { systemClock } from '../src/kit/clock.js';
import { Keys } from '../src/redis/keys.js';
import type { Receipt } from '../src/delivery/receipts/receipt.js';
import type { DispatchContext } from '../src/delivery/stores.js';
import { createReceiptStore } from '../src/delivery/receipts/receipts.js';
import { aSubscription, fanOutDeps } from '../test/support/fan-out.js';
import { WORKSPACE } from '../test/support/events.js';
import { atMost, type Bench } from './support/bench.js';
import { withRedis } from './support/stage.js';
import { rounded } from './support/turns.js';

const TOTAL = 1_000_000;
const AT_ONCE = 50;
const FAILED_EACH = 1_000;
const MOST_BYTES = 120;
const MOST_MS = 1_000;

export const receipts: Bench = {
  name: 'receipts',
  does: 'the deliveries of an event, of a record, and the failed ones, among a million receipts; bytes of a receipt',
  records: [TOTAL],
  run: async ({ records: [total = TOTAL], turns }) =>
    await withRedis(async (redis) => {
      const shapes: Record<string, object> = {};
      let [worstMs, worstBytes] = [0, 0];
      for (const subscriptions of [10, 1]) {
        const stage = await filled(redis, { subscriptions, each: total / subscriptions });
        const ms: Record<string, number> = {};
        for (const [what, query] of Object.entries(stage.queries)) ms[what] = await median(turns, query, stage.deps);
        worstMs = Math.max(worstMs, ...Object.values(ms));
        worstBytes = Math.max(worstBytes, stage.bytes);
        shapes[`${subscriptions} of ${total / subscriptions}`] = { ...ms, bytes: rounded(stage.bytes, 1) };
      }
      return {
        ...{ median: rounded(worstMs, 0), unit: 'ms' },
        ratios: { 'of 1 s': rounded(worstMs / MOST_MS, 2), 'of 120 bytes': rounded(worstBytes / MOST_BYTES, 2) },
        goals: { 'of 1 s': atMost(1), 'of 120 bytes': atMost(1) },
        facts: { shapes },
      };
    }),
};

async function filled(redis: Redis, { subscriptions, each }: { subscriptions: number; each: number }) {
  const keys = new Keys(`bench-${randomBytes(6).toString('hex')}`);
  const store = createReceiptStore(redis, keys);
  const kept = { ageMs: 7 * 86_400_000, number: each };
  const names = Array.from({ length: subscriptions }, (_, nth) => `s-${nth}`);
  const all = names.map((name) => aSubscription(name, () => undefined, { receipts: kept }));
  const middle = Math.floor(each / 2);
  let bytes = 0;
  let asked: Receipt = receipt(0);
  for (const subscription of names) {
    const place = { subscription, workspace: WORKSPACE };
    for (let from = 0; from < each; from += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, nth) => receipt(from + nth));
      if (from <= middle && middle < from + AT_ONCE) asked = some[middle - from] ?? asked;
      await store.keep(place, { receipts: some, most: each });
    }
    const stored = [keys.receipts(subscription, WORKSPACE), keys.openReceipts(subscription, WORKSPACE)];
    for (const key of stored) bytes += Number(await redis.memory('USAGE', key, 'SAMPLES', 0)) / (each * subscriptions);
  }
  const deps: DispatchContext = {
    ...fanOutDeps({ redis, keys, connect: () => redis }),
    receipts: store,
    subscriptions: all,
  };
  const queries = {
    event: { event: asked.eventId },
    record: { list: 'people', record: asked.recordId },
    failed: { outcome: 'failed', limit: 500 },
  } as const;
  return { deps, queries, bytes };
}

/** One in a thousand has failed. */
function receipt(nth: number): Receipt {
  const endedAtMs = systemClock.now();
  const isFailed = nth % FAILED_EACH === 0;
  return {
    ...{ outcome: isFailed ? 'retry' : 'delivered', endedAtMs, ms: 20 + (nth % 400), attempt: 1 },
    ...{ status: isFailed ? 503 : 200, eventId: eventId([randomUUID()]), logId: `${endedAtMs - 1_500}-${nth % 50}` },
    ...{ workspace: WORKSPACE, recordId: randomUUID(), type: 'crm.person.updated' },
    ...(isFailed && { error: 'CF_DELIVERY_REFUSED', nextAtMs: endedAtMs + 5_000, words: 'upstream is away' }),
  };
}

async function median(turns: number, query: DeliveriesQuery, deps: DispatchContext): Promise<number> {
  const took: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const startedMs = systemClock.monotonic();
    const rows = await findDeliveries(query, deps);
    if (rows.length === 0) throw new Error('nothing was found');
    took.push(systemClock.monotonic() - startedMs);
  }
  return rounded(took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0, 0);
}
