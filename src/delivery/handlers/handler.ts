import type { PersonInCharge } from '../../events/person-in-charge.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Selection, WorkspaceOfEvent } from '../../events/pattern.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { CrmRecord } from '../../crm/record.js';
import type { Include } from '../../events/related.js';
import type { Log } from '../../kit/log.js';
import type { Formats } from '../../words/format.js';
import type { TitledText } from './titled.js';
import type { WorkspaceOverview } from '../../log/overview.js';
import type { WorkspaceTodos } from '../../crm/todo-counts.js';
import type { Language } from '../../words/words.js';
import type { People } from './people.js';

/** Everything a handler gets besides the event. */
export interface HandlerContext {
  /** Carries subscription, event id and attempt as fields. */
  readonly log: Log;
  /** Aborts at the subscription's timeout and when the process stops. */
  readonly signal: AbortSignal;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly subscription: string;
  /** Where the event comes from, and what your program put with it. */
  readonly workspace: WorkspaceOfEvent;
  /** The list that the event comes from; null for the feed's own events. */
  readonly list: ListName | null;
  /** The language of the subscription, otherwise of the workspace: for what people read. */
  readonly language: Language;
  /** The time zone of the workspace, an IANA name. */
  readonly timeZone: string;
  /** Where people of the CRM are reached: `people` of the configuration. */
  readonly people: People;
  /** The stored records of the workspace, as the feed knows them now. It sends no request to the CRM. */
  readonly records: StoredRecords;
  /** The address of the status page that shows an event's record; null without `http.publicUrl`. */
  readonly pageOf: (event: ChangeEvent) => string | null;
  /** True if sent again by a replay; event and id are the same as the first time. */
  readonly replay: boolean;
  /** True for an event that a person sends as a test. @defaultValue false */
  readonly test?: boolean | undefined;
  /**
   * Runs a side effect at most once per event and subscription, across retries, crashes, retried dead letters and replays, for
   * 30 days. If it began and never ended (a crash, a timeout), it is not run again and the result is `unknown`.
   * @throws what `effect` throws; the effect then counts as not done and runs at the next attempt
   */
  readonly once: Once;
}

/** Reads stored records, from a handler. */
export interface StoredRecords {
  /**
   * @param list its name or object: `people`, `person`
   * @returns null when none is stored, and for a list that is not polled
   */
  get(list: ListName, id: string): Promise<CrmRecord | null>;
}

/** `ran` now, done `before`, or `unknown`: it began before and its end is not known. */
export type OnceOutcome = 'ran' | 'before' | 'unknown';
/** Runs an effect unless it has run for this event and key. */
export type Once = (key: string, effect: () => unknown) => Promise<OnceOutcome>;

/**
 * What the receipt of the delivery shows. Nothing; the status with which a receiver has accepted the event, and in `words` what else is to be
 * known, without contents of records; or `skipped`: nothing was sent, as the person in charge has no address.
 */
export type HandleResult =
  // A handler that returns nothing has the type void.
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type
  void | { readonly status?: number; readonly words?: string } | { readonly skipped: 'no-address' };

/** See `HandlerOptions` for what it may throw; `DisableSubscriptionError` pauses the subscription until it is resumed. */
export type Handle = (event: ChangeEvent, context: HandlerContext) => HandleResult | Promise<HandleResult>;

/** How long receipts of deliveries are kept. */
export interface ReceiptRetention {
  ageMs: number;
  number: number;
}

/** In the time zone of the workspace. Times of day are `HH:MM`, days 1 (Monday) to 7. */
export interface Schedule {
  readonly when: { readonly everyMs: number } | { readonly at: string };
  readonly days: readonly number[];
  readonly quiet?: { readonly from: string; readonly to: string } | undefined;
}

/** A place in the log. */
export interface DigestEnd {
  readonly logId: string;
  /** ISO 8601: when the event was logged. */
  readonly time: string;
}

/** What a digest says of a range of the log, as far as the subscription selects it. */
export interface DigestSummary<Event = ChangeEvent> {
  /** The idempotency key: each attempt of a digest has the same one, and the same events. */
  readonly id: string;
  readonly workspace: string;
  /** The first event and the last one. */
  readonly from: DigestEnd;
  /** The position of its last event. */
  readonly to: DigestEnd;
  /** Number of its events. */
  readonly count: number;
  /** The most frequent type first. */
  readonly types: readonly { readonly type: string; readonly count: number }[];
  /** People in charge, the one with the most events first. Events of records without one are not among them. */
  readonly people: readonly (PersonInCharge & { readonly count: number })[];
  /** The first ten events, in the order of the log. */
  readonly first: readonly Event[];
  /** The first ten records, each with its events in the order of the log (the first one and the newest, up to twenty) and how many there are. */
  readonly records: readonly { readonly events: readonly Event[]; readonly count: number }[];
  /** All events in the order of the log, read from it again. */
  readonly events: () => AsyncIterable<Event>;
  /** The status page with such events; null without `http.publicUrl`. */
  readonly link: string | null;
}

