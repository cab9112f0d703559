/** The status as plain data. Its types and the document of the page's API are made of these schemas. */
import { z } from 'zod';
import { subscriptionStatus } from '../../delivery/ask/subscription-status.js';
import { PROBLEM_KINDS } from '../../events/kinds.js';
import { processStatus } from '../../redis/process-registry.js';
import { listFailureSchema, summarySchema } from '../../feed/store/sweep-state.js';

const count = z.number().int();
const iso = z.string().describe('ISO 8601, UTC');
const byName = z.record(z.string(), z.number()).readonly();

const shortcutStatus = z.object({
  used: count.describe('pages read'),
  useful: count.describe('of these: pages that showed a change before a walk did'),
  wrong: count.describe('pages that did not show what was expected'),
});

const listStatus = z.object({
  list: z.string(),
  enabled: z.boolean(),
  intervalMs: z
    .number()
    .nullable()
    .describe(
      'the shortest time from the start of one sweep to the start of the next; null: swept again as soon as a sweep has ended',
    ),
  freshness: z
    .object({
      ageMs: z.number().describe('since the last complete sweep read its first page'),
      sweepMs: z.number().describe('how long that sweep took'),
    })
    .nullable()
    .describe('how old the stored state may be; null before the first complete sweep, and where a clock has stepped'),
  baselineAt: iso.nullable().describe('null until the first complete sweep'),
  lastSweep: z
    .object({
      completedAt: iso,
      tookMs: z.number().nullable().describe('null where the clock was put back meanwhile'),
      pages: count,
      longestPage: count.describe('records of its longest page'),
      counts: byName.describe('records seen, and records per decision'),
      muted: byName.describe('by rule: number of records whose change it muted'),
    })
    .nullable(),
  failure: listFailureSchema.nullable().describe('why the last attempts failed; null when the last one was complete'),
  lastError: listFailureSchema
    .pick({ code: true, message: true, at: true })
    .nullable()
    .describe('the last failed attempt, also when later ones were complete; null when there was none'),
  dueAt: iso.nullable().describe('when the list is due; null when it is disabled'),
  late: z
    .boolean()
    .describe(
      'it has been due, or no process has asked for it, for longer than the start of a sweep may take, and none sweeps it',
    ),
  silence: summarySchema.shape.staleness
    .unwrap()
    .nullable()
    .describe(
      'the list has been silent for much longer than usual. `unchanged`: no change for far longer than its longest pause; `empty`: it had records and now shows none',
    ),
  restless: summarySchema.shape.restless
    .unwrap()
    .describe('fields that most rows had an edit of in complete sweeps, of late'),
  unmatched: summarySchema.shape.unmatched
    .unwrap()
    .describe('what its options name, and no record had in the last complete sweep'),
  actors: z
    .object({ known: count, of: count })
    .nullable()
    .describe(
      'of how many edits it is known who made them, since the polling processes began; null: no edit, or no history of the list is polled',
    ),
  unreadable: summarySchema.shape.unreadable
    .unwrap()
    .describe('records that the last complete sweep could not read and left as they were; the first few'),
  held: summarySchema.shape.held.unwrap().describe('what waits until a person accepts it'),
  discarded: count.describe(
    'records whose held creation or removal a person discarded, and of which no later event has told the receivers more',
  ),
  shortcuts: z
    .object({ last: shortcutStatus, first: shortcutStatus, aimed: shortcutStatus, open: shortcutStatus })
    .readonly()
    .nullable()
    .describe('what the pages that were read out of turn have shown; null while none has been read'),
  sweeping: z
    .object({ startedAt: iso, pages: count, records: count, running: z.boolean() })
    .nullable()
    .describe('the sweep under way or interrupted; null when there is none'),
  records: count.describe('stored records'),
});
/** The status of a list. */
export type ListStatus = z.output<typeof listStatus>;

const problem = z
  .object({
    kind: z.enum(PROBLEM_KINDS),
    subject: z.string().describe('`list:people`, `subscription:ops`, `role:poll`, `loop:…` or `workspace`'),
    workspace: z.string().nullable().describe('null when it concerns all workspaces'),
    severity: z
      .enum(['error', 'warning'])
      .describe('`error`: something does not work; `warning`: a person should decide or check something'),
    message: z.string().describe('what is wrong, where, and what to do'),
    facts: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .readonly()
      .describe('the names and numbers in the message, of which it is made in another language'),
    since: iso.nullable().describe('null when that is not known'),
    list: z.string().nullable().describe('null when it is not about one list'),
  })
  .readonly();
export type Problem = z.output<typeof problem>;

const workspaceStatus = z.object({
  name: z.string(),
  state: z
    .enum(['active', 'paused', 'removed'])
    .describe(
      'of one that came at run time. Only an active one is polled; the events of a removed one are delivered until it is erased',
    ),
  stateSince: iso.nullable().describe('when its state in Redis was created; null when it has none'),
  stateLostAt: iso.nullable().describe('when the loss of an earlier state was noticed'),
  stateRewound: z
    .object({ from: iso, to: iso })
    .nullable()
    .describe('the last time that Redis went back to an earlier state: what was written in between may be gone'),
  logLength: count.describe('events in the log'),
  budget: z.object({
    requests: count,
    perSeconds: z.number(),
    pausedMs: z.number().describe('until requests are sent again after a 429; 0 when there is no wait'),
    allowed: z
      .number()
      .describe('requests in any `perSeconds` that are allowed now: fewer than `requests` after a 429'),
    used: z.number().describe('the share of `requests` that all processes used in the last `perSeconds`: 0 to 1'),
  }),
  lists: z.array(listStatus),
});
/** The status of a workspace. */
export type WorkspaceStatus = z.output<typeof workspaceStatus>;

const redisStatus = z.object({
  evictionPolicy: z.string().nullable().describe('`maxmemory-policy`; null when reading it is not permitted'),
  mayEvict: z
    .boolean()
    .describe('it may evict keys and the configuration does not allow it: polling and delivery pause'),
  refuses: z
    .enum(['out of memory', 'cannot save', 'read-only', 'not permitted'])
    .nullable()
    .describe('why it refuses writes; null when it accepts them'),
  forbids: z.string().nullable().describe('a command that its user may not call, and must; null when it may call all'),
  clockApartMs: z.number().describe('the clock of Redis less that of the process that reads this'),
});
export type RedisStatus = z.output<typeof redisStatus>;

export type { SubscriptionStatus } from '../../delivery/ask/subscription-status.js';

export const statusSchema = z.object({
  at: iso,
  redis: redisStatus,
  workspaces: z.array(workspaceStatus),
  subscriptions: z.array(subscriptionStatus),
  unconfigured: z
    .array(
      z.object({
        subscription: z.string(),
        waiting: count,
        dead: count,
        unread: z.boolean().describe('the log has events that it has not read'),
      }),
    )
    .describe('events under names of subscriptions that no process has configured'),
  processes: z.array(processStatus).describe('those that run roles'),
  problems: z.array(problem).describe('the worst first; empty when all is well'),
});
/** The status of everything, as `changefeed status --json` prints it. */
export type Status = z.output<typeof statusSchema>;
