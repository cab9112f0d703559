/** What `status` shows of a subscription. */
import { z } from 'zod';
import { keptSchema } from '../verify/verified.js';

const count = z.number().int();
const iso = z.string().describe('ISO 8601, UTC');

export const subscriptionStatus = z.object({
  name: z.string(),
  title: z.string().nullable().describe('what people call it: of a rule; null: only its name'),
  to: z.string().nullable().describe('the name of its destination: of a rule'),
  handler: z.string(),
  words: z
    .strictObject({ en: z.string(), ko: z.string() })
    .exactOptional()
    .describe('what people call this kind of handler; a function has no such words'),
  on: z.array(z.string()).readonly(),
  waiting: count,
  active: count,
  delayed: count.describe(
    'waiting for a retry, or for their record to be quiet (`settle`); events behind another one of their record are in `lagEvents`',
  ),
  dead: count,
  paused: z
    .object({
      at: iso.nullable().describe('null: only its queue is paused, by other means; it is resumed within a minute'),
      reason: z.string(),
      missing: z.boolean().describe('the log dropped events that it had not read'),
    })
    .nullable()
    .describe('since when and why nothing is delivered to it; null when it is not paused'),
  failingSince: iso.nullable().describe('the first failure since the last success; null when there is none'),
  failures: count.describe('failed attempts since then'),
  lastError: z.object({ workspace: z.string(), message: z.string() }).nullable().describe('what the last of them said'),
  replays: z
    .array(
      z.object({
        id: z.string(),
        workspace: z.string(),
        sent: count.describe('events that were put into the queue'),
        reached: iso.nullable().describe('when the last of them was logged; null: at the beginning'),
        until: iso.describe('when the last event of the range was logged'),
      }),
    )
    .readonly()
    .describe('replays that are being sent'),
  incomplete: z
    .array(
      z.object({
        workspace: z.string(),
        list: z.string(),
        held: count.describe('records that the last complete sweep held'),
        unreadable: count.describe('records that it could not read; the first few are counted'),
        dead: count.describe('events of the snapshot that are dead letters'),
        dropped: count.describe('events of the snapshot that were dropped'),
        records: z.array(z.string()).readonly().describe('the ids of a few of them'),
      }),
    )
    .readonly()
    .describe('lists of a snapshot that were sent and are not complete, because these are in the way'),
  verified: keptSchema
    .extend({
      wrong: count.describe('behind, missing and extra'),
      nightly: z.boolean().describe('it is verified every day (`verify`)'),
    })
    .nullable()
    .describe('what the last comparison of its copy has found (`changefeed verify`); null when there was none'),
  consumer: z
    .object({
      askedAt: iso.nullable().describe('when it asked last; null: it never has'),
      underWay: count.describe('events that were handed out and are not acknowledged'),
    })
    .nullable()
    .describe('it asks for its events (`pull`); null: they are sent'),
  digest: z.boolean().describe('it gets digests or reports, no single events'),
  lateAfterSeconds: z.number().describe('its option `lateAfter`'),
  lateSince: iso
    .nullable()
    .describe('since when its oldest event waits, if that is longer than `lateAfter`; null when it is not'),
  lagEvents: count
    .nullable()
    .describe(
      'events not read from the log yet (at most 1,000 per workspace are counted), plus those read and neither handled nor dead; null: not known, because it has not begun to read the log',
    ),
  lagSeconds: z
    .number()
    .nullable()
    .describe('age of the oldest of these; what is sent again counts from then on; 0 without lag'),
  unreadable: z
    .string()
    .nullable()
    .describe(
      'why its keys in Redis cannot be read, with the name of the key: all counts are then 0; null when they can',
    ),
});
/** The status of a subscription. */
export type SubscriptionStatus = z.output<typeof subscriptionStatus>;
