/** One line of the answer to "who got it": an attempt that has ended, or what became of an event where none has. */
import { z } from 'zod';
import { listOf } from '../../events/envelope.js';
import type { RefusedBy } from '../../events/pattern.js';
import type { Subscription } from '../handlers/handler.js';
import { isoTime } from '../../kit/clock.js';
import { refusedBySchema } from '../ask/tried.js';
import type { Receipt } from './receipt.js';

const iso = z.string().describe('ISO 8601, UTC');
const count = z.number().int();

export const DELIVERY_OUTCOMES = [
  ...(['delivered', 'retry', 'dead', 'skipped', 'pending', 'not selected', 'no receipt'] as const),
] as const;

export const deliveryRow = z
  .object({
    subscription: z.string(),
    outcome: z
      .enum(DELIVERY_OUTCOMES)
      .describe(
        '`retry`: the attempt failed, another one follows. `skipped`: it left without its handler being called. `pending`: it waits, or has not been read from the log. `no receipt`: it was handled before receipts were kept or when they were off, or is from before the start of the subscription',
      ),
    workspace: z.string(),
    eventId: z.string(),
    logId: z.string(),
    type: z.string(),
    list: z.string().nullable(),
    record: z.string(),
    attempt: count.describe('its number; with `pending` the attempts so far; 0: there was none'),
    at: iso.nullable().describe('when the attempt began; null: there was none'),
    ms: z.number().nullable().describe('how long it took'),
    status: count.nullable().describe('the status of HTTP that the receiver answered'),
    reason: z
      .string()
      .nullable()
      .describe(
        'the code or class of the error. With `skipped`: `where`, `muted` (by a person), `cancelled-out`, `not-selected`, `merged`, `gone` (from the log), `dropped` (by a person), `no-address` (of the person in charge)',
      ),
    words: z
      .string()
      .nullable()
      .describe('what the receiver said about a failure; of a digest to people in charge, whom it did not reach'),
    nextAttemptAt: iso.nullable(),
    origin: z.string().nullable().describe('the replay (`r…`) or snapshot (`s…`) that sent it; null: the log'),
    mergedInto: z.string().nullable().describe('the id of the event into which it was merged'),
    digest: z
      .object({ fromLogId: z.string(), toLogId: z.string(), events: count })
      .nullable()
      .describe('it was part of one message about so many events'),
    refusedBy: refusedBySchema.nullable().describe('`not selected`: what leaves it out now'),
  })
  .meta({ id: 'Delivery' });

/** One ended attempt, or where an event waits. */
export type DeliveryRow = z.output<typeof deliveryRow>;

const durationMs = z.number().describe('ms');

export const subscriptionDetails = z.object({
  name: z.string(),
  handler: z.string(),
  address: z.string().nullable().describe('the host that it posts to'),
  selection: z.object({
    on: z.array(z.string()).readonly(),
    workspaces: z.array(z.string()).readonly().nullable(),
    lists: z.array(z.string()).readonly().nullable(),
    class: z.string().nullable(),
    fields: z.array(z.string()).readonly().nullable(),
    from: z.array(z.unknown()).readonly().nullable(),
    unchanged: z.string().nullable().describe('for how long what has not changed'),
    notFrom: z.array(z.unknown()).readonly().nullable(),
    where: z.unknown().describe('conditions as in the configuration; `code`: a function; null: none'),
  }),
  order: z.enum(['record', 'none']),
  whenDead: z.enum(['release', 'hold']),
  retry: z.object({ attempts: count, delayMs: durationMs, maxDelayMs: durationMs }),
  receipts: z
    .object({ ageMs: durationMs, number: count })
    .nullable()
    .describe('how long they are kept; null: none are'),
  mutable: z.boolean().describe('a person may mute a record for it'),
  copy: z.boolean().describe('what it has written can be read, so that `verify` needs no file'),
  lastAnswer: deliveryRow.nullable().describe('the newest attempt; null: none is known'),
  lastHour: z
    .object({
      attempts: count,
      outcomes: z.object({ delivered: count, retry: count, dead: count, skipped: count }),
      successShare: z.number().nullable().describe('of the attempts; null without any'),
      p50Ms: z.number().nullable().describe('of what was delivered'),
      p95Ms: z.number().nullable(),
      complete: z.boolean().describe('false: only the newest 100,000 are counted'),
    })
    .describe('from the receipts of the last hour'),
  lastDay: z
    .object({ events: count, delivered: count, dead: count, skipped: count, complete: z.boolean() })
    .describe(
      'events of the last 24 hours by what became of them in the end; `events` also those that are tried again',
    ),
  newest: z.array(deliveryRow),
});
/** Where a subscription delivers, what it selects, and how its deliveries went. */
export type SubscriptionDetails = z.output<typeof subscriptionDetails>;

export function rowOf(receipt: Receipt, { name, catalogue }: Subscription): DeliveryRow {
  const { outcome, workspace, eventId, logId, type, recordId, attempt, status, endedAtMs, ms, digest } = receipt;
  const { error = null, words = null, nextAtMs, origin = null, into = null } = receipt;
  return {
    ...{ subscription: name, outcome, workspace, eventId, logId, type, record: recordId, attempt, origin },
    list: listOf({ type }, catalogue) ?? null,
    at: isoTime(endedAtMs - ms),
    ms,
    status: status === 0 ? null : status,
    ...{ reason: error, words, mergedInto: into },
    nextAttemptAt: nextAtMs === undefined ? null : isoTime(nextAtMs),
    digest: digest === undefined ? null : { fromLogId: digest.fromLogId, toLogId: logId, events: digest.count },
    refusedBy: null,
  };
}

/** An event of which no attempt has ended. */
export function rowWithout(
  event: { id: string; workspace: string; logId: string; type: string; subject: string },
  { name, catalogue }: Subscription,
  { outcome, refusedBy = null }: { outcome: 'pending' | 'not selected' | 'no receipt'; refusedBy?: RefusedBy | null },
): DeliveryRow {
  const { id: eventId, workspace, logId, type, subject: record } = event;
  return {
    ...{ subscription: name, outcome, workspace, eventId, logId, type, record },
    list: listOf({ type }, catalogue) ?? null,
    ...{ attempt: 0, at: null, ms: null, status: null, reason: null, words: null },
    ...{ nextAttemptAt: null, origin: null, mergedInto: null, digest: null, refusedBy },
  };
}
