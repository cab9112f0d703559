/** Many events as one HTTP message: the batched mode of the CloudEvents HTTP binding, under an id of its own. */
import { batchId } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Message } from './message.js';

/** The same events in the same order are the same message: a receiver that has it need not look into it. */
export function encodeBatch(events: readonly ChangeEvent[]): Message & { id: string } {
  return {
    id: batchId(events.map(({ id }) => id)),
    headers: { 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(events),
  };
}
