/** Several events as one HTTP message with its own id: the batched mode of the CloudEvents HTTP binding. */
import { batchId } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Message } from './message.js';

/** The same events in the same order get the same message id, so a receiver can skip a message it has already received. */
export function encodeBatch(events: readonly ChangeEvent[]): Message & { id: string } {
  return {
    id: batchId(events.map(({ id }) => id)),
    headers: { 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(events),
  };
}