/** As `HandlerContext`; `once` is kept by the id of the digest. */
export type DigestContext = Omit<HandlerContext, 'list' | 'replay'>;

export type HandleDigest = (digest: DigestSummary, context: DigestContext) => HandleResult | Promise<HandleResult>;

/** What a report is about. */
export type ReportSubject = 'todos' | 'changes';

/** What is counted for a report, and when (ISO 8601); `refused` says why nothing could be counted. */
export type ReportOutcome = { at: string } & (
  { report: WorkspaceTodos } | { changes: WorkspaceOverview } | { refused: string }
);

/** A text that is made in the language of its readers. */
export interface Said {
  text: (formats: Formats) => TitledText;
  /** The idempotency key, where a receiver has such. */
  id: string;
  /** ISO 8601: the time of which it speaks. */
  at: string;
}

export type HandleReport = (outcome: ReportOutcome, context: DigestContext) => HandleResult | Promise<HandleResult>;

/** How long a record must stay unchanged before its changes are handled as one. */
export interface Settling {
  /** How long without a further change; ms. */
  readonly stillMs: number;
  /** From the first change, however many follow; ms. */
  readonly atMostMs: number;
}

export interface RetryPolicy {
  /** Attempts in total, the first included. @defaultValue 10 */
  attempts: number;
  /** Wait before the second attempt, in ms; doubles with each further attempt, with jitter. @defaultValue 1000 */
  delayMs: number;
  /** Longest wait, in ms. @defaultValue 3600000 */
  maxDelayMs: number;
}

export interface Rate {
  requests: number;
  perSeconds: number;
}

/** The outcome of one test event. */
export interface TestOutcome {
  subscription: string;
  /** Host and path of the URL, without its query; the kind of handler where it has no address. */
  place: string;
  /** `webhook-id`, which is also the event's id. */
  id: string;
  /** `changefeed.test`, or the one that was asked for. */
  type: string;
  /** One per secret, in the order of the option: the number of the secret, from 1, and its signature. */
  signatures: readonly { secret: number; signature: string }[];
  /** `refused` also where a handler has thrown. */
  outcome: 'accepted' | 'refused' | 'unreachable';
  /** Status of the answer; null if there was none. */
  status: number | null;
  /** From the start of the request to the answer. */
  ms: number;
  /** The start of the answer, in one line. */
  body: string;
  /** What is wrong and what to do; null if it was accepted. */
  problem: string | null;
}

/** Whether an endpoint, a database or a queue can be reached. */
export interface Reached {
  /** As messages name the endpoint; without what is secret in its URL. */
  place: string;
  /** Null when it can be reached. */
  problem: string | null;
  /** What to do about the problem. @defaultValue what helps with an address */
  remedy?: string;
}

/** Reshapes an event before it is handled. */
export type Transform = (event: ChangeEvent) => ChangeEvent | Promise<ChangeEvent>;

/** Of which record a person wants to hear no more, and from whom. */
export interface MutedRecord {
  subscription: string;
  list: ListName;
  id: string;
}

/** What Slack sends when a reader clicks on a button of a message, and how it is answered. */
export interface Clicks {
  /** Whether Slack has signed it with the secret of this subscription, within the last minutes. */
  readonly isSigned: (request: { timestamp: string; signature: string; body: Buffer }) => boolean;
  /** Posts to the address that the click names. @throws ChangefeedError where that is no address of Slack, or not reached */
  readonly answer: (address: string, body: object) => Promise<void>;
}

/** Of a subscription whose consumer asks for its events. */
export interface Pulled {
  /** What was handed out and not acknowledged for so long is handed out again; ms. */
  readonly visibilityMs: number;
  /** Whether this is the token of the consumer. */
  readonly isToken: (given: string) => boolean;
  readonly sharesToken: (other: Pulled) => boolean;
}

