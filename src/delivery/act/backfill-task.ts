/** The tasks of backfills as they are stored. A leaf. */
import { z } from 'zod';
import type { Conditions } from '../handlers/where.js';

const replayTask = z.object({
  kind: z.literal('replay'),
  /** The ids of its jobs end in it. */
  id: z.string(),
  workspace: z.string(),
  /** Log ids: the events after `after`, up to and including `last`, are still to be sent. */
  after: z.string(),
  last: z.string(),
  record: z.string().optional(),
  /** Further conditions: patterns of types, and `where` as data. */
  types: z.array(z.string()).readonly().exactOptional(),
  where: z.custom<Conditions>((given) => typeof given === 'object' && given !== null).exactOptional(),
  /** Only these events, by their log ids, ascending: what is still to be sent of them. */
  only: z.array(z.string()).readonly().exactOptional(),
  sent: z.number(),
});

const snapshotTask = z.object({
  kind: z.literal('snapshot'),
  id: z.string(),
  workspace: z.string(),
  /** Lists whose images have not been read completely. */
  unread: z.array(z.string()),
  /**
   * The list being read, and how far: valid until the Redis server restarts, which loses its cursors. `decided`: what was decided about the
   * list when the reading began; null where records were held or unreadable then.
   */
  reading: z
    .object({
      list: z.string(),
      from: z.object({ cursor: z.string(), server: z.string() }).nullable(),
      decided: z.string().nullable(),
    })
    .nullable(),
  /** There may be staged events. */
  staged: z.boolean(),
  /** How many times events were staged. The serials of a step's events begin with it. */
  steps: z.number(),
  /** Log id: no image contains an event after it. `0`: no times of reading are stored. */
  until: z.string(),
  /** After this epoch began, and for each list a sweep begun since. Absent: it starts the subscription. */
  after: z.object({ epoch: z.number(), since: z.iso.datetime() }).exactOptional(),
  /** Lists that were read to their end, and are not complete (snapshot-end.ts). `decided`: as in `reading`. `isSent`: so was the end. */
  ending: z
    .array(
      z.object({
        list: z.string(),
        decided: z.string().nullable(),
        isSent: z.boolean(),
      }),
    )
    .exactOptional(),
});

export const backfillTask = z.discriminatedUnion('kind', [replayTask, snapshotTask]);

export type ReplayTask = z.infer<typeof replayTask>;
export type SnapshotTask = z.infer<typeof snapshotTask>;
export type BackfillTask = ReplayTask | SnapshotTask;
