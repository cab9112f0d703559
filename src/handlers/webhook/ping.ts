/** Sends one signed test event in the same way as any other: for `changefeed webhook test`. */
import { randomUUID } from 'node:crypto';
import { isoTime } from '../../runtime/clock.js';
import type { Pinged } from '../handler.js';
import { encodeEvent, type Sendable, type Sign } from './message.js';
import type { Post } from '../http/post.js';

/** Outside of `crm.`, so that no CRM event can be mistaken for a test, and `crm.*` does not select tests. */
export const TEST_TYPE = 'changefeed.test';

export interface PingOptions {
  subscription: string;
  place: string;
  sign: Sign;
  post: Post;
  signal: AbortSignal;
}

export async function ping({ subscription, place, sign, post, signal }: PingOptions): Promise<Pinged> {
  // A new id each time: a receiver would skip an id it has already received.
  const id = `test_${randomUUID()}`;
  let signature = '';
  const probed = await post.probe((now) => {
    const message = sign(encodeEvent(testEvent(id, { subscription, now })), now);
    signature = message.headers['webhook-signature'] ?? '';
    return message;
  }, signal);
  const signatures = signature.split(' ').map((text, index) => ({ secret: index + 1, signature: text }));
  return { subscription, place, id, type: TEST_TYPE, signatures, ...probed };
}

function testEvent(id: string, { subscription, now }: { subscription: string; now: number }): Sendable {
  return {
    specversion: '1.0',
    id,
    source: '/changefeed',
    type: TEST_TYPE,
    subject: subscription,
    time: isoTime(now),
    datacontenttype: 'application/json',
    data: {
      test: true,
      message: 'A test event sent with "changefeed webhook test". Nothing has changed in the CRM.',
    },
  };
}
