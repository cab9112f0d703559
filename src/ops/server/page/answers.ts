/** The answers of the API as schemas: the OpenAPI document and the types are made of them. */
import { z } from 'zod';
import { deliveryRow } from '../../../delivery/receipts/delivery-row.js';
import { subscriptionStatus } from '../../../delivery/ask/subscription-status.js';
import { refusedBySchema } from '../../../delivery/ask/tried.js';
import { heldExample, heldSchema } from '../../../feed/detect/held.js';
import { auditEntry } from '../../audit.js';
import { statusSchema } from '../../watch/status.js';

/** An answer without the further properties that its schema allows. */
export type Plain<Answer> = Answer extends readonly (infer One)[]
  ? readonly Plain<One>[]
  : Answer extends object
    ? {
        [Key in keyof Answer as string extends Key ? (unknown extends Answer[Key] ? never : Key) : Key]: Plain<
          Answer[Key]
        >;
      }
    : Answer;

const iso = z.string().describe('ISO 8601, UTC');
const count = z.number().int();

const valueView = z.strictObject({
  text: z.string().nullable().describe('null: no value'),
  cut: z.boolean().describe('the text is only a part of the value'),
  type: z.enum(['text', 'number', 'boolean']).describe('what the value is, so that a reader writes it in its language'),
});

export type ValueView = z.output<typeof valueView>;

const notice = z.looseObject({
  severity: z.enum(['error', 'warning', 'info']),
  message: z.string(),
  since: iso.nullable(),
  list: z.string().nullable(),
  facts: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});

const actor = z
  .strictObject({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() })
  .nullable()
  .describe('who made the change; null: not known');

const eventView = z
  .strictObject({
    position: z.string().describe('its place in the log: `acme@1700000000000-0`'),
    id: z.string(),
    workspace: z.string(),
    logId: z.string(),
    type: z.string(),
    object: z.string().describe('the second word of the type: `person`'),
    verb: z.string().describe('the last word: `updated`'),
    subject: z.string().describe("the record's id"),
    title: z.string().nullable().describe('what the record is called; null where it says nothing'),
    about: z.string().nullable().describe('the person or organization that a record without a name belongs to'),
    link: z.string().nullable().describe('the record in the CRM, where `links` of the workspace says how'),
    records: z
      .array(z.string())
      .describe('the records that it concerns: `person:<id>`; the first is the one that it is about'),
    row: z
      .strictObject({ field: z.string(), value: valueView })
      .nullable()
      .describe('what a row of a history says: a field and its value after the change'),
    edit: z
      .boolean()
      .describe('a person or a program has changed something; false: it only follows from another change'),
    person: z.strictObject({ id: z.string(), name: z.string() }).nullable().describe('the person in charge'),
    actor,
    observedAt: iso,
    time: iso,
    sequence: count,
    class: z.enum(['edited', 'refreshed']),
    detectedBy: z.enum(['timestamp', 'content', 'both', 'clock']),
    changes: z.array(z.strictObject({ field: z.string(), before: valueView, after: valueView, actor })),
    moreChanges: count.describe('changes that are not in `changes`'),
    due: iso.nullable(),
    late: z.boolean(),
    notice: notice.nullable(),
    schema: z
      .looseObject({
        field: z.string(),
        kind: z.string(),
        rows: count,
        before: z.array(z.string()),
        after: z.array(z.string()),
      })
      .nullable(),
  })
  .meta({ id: 'EventView', description: 'An event in short texts.' });
export type EventView = Plain<z.output<typeof eventView>>;

export const changeEvent = z
  .looseObject({
    id: z.string(),
    type: z.string(),
    source: z.string(),
    subject: z.string(),
    time: iso,
    data: z.looseObject({}),
  })
  .meta({ id: 'ChangeEvent', description: 'A CloudEvent; docs/handlers.md describes its data.' });

export const eventsPage = z.strictObject({
  events: z.array(eventView).describe('newest first'),
  next: z.string().nullable().describe('`before` of the next page; null at the beginning of the log'),
  searchedBackTo: iso.nullable().describe('how far the log was searched for this page'),
  searched: count.describe('events that were looked at for this page'),
  end: z.string().describe('the end of the log: `from` of the stream of what comes next'),
});

export const streamed = z.union([
  z.strictObject({ position: z.string(), workspace: z.string(), logId: z.string(), event: changeEvent }),
  eventView,
]);

export const refusal = z
  .looseObject({ error: z.looseObject({ status: count, message: z.string() }) })
  .meta({ id: 'Refusal' });

export const oneEvent = z.strictObject({ view: eventView, event: changeEvent });

const subscription = subscriptionStatus.extend({
  handledLastMinute: count.describe('at most some 1,000 are counted'),
});

