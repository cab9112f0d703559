/** One attempt: a call of a handler, bounded in time even when the handler ignores its signal. */
import { ChangefeedError, describe } from '../../kit/errors.js';
import type { Comparison } from '../../crm/canonical.js';
import type { ListName, Lists } from '../../crm/lists/lists.js';
import { listOf } from '../../events/envelope.js';
import { SNAPSHOT_COMPLETE } from '../../events/notices.js';
import { workspaceOfEvent, type WorkspaceOfEvent } from '../../events/pattern.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Clock } from '../../kit/clock.js';
import { formatDuration } from '../../kit/duration.js';
import type { Log } from '../../kit/log.js';
import { isStatus } from '../handlers/errors.js';
import type { HandlerContext, Once, Subscription } from '../handlers/handler.js';
import type { People } from '../handlers/people.js';
import { idsOf, isOfSnapshot, replayOf, type Delivery } from '../deliveries.js';
import { isErrorLike } from '../failure.js';
import { digestOfOne } from '../handlers/summary.js';
import type { Mutes } from '../mutes.js';
import type { OnceStore } from './once.js';
import type { CrmRecord } from '../../crm/record.js';
import { linkOf, referencesOf, relatedRecord, type Include, type Links } from '../../events/related.js';
import type { Language } from '../../words/words.js';

const REASONS = {
  late: 'The handler took longer than its timeout.',
  stopping: 'Changefeed is stopping.',
  lost: 'The event was taken over by another process.',
};

export class Interrupt {
  /** The first reason; null while nothing interrupts. */
  cause: keyof typeof REASONS | null = null;
  // Its signal is made when it is first read, which costs more time than many handlers take.
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(cause: keyof typeof REASONS, reason = new Error(REASONS[cause])): void {
    this.cause ??= cause;
    this.#controller.abort(reason);
  }
}

/** What handling knows of a workspace. */
export type SurroundingsOf = (workspace: string) => Surroundings;

interface Shaping {
  subscription: Subscription;
  /** 1 for the first attempt. */
  attempt: number;
}

interface Bounds extends Shaping {
  interrupt: Interrupt;
  clock: Clock;
}

export interface ContextOptions extends Bounds {
  logger: Log;
  once: OnceStore;
  surroundingsOf: SurroundingsOf;
  /** The event is an example, sent as a test. @defaultValue false */
  test?: boolean;
}

export interface AttemptOptions extends ContextOptions {
  delivery: Delivery;
}

/**
 * `skipped`: `where` does not select the event, or its record is muted, so its handler was not called; or the handler had nobody to send it to.
 */
export type AttemptResult =
  | { outcome: 'handled'; status: number | undefined; words?: string | undefined }
  | { outcome: 'skipped'; why: 'where' | 'muted' | 'no-address' };

const SKIPPED = Symbol('skipped');
const MUTED = Symbol('muted');

export async function attemptDelivery(options: AttemptOptions): Promise<AttemptResult> {
  const { event, workspace } = options.delivery;
  const call = (shaped: ChangeEvent | null): unknown => (shaped === null ? SKIPPED : callHandler(options, shaped));
  const handle = (): unknown => after(shapeEvent(event, workspace, options), call);
  const { mutable = false } = options.subscription;
  const unlessMuted = async (): Promise<unknown> => ((await isMuted(event, workspace, options)) ? MUTED : handle());
  const answer = await callWithin(mutable ? unlessMuted : handle, options);
  if (answer === SKIPPED) return { outcome: 'skipped', why: 'where' };
  return answer === MUTED ? { outcome: 'skipped', why: 'muted' } : resultIn(answer);
}

/** What is sent as a test is sent to whoever asked for it. */
async function isMuted(event: ChangeEvent, workspace: string, options: ContextOptions): Promise<boolean> {
  const { subscription, clock, surroundingsOf, test = false } = options;
  const list = listOf(event, subscription.catalogue);
  if (test || list === undefined) return false;
  const record = { subscription: subscription.name, list, id: event.subject };
  return await surroundingsOf(workspace).mutes.isMuted(record, clock.now());
}

