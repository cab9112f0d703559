/** Events as HTTP messages: the three modes of the CloudEvents HTTP binding. */
import { batchId } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';

export interface Message {
  headers: Record<string, string>;
  body: string;
}

/** `structured`: the whole event is the body. `binary`: `data` is the body, the rest stands in `ce-` headers. */
export type Mode = 'structured' | 'binary';

/** A CloudEvent with any type and data. */
export type Sendable = Omit<ChangeEvent, 'type' | 'data'> & { type: string; data: object };

export function encodeMessage(event: Sendable, mode: Mode): Message {
  return mode === 'structured' ? structured(event) : binary(event);
}

function structured(event: Sendable): Message {
  return { headers: { 'content-type': 'application/cloudevents+json' }, body: JSON.stringify(event) };
}

function binary({ data, datacontenttype, ...attributes }: Sendable): Message {
  const headers = Object.entries(attributes).map(([name, value]): [string, string] => [
    `ce-${name}`,
    encodeValue(value),
  ]);
  return { headers: { ...Object.fromEntries(headers), 'content-type': datacontenttype }, body: JSON.stringify(data) };
}

/** Section 3.1.3.2 of the binding: space, quote, percent and everything that is not printable ASCII is percent-encoded as UTF-8. */
function encodeValue(value: string): string {
  return value.replace(/[^\x21\x23\x24\x26-\x7e]/gu, percentEncode);
}

function percentEncode(character: string): string {
  return [...Buffer.from(character, 'utf8')]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

/** The same events in the same order get the same message id, so a receiver can skip a message it has already received. */
export function encodeBatch(events: readonly ChangeEvent[]): Message & { id: string } {
  return {
    id: batchId(events.map(({ id }) => id)),
    headers: { 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(events),
  };
}