/** A subscription, ready to run: the result of `defineHandler`, `webhook` and the other factories. */
export interface Subscription extends Selection {
  /** Unique; also the name of the queue. Letters, digits, `-`, `_`, `.`; 64 characters at most. */
  readonly name: string;
  /** What people call it: of a rule. @defaultValue its name */
  readonly title?: string | undefined;
  /** The name of the destination: of a rule. */
  readonly to?: string | undefined;
  /** A person may mute a record for it: it tells people, and no copy is kept of what it tells. @defaultValue false */
  readonly mutable?: boolean | undefined;
  /** The kind of handler: `custom`, `ndjson`, `webhook` … */
  readonly handler: string;
  /** What people call this kind of handler; a function has no such words. */
  readonly words?: { readonly en: string; readonly ko: string } | undefined;
  /** Events that one process handles at the same time. */
  readonly concurrency: number;
  /** `record`: one event of a record at a time, in sequence. `none`: as they come. */
  readonly order: 'record' | 'none';
  /** Its messages have buttons. */
  readonly clicks?: Clicks | undefined;
  /** Reshapes the event before the handler gets it. */
  readonly transform?: Transform | undefined;
  /** The stored records that a delivered event has with it. */
  readonly include?: Include | undefined;
  /** @defaultValue that of the workspace */
  readonly language?: Language | undefined;
  /** How often and when a failed attempt is repeated. */
  readonly retry: RetryPolicy;
  /** `hold`: a dead letter keeps its record's later events waiting until it is retried or dropped. */
  readonly whenDead: 'release' | 'hold';
  /** An attempt that takes longer is aborted and counts as failed; ms. */
  readonly timeoutMs: number;
  /** An event that waits for longer is late, ms; `settle` adds to it. */
  readonly lateAfterMs: number;
  /** Where a new subscription starts: `now`, `beginning`, `snapshot`, a time, a log id (that event first), or where another one stopped. */
  readonly start: string | { readonly after: string };
  /** After Redis went back to an earlier state, or lost it. @defaultValue 'nothing' */
  readonly afterRewind?: 'snapshot' | 'nothing' | undefined;
  /** Handles one event. What it throws decides what follows. */
  readonly handle: Handle;
  /** When its events are handled as one digest. */
  readonly digest?: Schedule | undefined;
  /** Called with a digest, or with what is beyond `mostPerMinute`. */
  readonly handleDigest?: HandleDigest | undefined;
  /** It has no `handle` of its own: a single event is a digest of one. */
  readonly digestOnly?: boolean | undefined;
  /** Messages to its destination in any minute; the events beyond them are one digest. Of several subscriptions the lowest one holds. */
  readonly mostPerMinute?: number | undefined;
  /** Its events are not queued: a consumer asks for them. */
  readonly pull?: Pulled | undefined;
  /** It gets no events, but a report at these moments. */
  readonly report?:
    { readonly what: ReportSubject; readonly schedule: Schedule; readonly handle: HandleReport } | undefined;
  /** Says a text of its own, such as a report. */
  readonly tell?: ((said: Said, context: DigestContext) => HandleResult | Promise<HandleResult>) | undefined;
  /** Null: no receipts are kept. */
  readonly receipts?: ReceiptRetention | null | undefined;
  /** The host that it posts to. */
  readonly address?: string | undefined;
  /** Where it posts to, as a digest of host and path: limit, rate and the pause after a refusal are shared by all that post there. */
  readonly destination?: string | undefined;
  /** `where`, if it was given as data. */
  readonly conditions?: object | undefined;
  /** If set, consecutive changes of a record are merged until it stays unchanged. */
  readonly settle?: Settling | undefined;
  /** Limit of attempts to its destination, of all that post there together, evenly spread. */
  readonly rate?: Rate | undefined;
  /** The subscription is paused when no attempt has succeeded for this time, ms; never if left out. */
  readonly disableAfterMs?: number | undefined;
  /** Sends one test event (@defaultValue of type `changefeed.test`) in the same way as any other and returns the outcome. Only webhooks have it. */
  readonly ping?: ((options: { signal: AbortSignal; event?: ChangeEvent }) => Promise<TestOutcome>) | undefined;
  /** Connects to its endpoint, database or queue and sends nothing. */
  readonly reach?: (() => Promise<Reached>) | undefined;
  /** Set where its receiver is on a public host and the connection is not encrypted: what to do about it (`use rediss in redis`). */
  readonly inClear?: string | undefined;
  /** What every event would fail on and can be seen before the first one; null when nothing is. Logged when the process starts. */
  readonly obstacle?: (() => Obstacle | null) | undefined;
  /** The same, where only its database can say it. */
  readonly misfit?: (() => Promise<Obstacle | null>) | undefined;
  /** It writes events to standard output as JSON. On a terminal, `start` shows them as readable lines instead. */
  readonly toStandardOutput?: boolean | undefined;
  /** Erases a record from what it has delivered. @returns how many rows there were */
  readonly erase?: ((record: { workspace: string; list: ListName; id: string }) => Promise<number>) | undefined;
  /** What it has delivered to, where that can be read: `verify` compares it with the lists. */
  readonly copy?: WrittenCopy | undefined;
  /** When its copy is verified. */
  readonly verify?: Schedule | undefined;
  /** Releases the handler's resources (files, sockets); called once when the process stops. */
  readonly close?: (() => Promise<void>) | undefined;
  /** Lists that the handler's own options name, such as `tables` of `postgres`: each must exist. */
  readonly namedLists?: readonly ListName[] | undefined;
}

/** The records of one list, as they were delivered. */
export interface WrittenCopy {
  /** In steps, each record once. `deleted`: its row says that it is gone. */
  rows(place: { workspace: string; list: ListName }): AsyncIterable<readonly WrittenRow[]>;
  /** The contents of these records, where it has them. */
  contents(of: { workspace: string; list: ListName; ids: readonly string[] }): Promise<ReadonlyMap<string, object>>;
}

/** What was written of one record. */
export interface WrittenRow {
  id: string;
  sequence: number;
  deleted: boolean;
}

/** What a handler lacks on this machine. */
export interface Obstacle {
  /** What is wrong. */
  reason: string;
  /** What to do about it. */
  remedy: string;
}
