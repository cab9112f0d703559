/** Events as signed HTTP messages: CloudEvents in structured mode, alone or as a batch, signed as Standard Webhooks specifies. */
import { Webhook } from 'standardwebhooks';
import { batchId } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';

export interface Message {
  headers: Record<string, string>;
  body: string;
}

/** A message before it is signed. */
export interface Unsigned extends Message {
  id: string;
}

/** A CloudEvent with any type and data. */
export type Sendable = Omit<ChangeEvent, 'type' | 'data'> & { type: string; data: object };

export function encodeEvent(event: Sendable): Unsigned {
  return { id: event.id, headers: { 'content-type': 'application/cloudevents+json' }, body: JSON.stringify(event) };
}

/** The same events in the same order get the same message id, so a receiver can skip a message it has already received. */
export function encodeBatch(events: readonly ChangeEvent[]): Unsigned {
  return {
    id: batchId(events.map(({ id }) => id)),
    headers: { 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(events),
  };
}

/** @param now time of this attempt, ms since the epoch: receivers reject messages that are more than minutes old */
export type Sign = (message: Unsigned, now: number) => Message;

/** One signature per secret, so that a receiver can rotate secrets without losing an event. */
export function createSigner(secrets: readonly string[]): Sign {
  const signers = secrets.map((secret) => new Webhook(secret));
  return ({ id, headers, body }, now) => {
    const at = new Date(now);
    const signed = {
      ...headers,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now / 1_000)),
      'webhook-signature': signers.map((signer) => signer.sign(id, at, body)).join(' '),
    };
    return { headers: signed, body };
  };
}

const PREFIX = 'whsec_';
// The specification's limits, in bytes.
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

export const A_SECRET = `${PREFIX} followed by ${LEAST_BYTES} to ${MOST_BYTES} random bytes in base64, or an array of up to 10 of these (node -p "'${PREFIX}' + crypto.randomBytes(32).toString('base64')" makes one)`;

export function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const encoded = text.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  // Node ignores invalid base64. A typing error must not become another key.
  return bytes.toString('base64') === encoded && bytes.length >= LEAST_BYTES && bytes.length <= MOST_BYTES;
}