export const status = statusSchema
  .extend({ subscriptions: z.array(subscription) })
  .meta({ id: 'Status', description: 'The same as `changefeed status --json`, and what each subscription handled.' });

export const history = z.strictObject({
  everyMs: count,
  samples: z.array(
    z.strictObject({
      at: iso,
      workspaces: z.array(
        z.strictObject({
          name: z.string(),
          used: z.number().describe('share of the budget'),
          allowed: z.number(),
          pausedMs: z.number(),
        }),
      ),
      subscriptions: z.array(
        z.strictObject({
          name: z.string(),
          lagEvents: count.nullable(),
          lagSeconds: z.number().nullable(),
          dead: count,
        }),
      ),
    }),
  ),
});

export const deadLetter = z
  .strictObject({
    id: z.string(),
    subscription: z.string(),
    workspace: z.string(),
    logId: z.string(),
    reason: z.string(),
    diedAt: iso,
    replay: z.boolean(),
    attempts: z.array(z.looseObject({ at: iso, message: z.string() })).describe('the failed attempts, oldest first'),
    event: eventView,
  })
  .meta({ id: 'DeadLetter' });

export const deadLetters = z.strictObject({ deadLetters: z.array(deadLetter) });
export const tested = z.looseObject({
  subscription: z.string(),
  place: z.string().describe('its address without what is secret, or the kind of handler'),
  id: z.string(),
  type: z.string(),
  outcome: z.enum(['accepted', 'refused', 'unreachable']),
  status: count.nullable(),
  ms: z.number(),
  body: z.string(),
  problem: z.string().nullable(),
});
export const skipped = z.strictObject({
  count: count.describe('dropped'),
  unread: count.describe('of these, not read from the log'),
  queued: count.describe('of these, in the queue'),
  running: count.describe('handled at this moment: they end'),
});
export const replayed = z.strictObject({
  id: z.string().describe('what stops it'),
  count: count.describe(
    'with `dryRun`, the events that would be sent; otherwise `replays` of the status says how many were',
  ),
  interrupted: z.boolean().describe('a command was stopped before all were sent; the service sends the rest'),
  atLeastSeconds: z.number().nullable().describe('with `dryRun`, at the `rate` of the subscription; null: it has none'),
});
export const stoppedReplays = z.strictObject({
  count: count.describe('replays that were being sent, one for each workspace'),
  dropped: count.describe('deliveries of them that waited in the queue'),
});
const storedEvents = z.looseObject({ subscription: z.string(), waiting: count, dead: count });
export const stored = storedEvents.describe('what was stored');
export const leftBehind = z.strictObject({ subscriptions: z.array(storedEvents) });
export const heldRecords = z.strictObject({
  held: z.array(
    heldSchema.extend({
      workspace: z.string(),
      list: z.string(),
      examples: z.array(heldExample).readonly().describe('at most three of the records'),
    }),
  ),
});
export const done = z.strictObject({ count });
export const resynced = z.strictObject({ count, lists: z.array(z.string()) });
export const resumed = z.strictObject({
  count,
  was: z
    .looseObject({ at: iso.nullable(), reason: z.string(), missing: z.boolean() })
    .nullable()
    .describe('how it was paused. `missing`: the log has dropped events that it had not read'),
});
export const snapshotBegun = z.strictObject({
  count,
  workspaces: z.array(z.string()).describe('whose records are sent'),
});
export const forgotten = z.looseObject({ workspace: z.string(), records: count, events: count, keys: count });
export const auditList = z.strictObject({ entries: z.array(auditEntry).describe('newest first') });
export const erased = z
  .strictObject({
    count: count.describe('the stored record and its events in the log'),
    workspace: z.string(),
    list: z.string(),
    tombstone: z.string().describe('a keyed digest of the id, by which the log of decisions names the record'),
    stored: z.boolean(),
    events: count.describe('in the log'),
    changes: count.nullable().describe('in its history; null with `dryRun`'),
    kept: z
      .strictObject({ deliveries: count, deadLetters: count, receipts: count, running: count })
      .nullable()
      .describe('what subscriptions kept; null with `dryRun`. `running`: handled at this moment, so repeat it later'),
    tables: z.array(z.strictObject({ subscription: z.string(), rows: count, problem: z.string().nullable() })),
    related: z
      .array(z.strictObject({ list: z.string(), id: z.string(), title: z.string().nullable() }))
      .describe('records that contain its id, name, e-mail address or phone number: they are not erased'),
    mentions: z
      .array(z.strictObject({ in: z.enum(['log', 'subscription', 'rule']), name: z.string() }))
      .describe('notices in the log, reasons and last errors of subscriptions, and rules that contain one of these'),
    outOfReach: z.array(
      z.strictObject({ subscription: z.string(), handler: z.string(), address: z.string().nullable() }),
    ),
    disk: z.enum(['rewriting', 'refused', 'none']).nullable().describe('the files of Redis'),
  })
  .meta({ id: 'Erased' });

