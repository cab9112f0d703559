/** The answers of the API about records, as schemas. */
import { z } from 'zod';

const iso = z.string().describe('ISO 8601, UTC');
const count = z.number().int();

export const found = z
  .strictObject({
    records: z.array(z.looseObject({ id: z.string() })).describe('with the fields that were asked for'),
    next: z.string().nullable().describe('`from` of the next answer; null: there are no more'),
    asOf: z
      .string()
      .nullable()
      .describe(
        'the time that was asked for; else when the list was last read whole (null: not yet, and some may be missing)',
      ),
  })
  .meta({ id: 'FoundRecords' });

export const story = z
  .strictObject({
    list: z.string(),
    id: z.string(),
    known: z.boolean().describe('false: no sweep has seen it'),
    erased: z.boolean().describe('it was erased, and is left out'),
    sequence: count.describe('of its last event; 0: none'),
    kept: z.enum(['image', 'only its key', 'nothing']),
    page: count.nullable().describe('its page in the last complete sweep; null: on none'),
    missing: z.looseObject({}).nullable().describe('complete sweeps did not show it: how many, and since when'),
    gone: z.looseObject({ at: iso }).nullable().describe('since when it is not in the list'),
    discarded: iso.nullable().describe('since when a person has discarded its removal'),
    compared: z.array(z.string()).describe('the fields that are compared'),
    leftOut: z.array(z.strictObject({ field: z.string(), rule: z.string() })).describe('fields that are not'),
    decisions: z.array(z.looseObject({ at: iso, what: z.string() })).describe('the last ones, oldest first'),
    lastSweep: z.looseObject({ completedAt: iso }).nullable().describe('the last complete one of its list'),
  })
  .meta({ id: 'RecordStory' });

export const snoozed = z.strictObject({
  title: z.string().nullable().describe('what it is called; null where it says nothing'),
  until: iso,
  subscriptions: z.array(z.string()).describe('that are told then, if it is unchanged for as long as they ask'),
});

const muted = z.strictObject({
  workspace: z.string(),
  list: z.string(),
  id: z.string(),
  title: z.string().nullable().describe('what it is called; null where that is not known'),
  until: iso.nullable().describe('null: until it is unmuted'),
});

export const mutedRecord = muted.extend({ count: z.number().describe('0: it was so before') });
export const mutedRecords = z.strictObject({ muted: z.array(muted) });

export const schema = z.strictObject({
  rows: count,
  fields: z.array(
    z.strictObject({
      field: z.string(),
      share: z.number().describe('of the rows that have it'),
      forms: z.array(z.strictObject({ form: z.string(), rows: count })),
    }),
  ),
});
