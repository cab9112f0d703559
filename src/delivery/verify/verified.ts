/** What the comparison of a copy has found, and what is kept of it. A leaf. */
import { z } from 'zod';

const count = z.number().int();

/** Every record of the list or the copy is counted once. */
const counts = z.object({
  equal: count.describe('as the CRM showed it last'),
  inFlight: count.describe('different, and a change of it is on its way to the subscription'),
  behind: count.describe('an earlier state, or one that the feed does not know, and nothing is on its way'),
  missing: count.describe('in the list, and not in the copy'),
  extra: count.describe('in the copy, and not in the list'),
  dead: count.describe('different, because an event of it is a dead letter'),
  dropped: count.describe('different, because a person dropped its last event'),
  held: count.describe('waits for `changefeed accept` or `discard`: the copy is not judged by it'),
  discarded: count.describe('a person discarded its held creation or removal: receivers were not told'),
  unreadable: count.describe('a sweep could not read it'),
  erased: count.describe('was erased here, and is in the copy'),
  unjudged: count.describe('different, and the subscription does not get every event of the list (`because`)'),
});
export type CopyCounts = z.output<typeof counts>;

export const NO_COUNTS: CopyCounts = {
  ...{ equal: 0, inFlight: 0, behind: 0, missing: 0, extra: 0 },
  ...{ dead: 0, dropped: 0, held: 0, discarded: 0, unreadable: 0, erased: 0, unjudged: 0 },
};

const verifiedList = counts.extend({
  workspace: z.string(),
  list: z.string(),
  because: z
    .array(z.string())
    .readonly()
    .describe(
      'what keeps the list from being judged in whole: an option that leaves events out; `off` (not polled), `rows` (its rows are events), `waiting` (not swept yet), `receipts` (`settle` without receipts)',
    ),
});
/** The counts of one list. */
export type VerifiedList = z.output<typeof verifiedList>;

const WRONG = ['behind', 'missing', 'extra'] as const;
/** How a record of a copy is wrong. */
export type Wrong = (typeof WRONG)[number];

export function wrongIn(one: CopyCounts): number {
  return WRONG.reduce((sum, what) => sum + one[what], 0);
}

export const verifiedSchema = z.object({
  subscription: z.string(),
  copy: z
    .enum(['tables', 'file', 'rows'])
    .describe('what it was compared with: its tables, a file, the rows of a program'),
  at: z.string().describe('ISO 8601, UTC: when the comparison began'),
  ms: count.describe('how long it took'),
  wrong: count.describe('behind, missing and extra: 0 where the copy is right'),
  lists: z.array(verifiedList).readonly(),
  examples: z
    .array(
      z.object({
        workspace: z.string(),
        list: z.string(),
        id: z.string(),
        title: z.string().nullable(),
        found: z.enum(WRONG),
        copy: z.number().nullable().describe('the sequence in the copy; null: it is not there'),
        feed: z.number().nullable().describe('the sequence that is stored; null: nothing is'),
      }),
    )
    .readonly()
    .describe('at most 20 records that are wrong'),
  repaired: count.nullable().describe('records that are sent again; null: it was not asked to'),
});
/** What `verify` has found. */
export type Verified = z.output<typeof verifiedSchema>;

/** Kept of the last comparison: no ids and no titles. */
export const keptSchema = counts.extend({ at: z.iso.datetime(), copy: verifiedSchema.shape.copy });
export type KeptResult = z.output<typeof keptSchema>;

export function summed(all: readonly CopyCounts[]): CopyCounts {
  const sum = { ...NO_COUNTS };
  for (const one of all) for (const name of Object.keys(sum) as (keyof CopyCounts)[]) sum[name] += one[name];
  return sum;
}
