/**
 * The spans of deliveries, by the conventions of OpenTelemetry for messages. The span of an attempt is a child of the span that put its event
 * into the log, so that one trace leads from the request to the handler. A batch has events of many traces: it links to them. So does what is
 * sent again, and a snapshot: they happen at another time, for another reason.
 */
import { listOf } from '../events/envelope.js';
import type { Subscription } from '../handlers/handler.js';
import type { SpanOptions } from '../runtime/tracing.js';
import type { Interrupt } from './attempt.js';
import { idsOf, replayOf } from './deliveries.js';
import type { Delivery } from './ports.js';

interface Attempted {
  subscription: Subscription;
  delivery: Delivery;
  attempt: number;
  interrupt: Interrupt;
}

export function attemptSpan({ subscription, delivery, attempt, interrupt }: Attempted): SpanOptions {
  const { id, workspace, event, traceparent = null } = delivery;
  const isApart = replayOf(id) !== undefined || event.type.endsWith('.snapshot');
  const span = processSpan(subscription);
  return {
    ...span,
    ...(isApart ? { parent: null, links: [traceparent ?? undefined] } : { parent: traceparent }),
    interrupted: () => isInterrupted(interrupt),
    attributes: {
      ...span.attributes,
      'messaging.message.id': event.id,
      'cloudevents.event_type': event.type,
      'changefeed.workspace': workspace,
      'changefeed.list': listOf(event, subscription.catalogue),
      'changefeed.delivery.id': idsOf(delivery).deliveryId,
      'changefeed.attempt': attempt,
    },
  };
}

/** Such an attempt does not count as failed. */
export function isInterrupted({ cause }: Interrupt): boolean {
  return cause === 'stopping' || cause === 'lost';
}

export function batchSpan(deliveries: readonly Delivery[], subscription: Subscription): SpanOptions {
  const span = processSpan(subscription);
  return {
    ...span,
    parent: null,
    links: [...new Set(deliveries.map(({ traceparent }) => traceparent))],
    attributes: { ...span.attributes, 'messaging.batch.message_count': deliveries.length },
  };
}

function processSpan({ name, handler }: Subscription): SpanOptions {
  return {
    name: `process ${name}`,
    kind: 'consumer',
    attributes: {
      'messaging.system': 'changefeed',
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': name,
      'changefeed.subscription': name,
      'changefeed.handler': handler,
    },
  };
}
