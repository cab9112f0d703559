/** One call of a batch handler with many events, and its outcome per ordering group. */
import { ChangefeedError } from '../errors.js';
import type { ChangeEvent } from '../events/types.js';
import { batchFailuresOf } from '../handlers/errors.js';
import type { BatchContext, Batching, Subscription } from '../handlers/handler.js';
import { factsOf, onceFor, runBounded, shape, type AttemptOptions } from './attempt.js';

export type Member = Pick<AttemptOptions, 'delivery' | 'attempt'>;

/** The members of one ordering group, in order. */
export type Group = readonly Member[];

/** A group is handled from the front: the events behind a failed one are handled again with it. */
export type GroupOutcome = { outcome: 'done' } | { outcome: 'failed'; done: number; error: unknown };

export interface BatchOptions extends Omit<AttemptOptions, keyof Member> {
  batch: Batching;
}

/** Never throws: an error of the handler is the failure of every group. */
export async function attemptBatch(groups: readonly Group[], options: BatchOptions): Promise<GroupOutcome[]> {
  let shaped: ShapedGroup[] = [];
  let failureOf = (_event: ChangeEvent): unknown => undefined;
  try {
    await runBounded(async () => {
      shaped = await Promise.all(groups.map((group) => shapeGroup(group, options)));
      failureOf = await callHandler(shaped, options);
    }, options);
  } catch (error) {
    return groups.map(() => ({ outcome: 'failed', done: 0, error }));
  }
  return shaped.map((group) => outcomeOf(group, failureOf));
}

interface ShapedGroup {
  /** The events for the handler; null where `where` does not select the event. */
  events: readonly (ChangeEvent | null)[];
  members: Group;
  /** The error of `where` or `transform` for the member after `events`. Later members must not overtake it. */
  error?: unknown;
}

async function shapeGroup(members: Group, { subscription }: BatchOptions): Promise<ShapedGroup> {
  const events: (ChangeEvent | null)[] = [];
  for (const member of members) {
    try {
      events.push(await shape({ ...member, subscription }));
    } catch (error) {
      return { events, members, error };
    }
  }
  return { events, members };
}

function outcomeOf({ events, error }: ShapedGroup, failureOf: (event: ChangeEvent) => unknown): GroupOutcome {
  for (const [done, event] of events.entries()) {
    const failure = event === null ? undefined : failureOf(event);
    if (failure !== undefined) return { outcome: 'failed', done, error: failure };
  }
  return error === undefined ? { outcome: 'done' } : { outcome: 'failed', done: events.length, error };
}

async function callHandler(
  shaped: readonly ShapedGroup[],
  options: BatchOptions,
): Promise<(event: ChangeEvent) => unknown> {
  const events = shaped.flatMap((group) => group.events).filter((event) => event !== null);
  if (events.length === 0) return () => undefined;
  try {
    await options.batch.handle.call(options.subscription, events, contextOf(shaped, options));
    return () => undefined;
  } catch (error) {
    const failures = batchFailuresOf(error);
    if (failures === undefined || failures.size === 0) throw error;
    const ids = new Set(events.map(({ id }) => id));
    const unknown = [...failures.keys()].find((id) => !ids.has(id));
    // It is not known which event failed: handling all of them again is better than losing one.
    if (unknown !== undefined) throw unknownEvent(options.subscription, unknown);
    return ({ id }) => (failures.has(id) ? (failures.get(id) ?? new Error('failed without a reason')) : undefined);
  }
}

function contextOf(shaped: readonly ShapedGroup[], options: BatchOptions): BatchContext {
  const { subscription, interrupt } = options;
  const members = new Map(shaped.flatMap((group) => group.members).map((one) => [one.delivery.event.id, one]));
  const log = options.logger.child({ subscription: subscription.name, events: members.size });
  return {
    log,
    subscription: subscription.name,
    signal: interrupt.signal,
    about: ({ id }) => {
      const member = members.get(id);
      if (member === undefined) throw unknownEvent(subscription, id);
      const once = onceFor(options, member.delivery, () => log);
      return { ...factsOf({ ...member, subscription }), once };
    },
  };
}

function unknownEvent({ name: subscription }: Subscription, id: string): ChangefeedError {
  return new ChangefeedError('CF_HANDLER_FAILED', {
    subscription,
    message: `The batch handler of "${subscription}" named the event ${JSON.stringify(id.slice(0, 64))}, which is not in its batch. Name events by the ids they have in the batch.`,
  });
}
