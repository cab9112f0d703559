import type { ChangeClass, ChangeEvent } from '../events/types.js';
import type { ListName } from '../events/lists.js';
import type { Log } from '../runtime/log.js';

/** A handler's whole world besides the event. */
export interface HandlerContext {
  /** Carries subscription, event id and attempt as fields. */
  readonly log: Log;
  /** Aborts at the subscription's timeout and when the process stops. */
  readonly signal: AbortSignal;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly subscription: string;
  readonly workspace: string;
  /** Sent again by a replay; the event and its id are the same as the first time. */
  readonly replay: boolean;
  /**
   * Runs a side effect at most once per event and subscription, over retries, crashes, retried dead letters and replays, for
   * 30 days. Begun and never ended (a crash, a timeout) it is not run again and the answer is `unknown`.
   * @throws what `effect` throws; it counts as not done then, and runs at the next try
   */
  readonly once: Once;
}

/** `ran` now, done `before`, or `unknown`: begun before, and nobody knows how it ended. */
export type OnceOutcome = 'ran' | 'before' | 'unknown';
export type Once = (key: string, effect: () => unknown) => Promise<OnceOutcome>;

/**
 * Handles one event. Resolving is success. Throwing steers: `RetryAfterError` waits as told, `PermanentError` makes a
 * dead letter at once, `DisableSubscriptionError` stops the subscription until it is enabled, anything else is retried by
 * the subscription's policy. `event.id` is the idempotency key.
 */
export type Handle = (event: ChangeEvent, context: HandlerContext) => void | Promise<void>;

/** A batch handler's whole world besides the events. */
export interface BatchContext extends Pick<HandlerContext, 'signal' | 'subscription'> {
  /** Carries subscription and number of events as fields. */
  readonly log: Log;
  /** What a handler of single events is told of each, by its `id`. */
  readonly about: (event: ChangeEvent) => Pick<HandlerContext, 'attempt' | 'workspace' | 'replay' | 'once'>;
}

/**
 * Handles many events at once. Those of one record stand in their order. Resolving is success for all; throwing a
 * `BatchError` names those that failed, and all others are done; throwing anything else means that all of them failed.
 */
export type HandleBatch = (events: readonly ChangeEvent[], context: BatchContext) => void | Promise<void>;

/** How events are collected for a batch handler. */
export interface Batching {
  /** Events in one batch at most. */
  readonly size: number;
  /** How long the first one waits for others, in ms. */
  readonly lingerMs: number;
  readonly handle: HandleBatch;
}

/** How long a record must be still before its changes are handled as one. */
export interface Settling {
  /** Without a further change; ms. */
  readonly stillMs: number;
  /** From the first change, however many follow; ms. */
  readonly atMostMs: number;
}

export interface RetryPolicy {
  /** Tries in all, the first included. @defaultValue 10 */
  attempts: number;
  /** Wait before the second try, in ms; doubles with every further one, with jitter. @defaultValue 1000 */
  delayMs: number;
  /** No wait is longer, in ms. @defaultValue 3600000 */
  maxDelayMs: number;
}

export interface Rate {
  requests: number;
  perSeconds: number;
}

/** One test event's way to an endpoint. */
export interface Pinged {
  subscription: string;
  /** Host and path of the URL, without its query. */
  place: string;
  /** `webhook-id` and the event's own. */
  id: string;
  /** `changefeed.test` */
  type: string;
  /** One per secret, in the order of the option: the number of the secret, from 1, and what it signed. */
  signatures: readonly { secret: number; signature: string }[];
  outcome: 'accepted' | 'refused' | 'unreachable';
  /** Of the answer; null when there was none. */
  status: number | null;
  /** From the first byte sent, or tried to be, to the answer. */
  ms: number;
  /** The answer's beginning, in one line. */
  body: string;
  /** What is wrong and what to do; null when it was accepted. */
  problem: string | null;
}

export type Ping = (options: { signal: AbortSignal }) => Promise<Pinged>;

/** Which events a subscription wants. An option left out selects everything. */
export interface Selection {
  /** Event types; `*` stands for any run of characters. */
  readonly on: readonly string[];
  readonly workspaces?: readonly string[];
  readonly lists?: readonly ListName[];
  readonly class?: ChangeClass;
  /** Field patterns (`*` allowed): an updated event must have changed at least one of them; created and deleted pass. */
  readonly fields?: readonly string[];
  /** Asked of events that all else selects. */
  readonly where?: (event: ChangeEvent) => boolean;
}

/** Reshapes an event before it is handled. */
export type Transform = (event: ChangeEvent) => ChangeEvent | Promise<ChangeEvent>;

/** A subscription, ready to run: what `defineHandler`, `webhook` and the other factories make. */
export interface Subscription extends Selection {
  /** Unique; names the queue. Letters, digits, `-`, `_`, `.`; 64 at most. */
  readonly name: string;
  /** The kind of handler: `custom`, `ndjson`, `webhook` … */
  readonly handler: string;
  /** Events, or batches of them, handled at the same time by one process. */
  readonly concurrency: number;
  readonly order: 'record' | 'none';
  readonly transform?: Transform;
  readonly retry: RetryPolicy;
  /** `hold`: a dead letter keeps its record's later events waiting until it is retried or dropped. */
  readonly whenDead: 'release' | 'hold';
  /** A try that takes longer is aborted and counts as failed; ms. */
  readonly timeoutMs: number;
  /** Where a new subscription starts reading the log: `now`, `beginning`, a time, or a log id (that event first). */
  readonly start: string;
  readonly handle: Handle;
  /** Given, events are collected and handled by this instead of `handle`. */
  readonly batch?: Batching;
  /** Given, consecutive changes of a record are merged until it has been still. */
  readonly settle?: Settling;
  /** All its processes together start no more deliveries than this, evenly spread. */
  readonly rate?: Rate;
  /** Disabled when no try has succeeded for so long, ms; never, when left out. */
  readonly disableAfterMs?: number;
  /** Sends one test event as any other is sent, and says what came of it. Only what posts signed events has it. */
  readonly ping?: Ping;
  /** Lets go of what the handler holds (files, sockets); called once when the process stops. */
  readonly close?: () => Promise<void>;
}
