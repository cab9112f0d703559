/** Whether Slack has sent a request: it signs the body and its time with a secret that the app and Slack know. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** As it came: the headers `x-slack-request-timestamp` and `x-slack-signature`, and the bytes of the body. */
export interface SignedRequest {
  timestamp: string;
  signature: string;
  body: Buffer;
}

/** An older request may be sent again by whoever has seen it. A clock may be behind as much. */
const TOLERANCE_MS = 300_000;

/** The time that it takes says nothing about the signature. */
export function isSignedBySlack({ timestamp, signature, body }: SignedRequest, secret: string, nowMs: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp) * 1_000) > TOLERANCE_MS) return false;
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();
  const [, hex = ''] = /^v0=([0-9a-f]{64})$/i.exec(signature) ?? [];
  const given = Buffer.from(hex, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