/** A handler may return anything, such as the whole answer of its receiver. */
export function resultIn(answer: unknown): AttemptResult {
  const { status, words, skipped } = Object(answer) as { status?: unknown; words?: unknown; skipped?: unknown };
  if (skipped === 'no-address') return { outcome: 'skipped', why: skipped };
  return {
    outcome: 'handled',
    status: isStatus(status) ? status : undefined,
    ...(typeof words === 'string' && { words }),
  };
}

/** A value that is no promise is used at once: an attempt that waits for nothing costs less. */
function after<Value, Next>(value: Value | Promise<Value>, next: (value: Value) => Next | Promise<Next>) {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

/** @throws what the call throws; `CF_HANDLER_TIMEOUT` after too long, `CF_HANDLER_FAILED` when that is no error */
export async function callWithin(call: () => unknown, options: Bounds): Promise<unknown> {
  try {
    const result = call();
    // A synchronous handler is done by now. The timer is most of the cost of an attempt.
    return isThenable(result) ? await withinTimeout(result, options) : result;
  } catch (error) {
    if (isErrorLike(error)) throw error as Error;
    const problem = `threw ${describe(error)}, which is not an error. Throw an Error, so that the reason is recorded.`;
    throw handlerError('CF_HANDLER_FAILED', `The handler of "${options.subscription.name}" ${problem}`, options);
  }
}

/** Null: `where` does not select the event. */
export function shapeEvent(
  event: ChangeEvent,
  workspace: string,
  options: Shaping & Pick<ContextOptions, 'surroundingsOf'> & Partial<Pick<AttemptOptions, 'delivery'>>,
) {
  if (!isWanted(event, options)) return null;
  const enriched = enrich(event, options.subscription.include, options.surroundingsOf(workspace));
  return after(enriched, (given) => reshape(given, options));
}

function isWanted(
  event: ChangeEvent,
  { subscription, delivery }: Shaping & Partial<Pick<AttemptOptions, 'delivery'>>,
): boolean {
  const { where } = subscription;
  // `where` was applied when the event was read, where an error selected the event. Here an error is a failed attempt.
  if (where === undefined || event.type === SNAPSHOT_COMPLETE || isDeletionSent(event, delivery)) return true;
  return where(event, workspaceOfEvent(event, subscription));
}

/** A deletion in a snapshot has no contents by which `where` could select it. */
function isDeletionSent({ data: { before, after } }: ChangeEvent, delivery: Delivery | undefined): boolean {
  return before === null && after === null && delivery !== undefined && isOfSnapshot(delivery.id);
}

function reshape(event: ChangeEvent, options: Shaping): ChangeEvent | Promise<ChangeEvent> {
  const { transform } = options.subscription;
  if (transform === undefined) return event;
  const reshaped: unknown = transform(event);
  return isThenable(reshaped)
    ? Promise.resolve(reshaped).then((given) => withIdentity(given, event, options))
    : withIdentity(reshaped, event, options);
}

/** A transformed event keeps its id, because receivers use it as idempotency key. */
function withIdentity(transformed: unknown, { id }: ChangeEvent, options: Shaping): ChangeEvent {
  if (typeof transformed === 'object' && transformed !== null) return { ...(transformed as ChangeEvent), id };
  const message = `The transform of "${options.subscription.name}" returned ${describe(transformed)}. It must return an event.`;
  throw handlerError('CF_HANDLER_FAILED', message, options);
}

function callHandler(options: AttemptOptions, event: ChangeEvent): unknown {
  const { subscription, delivery } = options;
  const { id, workspace, logId, event: given } = delivery;
  const { handleDigest, digestOnly = false } = subscription;
  const about = { workspace, effectsOf: given.id, facts: idsOf(id, given.id) };
  if (digestOnly) return handleDigest?.(digestOfOne({ workspace, logId, event }), contextFor(options, about));
  const list = listOf(given, subscription.catalogue) ?? null;
  return subscription.handle(event, contextFor(options, { ...about, list, replay: replayOf(id) !== undefined }));
}

interface About {
  workspace: string;
  /** The id under which `once` keeps effects. */
  effectsOf: string;
  /** What log lines of the handler name. */
  facts: object;
  /** @defaultValue null */
  list?: ListName | null;
  /** @defaultValue false */
  replay?: boolean;
}

export function contextFor(options: ContextOptions, about: About): HandlerContext {
  const { subscription, attempt, interrupt, logger, test = false } = options;
  const { workspace, facts, effectsOf, list = null, replay = false } = about;
  const { data, language, timeZone, people, record, pageOf } = options.surroundingsOf(workspace);
  let log: Log | undefined;
  return {
    // Created on first use: most handlers never log.
    get log() {
      return (log ??= logger.child({ workspace, subscription: subscription.name, ...facts, attempt }));
    },
    get once() {
      return onceFor({ ...options, workspace, eventId: effectsOf }, () => this.log);
    },
    get signal() {
      return interrupt.signal;
    },
    subscription: subscription.name,
    workspace: { name: workspace, data },
    attempt,
    list,
    replay,
    language: subscription.language ?? language,
    timeZone,
    people,
    records: { get: record },
    pageOf,
    ...(test && { test }),
  };
}

interface OnceOptions extends ContextOptions {
  workspace: string;
  eventId: string;
}

/** Its limits are described in docs/delivery.md. */
function onceFor({ subscription, once: store, workspace, eventId }: OnceOptions, log: () => Log): Once {
  return async (key, effect) => {
    const mark = { subscription: subscription.name, workspace, eventId, key };
    const found = await store.begin(mark);
    if (found === 'done') return 'before';
    if (found === 'started') {
      log().warn({ key }, 'side effect started before with unknown result, not run again');
      return 'unknown';
    }
    try {
      await effect();
    } catch (error) {
      // It is known to have failed: the next attempt may run it again.
      await store.forget(mark);
      throw error;
    }
    await store.finish(mark);
    return 'ran';
  };
}

// Created once: an abort without a reason creates an exception with a stack every time.
const ENDED = new Error('The handler has ended.');

async function withinTimeout(result: PromiseLike<unknown>, options: Bounds): Promise<unknown> {
  const { subscription, clock, interrupt } = options;
  const { name, timeoutMs } = subscription;
  const ended = new AbortController();
  const timeout = clock.sleep(timeoutMs, ended.signal).then(() => {
    const problem = `did not finish within ${formatDuration(timeoutMs)}. Make it faster, have it listen to its signal, or raise the subscription's timeout.`;
    const error = handlerError('CF_HANDLER_TIMEOUT', `The handler of "${name}" ${problem}`, options);
    interrupt.abort('late', error);
    throw error;
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    ended.abort(ENDED);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function handlerError(
  code: 'CF_HANDLER_FAILED' | 'CF_HANDLER_TIMEOUT',
  message: string,
  { subscription, attempt }: Shaping,
): ChangefeedError {
  return new ChangefeedError(code, { subscription: subscription.name, attempt, message });
}

/** What handling knows of a workspace. */
export interface Surroundings {
  /** What a program put with the workspace. */
  data: WorkspaceOfEvent['data'];
  language: Language;
  timeZone: string;
  lists: Lists;
  links: Links;
  people: People;
  /** How detection compares the records of an object; undefined where the configuration does not name its list. */
  comparisonOf: (object: string) => Comparison | undefined;
  /** The status page with an event's record; null without `http.publicUrl`. */
  pageOf: (event: ChangeEvent) => string | null;
  /** What a person wants to hear no more of. */
  mutes: Pick<Mutes, 'isMuted' | 'all'>;
  /** The stored record; null when there is none, and of a list that is not polled. */
  record: (list: ListName, id: string) => Promise<CrmRecord | null>;
}

/** Adds what the workspace knows. A failure of Redis is thrown, so that the attempt fails: an event without the records would look as if there were none. */
export function enrich(
  event: ChangeEvent,
  include: Include | undefined,
  { links, lists, record }: Surroundings,
): ChangeEvent | Promise<ChangeEvent> {
  const link = linkOf(event, links);
  const linked = link === null ? event : { ...event, data: { ...event.data, link } };
  if (include === undefined || (event.data.after ?? event.data.before) === null) return linked;
  // In one turn of the event loop, so that one write to Redis has all reads.
  const reading = referencesOf(event, include, lists).map(async ([word, reference]) => {
    const stored = reference && (await record(reference.list, reference.id));
    return [word, reference && stored && relatedRecord(stored, reference.id, include[word] ?? true)] as const;
  });
  return Promise.all(reading).then((found) => ({
    ...linked,
    data: { ...linked.data, related: Object.fromEntries(found) },
  }));
}
