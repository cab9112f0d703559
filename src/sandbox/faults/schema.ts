/** Validates switches that come from outside, such as the control API. */
import { z } from 'zod';
import { ORDER_NAMES } from '../world/orders.js';
import { SCHEDULED_FAULTS, type Behaviour } from './behaviour.js';

const count = z.number().int().min(0);
const positive = z.number().int().min(1);
const form = z.enum(['html', 'json', 'empty']);

const schedule = z.strictObject({
  every: positive.optional(),
  share: z.number().min(0).max(1).optional(),
  after: count.optional(),
  times: count.optional(),
});

const switches = z.strictObject({
  unknownPath: form,
  unknownMethod: form,
  badToken: z.enum(['reason', 'message', 'empty']),
  contentType: z.enum(['required', 'ignored']),
  pageSize: positive,
  end: z.enum(['null', 'missing', 'empty-text', 'empty-page']),
  cursor: z.enum(['last-id', 'offset', 'expiring', 'snapshot', 'single-use']),
  cursorLifetimeMs: count,
  badCursor: z.enum(['refuse', 'refuse-empty', 'first-page', 'empty-page']),
  cursorOfGoneRecord: z.enum(['good', 'bad']),
  order: z.enum([...ORDER_NAMES, 'shuffled']),
  overlap: count,
  todoNames: z.enum(['written', 'wild', 'both']),
  extras: z.boolean(),
  stamps: z.enum(['ms', 'minute', 'still']),
  stampsFollow: z.boolean(),
  empties: z.enum(['null', 'absent', 'mixed']),
  sequence: z.enum(['kept', 'reordered']),
  pictures: z.enum(['kept', 'signed']),
  drift: z.enum(['none', 'added', 'removed', 'reshaped']),
  historySource: z.enum(['present', 'older-absent']),
  limitRequests: count,
  limitWindowMs: positive,
  limitHint: z.enum(['reason', 'message', 'list', 'header', 'absurd', 'none', 'empty', 'html']),
  foreignPerSecond: z.number().min(0),
  latencyMs: count,
  schedules: z.partialRecord(z.enum(SCHEDULED_FAULTS), schedule),
  stallMs: count,
  oversizedBytes: count,
  staleMs: count,
  churn: count,
}) satisfies z.ZodType;

type Checked = z.infer<typeof switches>;
// Does not compile when a switch is added to `Behaviour` and not to the schema.
const _schemaKnowsAll: keyof Behaviour extends keyof Checked ? true : never = true;

const partial = switches.partial();

/** @throws z.ZodError with the paths of what is wrong */
export function parseSwitches(value: unknown): Partial<Behaviour> {
  // The parser leaves out keys that are not given, so no value is undefined.
  return partial.parse(value) as Partial<Behaviour>;
}
