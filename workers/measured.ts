/** Handlers that report to the metrics of the process. */
import type { ChangeEvent } from '../src/events/types.js';
import type { Handle, HandleResult, HandlerContext, Subscription } from '../src/delivery/handlers/handler.js';
import { unmeasured, type HandlerEnded, type Measure } from '../src/ops/watch/prometheus.js';
import type { Clock } from '../src/kit/clock.js';
import { agoMs } from '../src/kit/stored-time.js';

interface Measuring {
  measure: Measure;
  clock: Clock;
}

export function withMeasure(subscription: Subscription, measuring: Measuring): Subscription {
  if (measuring.measure.handling === unmeasured.handling) return subscription;
  const handle = (event: ChangeEvent, context: HandlerContext) =>
    measured({ subscription: subscription.name, ...measuring, event, context }, () =>
      subscription.handle(event, context),
    );
  const { handleDigest } = subscription;
  if (handleDigest === undefined) return { ...subscription, handle };
  const measuredDigest: typeof handleDigest = (digest, context) =>
    measured({ subscription: subscription.name, ...measuring, event: null, context }, () =>
      handleDigest(digest, context),
    );
  return { ...subscription, handle, handleDigest: measuredDigest };
}

interface Call extends Measuring {
  subscription: string;
  /** Null: a digest, whose events waited for its moment. */
  event: ChangeEvent | null;
  context: { readonly signal: AbortSignal; readonly replay?: boolean };
}

/** A synchronous handler stays synchronous: awaiting it would cost more than it does. */
function measured(call: Call, run: () => ReturnType<Handle>): ReturnType<Handle> {
  const { measure, clock, subscription } = call;
  const startedAtMs = clock.monotonic();
  const end = measure.handling(subscription);
  const ended = (outcome: HandlerEnded['outcome']): void =>
    end({ outcome, ms: clock.monotonic() - startedAtMs, delay: outcome === 'success' ? delayOf(call) : null });
  try {
    const result = run();
    if (result instanceof Promise) return untilEnd(result, call, ended);
    ended('success');
    return result;
  } catch (error) {
    ended('failure');
    throw error;
  }
}

async function untilEnd(
  result: Promise<HandleResult>,
  { context: { signal } }: Call,
  ended: (outcome: HandlerEnded['outcome']) => void,
): Promise<HandleResult> {
  // A handler that ignores its timeout may never end.
  const onAbort = (): void => {
    if (isTimeout(signal.reason)) ended('timeout');
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await result;
    ended('success');
    return answer;
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

/** Replays and snapshots show what was there before: they have no delay. Null also where it is unknown. */
function delayOf({ event, context, clock }: Call): HandlerEnded['delay'] {
  if (event === null) return null;
  const { type, time, data } = event;
  if (context.replay === true || type.endsWith('.snapshot')) return null;
  const [changeMs, detectionMs] = [agoMs(time, clock.now()), agoMs(data.observedAt, clock.now())];
  return changeMs === null || detectionMs === null ? null : { changeMs, detectionMs };
}
