/**
 * All switches of the sandbox as plain data, declared once: how it answers where the interface does not say, and which faults occur
 * when. They can change at any time and apply from the next request on.
 */
import { z } from 'zod';
import { ORDER_NAMES } from '../world/orders.js';

const count = z.number().int().min(0);
const positive = z.number().int().min(1);

export const SCHEDULED_FAULTS = [
  'rate-limited',
  'unauthorised',
  'forbidden',
  'empty-400',
  'html-404',
  'html-502',
  'json-500',
  'refused-200',
  'listless-200',
  'truncated',
  'stalled',
  'dropped',
  'oversized',
  'gzip',
  'stale',
  'repeated-cursor',
  'cursor-row-deleted',
  'rename',
] as const;
export type ScheduledFault = (typeof SCHEDULED_FAULTS)[number];

/** When a fault occurs, counted in requests with a valid token. All given conditions must hold. */
const schedule = z.strictObject({
  /** Every nth request. */
  every: positive.optional(),
  /** The probability of the fault, by the seeded random numbers. */
  share: z.number().min(0).max(1).optional(),
  /** Only after this many requests. */
  after: count.optional(),
  /** At most this many times. */
  times: count.optional(),
});
export type Schedule = Readonly<z.output<typeof schedule>>;

const switches = z.strictObject({
  /** Records per page. */
  pageSize: positive.default(50),
  /** How the last page is marked. `empty-page`: its cursor leads to a page without records. */
  end: z.enum(['null', 'missing', 'empty-text', 'empty-page']).default('null'),
  /** The kind of cursor. `last-id`: the id of the page's last record; the next page begins after it. */
  cursor: z.enum(['last-id', 'offset', 'expiring', 'snapshot', 'single-use']).default('last-id'),
  /** The lifetime of an expiring cursor or a snapshot; ms. */
  cursorLifetimeMs: count.default(60_000),
  /** The answer to an unknown or used cursor. `refuse`: 400. */
  badCursor: z.enum(['refuse', 'refuse-empty', 'first-page', 'empty-page']).default('refuse'),
  /** Whether a last-id cursor is still valid when its record is gone. */
  cursorOfGoneRecord: z.enum(['good', 'bad']).default('good'),
  order: z.enum([...ORDER_NAMES, 'shuffled']).default('creation'),
  /** How many records of the previous page are repeated. */
  overlap: count.default(0),

  /** Spelling of a todo's fields: as in the interface, as in real answers, or both. */
  todoNames: z.enum(['written', 'wild', 'both']).default('written'),
  /** Adds fields that real answers have and the interface does not name: `RecordId`, `htmlBody` … */
  extras: z.boolean().default(false),
  /** Precision of timestamps. `still`: the change timestamp never moves. */
  stamps: z.enum(['ms', 'minute', 'still']).default('ms'),
  /** How an empty field is sent. `mixed`: null or absent, at random in every request. */
  empties: z.enum(['null', 'absent', 'mixed']).default('null'),
  /** Whether keys and arrays of references have another order in every request. */
  sequence: z.enum(['kept', 'reordered']).default('kept'),
  /** Whether picture URLs have a new signature in every request. */
  pictures: z.enum(['kept', 'signed']).default('kept'),
  /** A field that appears, disappears or changes its type on all records of a list (not history and activity). */
  drift: z.enum(['none', 'added', 'removed', 'reshaped']).default('none'),
  /** Whether older history rows lack `source`, as in real answers. */
  historySource: z.enum(['present', 'older-absent']).default('present'),
  /** How changes of people, organizations, deals and leads are written into history. `lying`: rows of other records, wrong values, missing rows. */
  historyRows: z.enum(['true', 'late', 'lying', 'none']).default('true'),
  /** Whether the history of people, organizations and leads is served, or answered with 403 or 404. */
  historyLists: z.enum(['served', '403', '404']).default('served'),

  /** Requests per sliding window; 0 for no limit. */
  limitRequests: count.default(100),
  /** The window; ms. */
  limitWindowMs: positive.default(10_000),
  /** How a 429 says when to retry. `reason`: "8.316초 후 재시도해주세요." */
  limitHint: z.enum(['reason', 'message', 'list', 'header', 'none', 'empty', 'html']).default('reason'),
  /** Requests per second that another integration takes out of the same window. */
  foreignPerSecond: z.number().min(0).default(0),
  /** Delay before every answer; ms. */
  latencyMs: count.default(0),

  schedules: z.partialRecord(z.enum(SCHEDULED_FAULTS), schedule).default({}),
  /** Length of a stall; ms. */
  stallMs: count.default(30_000),
  /** Number of spaces after an oversized body. */
  oversizedBytes: count.default(16 * 1_024 * 1_024),
  /** How far a stale replica may lag; ms. */
  staleMs: count.default(5_000),
  /** Mutations after every delivered page: changes in the middle of a sweep. */
  churn: count.default(0),
  /** After this many mutations in all, `churn` rests. With few records a page, a list may otherwise grow faster than it can be read. */
  churnUntil: count.default(Number.MAX_SAFE_INTEGER),
});

export type Behaviour = Readonly<z.output<typeof switches>>;

export const DEFAULT_BEHAVIOUR: Behaviour = switches.parse({});

const someSwitches = z.strictObject(
  Object.fromEntries(Object.entries(switches.shape).map(([name, one]) => [name, one.unwrap().optional()])),
);

/**
 * Checks switches that come from outside, such as the control API.
 * @throws z.ZodError with the paths of what is wrong
 */
export function parseSwitches(value: unknown): Partial<Behaviour> {
  return someSwitches.parse(value);
}
