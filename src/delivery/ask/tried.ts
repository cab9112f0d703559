/** What trying a subscription found. A leaf. */
import { z } from 'zod';

const reason = z.strictObject({
  option: z.enum(['on', 'unchanged', 'workspaces', 'lists', 'class', 'fields', 'from', 'notFrom', 'where']),
  condition: z.string().nullable().describe('of `where` as data: the first condition that does not hold'),
});

/** What leaves one event out. */
export const refusedBySchema = reason.extend({
  wanted: z.string().nullable().describe('what this condition asks for, as JSON'),
  found: z.string().nullable().describe('what the event has, as JSON; before and after where the field has changed'),
});

export const triedSchema = z.object({
  subscription: z.string(),
  since: z.string().describe('ISO 8601, UTC: where it began to read'),
  read: z.number().int().describe('events of the log since then'),
  selected: z.number().int().describe('events that would have been sent'),
  byType: z.record(z.string(), z.number().int()).describe('these by their type, most frequent first'),
  perDay: z.array(z.number().int()).readonly().describe('these by day, that of the last 24 hours first'),
  refused: z
    .array(reason.extend({ events: z.number().int() }))
    .readonly()
    .describe('the others by the first option that leaves them out, most frequent first'),
  tried: z
    .array(
      z.object({
        workspace: z.string(),
        logId: z.string(),
        id: z.string(),
        type: z.string(),
        record: z.string().describe('its id'),
        title: z.string().nullable(),
        observedAt: z.string(),
        refusedBy: refusedBySchema.nullable().describe('null: selected'),
      }),
    )
    .readonly()
    .describe('the newest of the selected events, oldest first; of one record: each of its events'),
  next: z.string().nullable().describe('where it ended before it was done; null: all was read'),
});
/** What a subscription would have got, and what left out the rest. */
export type Tried = z.output<typeof triedSchema>;