export const deliveries = z.strictObject({
  deliveries: z.array(
    deliveryRow.extend({
      title: z
        .string()
        .nullable()
        .describe('what the record is called, or what it belongs to; null: not known, or no longer in the log'),
    }),
  ),
});

export const session = z.strictObject({
  caller: z
    .strictObject({
      role: z.enum(['read', 'operate']),
      name: z.string().nullable(),
      how: z.enum(['token', 'session', 'proxy']),
      workspace: z.string().optional().describe('they see this workspace and nothing else; absent: all'),
    })
    .nullable()
    .describe('null: sign in'),
});

export const about = z.strictObject({
  version: z.string(),
  queues: z.enum(['mounted', 'not installed']).describe('bull-board, at /queues'),
  workspaces: z.array(
    z.strictObject({
      name: z.string(),
      timeZone: z.string(),
      lists: z.array(
        z.strictObject({
          ...{ name: z.string(), object: z.string(), enabled: z.boolean() },
          modifiedAt: z.array(z.string()).describe('fields that are in no change'),
          kept: z.array(z.string()).describe('fields that the system keeps, such as counters'),
          createdAt: z.array(z.string()).describe('fields with the time of creation'),
          recognisedOnly: z.boolean().describe('only the keys of its rows are stored'),
        }),
      ),
    }),
  ),
});

const ruleData = z
  .looseObject({ id: z.string(), to: z.string() })
  .describe('as in the file: the options of a subscription as data, and the name of a destination');
const refused = z.strictObject({ outcome: z.literal('refused'), why: z.string() });

const doubts = z
  .array(
    z.strictObject({
      why: z.enum(['missing', 'type', 'masked', 'template', 'unseen']),
      field: z.string(),
      wants: z.array(z.string()).describe('types of values; of `unseen`, the value'),
      has: z.array(z.string()).describe('types of values that records have'),
      read: count.optional().describe('records in which the value was looked for'),
    }),
  )
  .describe('what holds for no stored record');

export const rules = z.strictObject({
  file: z.string().nullable().describe('null: the configuration names no file of rules'),
  revision: z.string().describe('the state of the file: a save names the one that it was made from'),
  problem: z.string().nullable().describe('why the file is not valid: the rules that ran go on'),
  destinations: z.array(
    z.strictObject({
      name: z.string(),
      handler: z.enum(['email', 'message', 'webhook']),
      place: z.string(),
      mention: z.boolean().describe('a chat that mentions the person in charge'),
    }),
  ),
  rules: z.array(
    z.strictObject({
      id: z.string(),
      subscription: z.string(),
      enabled: z.boolean(),
      runs: z.boolean().describe('this process has it as it is in the file'),
      doubts,
      data: ruleData,
    }),
  ),
});

const ruleDecision = z.enum(['created', 'changed', 'on', 'off', 'removed', 'test']);
const optionNames = z.array(z.string()).describe('the options that are others than before');

export const ruleChanged = z.union([
  z.strictObject({ outcome: z.literal('saved'), did: ruleDecision, changed: optionNames }),
  z.strictObject({ outcome: z.literal('changed').describe('by someone else, and nothing was saved') }),
  refused,
]);

export const rulePreview = z.union([
  z.strictObject({
    outcome: z.literal('tried'),
    since: iso,
    read: count.describe('events'),
    selected: count,
    perDay: z.array(count).describe('these by day, that of the last 24 hours first; of what is unchanged, empty'),
    examples: z
      .array(
        z.strictObject({
          id: z.string(),
          title: z.string(),
          at: iso,
          text: z.string().describe('the message, without the marks of the chat'),
          refusedBy: refusedBySchema.nullable(),
        }),
      )
      .describe('newest first; of a search, each event of the records'),
    digest: z
      .strictObject({ at: iso.describe('when it was sent, or will be'), text: z.string() })
      .nullable()
      .describe('the digest that the newest match belongs to, whole, where the rule sends digests'),
    doubts: doubts.describe('what holds for no stored record; only in the first answer'),
    next: z.string().nullable().describe('`from` of what is older'),
  }),
  refused,
]);

export const ruleSent = z.union([
  z.strictObject({
    outcome: z.literal('sent'),
    sent: tested,
    record: z.string().describe('what the record is called'),
    matched: z.boolean().describe('false: nothing of the last 7 days matches, and a stored record is the example'),
  }),
  refused,
]);
export const ruleHistory = z.strictObject({
  entries: z
    .array(
      z.strictObject({
        at: iso,
        by: z.string(),
        how: z.string(),
        what: ruleDecision,
        changed: optionNames,
      }),
    )
    .describe('newest first'),
});

export const ruleValues = z.strictObject({ values: z.array(z.string()).describe('the most frequent first') });
