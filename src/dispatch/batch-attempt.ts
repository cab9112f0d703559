/** One call of a batch handler: many events in, how each record's went out. */
import { ChangefeedError } from '../errors.js';
import type { ChangeEvent } from '../events/types.js';
import { batchFailuresOf } from '../handlers/errors.js';
import type { BatchContext, Batching, HandleBatch, Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { runBounded, shape } from './attempt.js';
import type { Interrupt } from './interrupt.js';
import { createOnce } from './once.js';
import type { Delivery, OnceStore } from './ports.js';

export interface Passenger {
  delivery: Delivery;
  /** 1 for the first try. */
  attempt: number;
}

/** One record's events in a batch, in their order. */
export type Run = readonly Passenger[];

/** A run is handled from its front: what comes behind a failure is tried again with it. */
export type RunOutcome = { outcome: 'done' } | { outcome: 'failed'; done: number; error: unknown };

export interface BatchOptions {
  subscription: Subscription;
  batch: Batching;
  interrupt: Interrupt;
  logger: Log;
  clock: Clock;
  once: OnceStore;
  /** Called with what the handler returned that should return nothing. */
  onReturned: (value: unknown) => void;
}

/** Never throws: what the handler throws is every run's failure. */
export async function attemptBatch(runs: readonly Run[], options: BatchOptions): Promise<RunOutcome[]> {
  let shaped: Shaped[] = [];
  let failureOf = (_event: ChangeEvent): unknown => undefined;
  try {
    await runBounded(async () => {
      shaped = await Promise.all(runs.map((run) => shapeRun(run, options)));
      failureOf = await callHandler(shaped, options);
    }, options);
  } catch (error) {
    // Not even shaped in time, or failed as a whole.
    return runs.map(() => ({ outcome: 'failed', done: 0, error }));
  }
  return shaped.map((run) => outcomeOf(run, failureOf));
}

interface Shaped {
  /** As the handler gets them; null for one that is not wanted. */
  events: readonly (ChangeEvent | null)[];
  passengers: Run;
  /** What `where` or `transform` threw for the next of the run: the others behind it must not overtake it. */
  error?: unknown;
}

async function shapeRun(passengers: Run, { subscription }: BatchOptions): Promise<Shaped> {
  const events: (ChangeEvent | null)[] = [];
  for (const passenger of passengers) {
    try {
      events.push(await shape({ ...passenger, subscription }));
    } catch (error) {
      return { events, passengers, error };
    }
  }
  return { events, passengers };
}

function outcomeOf({ events, error }: Shaped, failureOf: (event: ChangeEvent) => unknown): RunOutcome {
  for (const [done, event] of events.entries()) {
    const failure = event === null ? undefined : failureOf(event);
    if (failure !== undefined) return { outcome: 'failed', done, error: failure };
  }
  return error === undefined ? { outcome: 'done' } : { outcome: 'failed', done: events.length, error };
}

async function callHandler(shaped: readonly Shaped[], options: BatchOptions): Promise<(event: ChangeEvent) => unknown> {
  const events = shaped.flatMap((run) => run.events).filter((event) => event !== null);
  if (events.length === 0) return () => undefined;
  try {
    // Typed to give nothing; what it gives all the same is for the caller to remark on.
    const handle = options.batch.handle as (...args: Parameters<HandleBatch>) => unknown;
    const returned = await handle.call(options.subscription, events, contextOf(shaped, options));
    if (returned !== undefined) options.onReturned(returned);
    return () => undefined;
  } catch (error) {
    const failures = batchFailuresOf(error);
    if (failures === undefined || failures.size === 0) throw error;
    const ids = new Set(events.map(({ id }) => id));
    const stranger = [...failures.keys()].find((id) => !ids.has(id));
    // One of them failed, and nobody can say which: better all once more than that one never.
    if (stranger !== undefined) throw unknownEvent(options.subscription, stranger);
    return ({ id }) => (failures.has(id) ? (failures.get(id) ?? new Error('failed, without saying why')) : undefined);
  }
}

function contextOf(shaped: readonly Shaped[], options: BatchOptions): BatchContext {
  const { subscription, interrupt, once: store } = options;
  const passengers = new Map(shaped.flatMap((run) => run.passengers).map((one) => [one.delivery.event.id, one]));
  const log = options.logger.child({ subscription: subscription.name, events: passengers.size });
  return {
    log,
    subscription: subscription.name,
    get signal() {
      return interrupt.signal;
    },
    about: ({ id }) => {
      const passenger = passengers.get(id);
      if (passenger === undefined) throw unknownEvent(subscription, id);
      const { attempt, delivery } = passenger;
      const { workspace } = delivery;
      return {
        attempt,
        workspace,
        replay: delivery.replay !== undefined,
        once: createOnce({ store, subscription: subscription.name, workspace, eventId: id, log: () => log }),
      };
    },
  };
}

function unknownEvent({ name: subscription }: Subscription, id: string): ChangefeedError {
  return new ChangefeedError('CF_HANDLER_FAILED', {
    subscription,
    message: `The batch handler of "${subscription}" named the event ${JSON.stringify(id.slice(0, 64))}, which is not in its batch. Name events by the id they came with.`,
  });
}
