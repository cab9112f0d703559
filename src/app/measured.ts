/** Handlers that report to the metrics of the process. */
import type { ChangeEvent } from '../events/types.js';
import type { BatchContext, HandlerContext, Subscription } from '../handlers/handler.js';
import { unmeasured, type HandlerEnded, type Measure } from '../observability/prometheus.js';
import type { Clock } from '../runtime/clock.js';

interface Measuring {
  measure: Measure;
  clock: Clock;
}

export function withMeasure(subscriptions: readonly Subscription[], measuring: Measuring): readonly Subscription[] {
  if (measuring.measure === unmeasured) return subscriptions;
  return subscriptions.map((one) => measuredSubscription(one, measuring));
}

function measuredSubscription(subscription: Subscription, measuring: Measuring): Subscription {
  const { name, batch } = subscription;
  const handle = (event: ChangeEvent, context: HandlerContext) =>
    measured({ subscription: name, ...measuring, context, events: () => (context.replay ? [] : [event]) }, () =>
      subscription.handle(event, context),
    );
  if (batch === undefined) return { ...subscription, handle };
  const handleBatch = (events: readonly ChangeEvent[], context: BatchContext) => {
    const fresh = (): ChangeEvent[] => events.filter((event) => !context.about(event).replay);
    return measured({ subscription: name, ...measuring, context, events: fresh }, () => batch.handle(events, context));
  };
  return { ...subscription, handle, batch: { ...batch, handle: handleBatch } };
}

interface Call extends Measuring {
  subscription: string;
  context: Pick<HandlerContext, 'signal'>;
  /** The events whose delay counts. */
  events: () => readonly ChangeEvent[];
}

/** A synchronous handler stays synchronous: awaiting it would cost more than it does. */
function measured(call: Call, run: () => void | Promise<void>): void | Promise<void> {
  const { measure, clock, subscription } = call;
  const startedAtMs = clock.now();
  const end = measure.handling(subscription);
  const ended = (outcome: HandlerEnded['outcome']): void =>
    end({ outcome, ms: clock.now() - startedAtMs, delays: outcome === 'success' ? delaysOf(call) : [] });
  try {
    const result = run();
    if (result instanceof Promise) return untilEnd(result, call, ended);
    ended('success');
    // By its type nothing; a value is warned of where handlers are run.
    return result;
  } catch (error) {
    ended('failure');
    throw error;
  }
}

async function untilEnd(
  result: Promise<void>,
  { context: { signal } }: Call,
  ended: (outcome: HandlerEnded['outcome']) => void,
): Promise<void> {
  // A handler that ignores its timeout may never end.
  const onAbort = (): void => {
    if (isTimeout(signal.reason)) ended('timeout');
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await result;
    ended('success');
  } catch (error) {
    ended('failure');
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'CF_HANDLER_TIMEOUT';
}

/** Snapshots show what was there before: they have no delay. */
function delaysOf({ events, clock }: Call): HandlerEnded['delays'] {
  const nowMs = clock.now();
  const since = (time: string): number => Math.max(0, nowMs - Date.parse(time));
  return events()
    .filter(({ type }) => !type.endsWith('.snapshot'))
    .map(({ time, data }) => ({ changeMs: since(time), detectionMs: since(data.observedAt) }));
}
