/** Standard Webhooks: secrets, and the three headers by which a receiver verifies the sender and time of an event. */
import { Webhook } from 'standardwebhooks';

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

export interface Signable {
  id: string;
  body: string;
  /** Time of this attempt, ms since the epoch: receivers reject messages that are more than minutes old. */
  now: number;
}

export type Sign = (message: Signable) => Record<string, string>;

/** One signature per secret, so that a receiver can rotate secrets without losing an event. */
export function createSigner(secrets: readonly string[]): Sign {
  const signers = secrets.map((secret) => new Webhook(secret));
  return ({ id, body, now }) => {
    const at = new Date(now);
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now / 1_000)),
      'webhook-signature': signers.map((signer) => signer.sign(id, at, body)).join(' '),
    };
  };
}
