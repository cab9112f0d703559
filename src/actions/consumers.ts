/** What a consumer asks: its next events, and that it has them. */
import { z } from 'zod';
import * as answers from '../ops/server/page/answers.js';
import { RefusedError } from '../ops/server/page/refused.js';
import { duration } from '../kit/schema/fields.js';
import { definePageAction, type ActingOnPage } from './define.js';

const consumer = z.string().describe("the name of a subscription with handler: 'pull'");
const cursor = z.string().min(1).max(200);

const pulledBatch = z.strictObject({
  events: z
    .array(answers.changeEvent)
    .describe('in the order of the log; of several workspaces by when they were logged'),
  cursor: z.string().nullable().describe('acknowledges exactly these events; null without any'),
  more: z.boolean().describe('more are there already'),
  paused: z.string().nullable().describe('why nothing is handed out; null: it is not paused'),
});

export const nextEvents = definePageAction({
  name: 'consumer next',
  id: 'nextEvents',
  on: 'subscriptions',
  route: 'GET /api/consumers/:consumer/next',
  about: [
    'The next events of a consumer, in the order of the log. They come again if they are not acknowledged in time.',
    '가져가는 곳의 다음 이벤트를 로그 순서대로. 제때 확인하지 않으면 다시 나옵니다.',
  ],
  input: z.strictObject({
    consumer,
    max: z.coerce.number().int().min(1).max(1_000).default(100).describe('at most this many (default: 100)'),
    wait: duration({ from: '0s', to: '60s' })
      .prefault('20s')
      .describe('how long to wait for the first one (default: 20s; at most 60s)'),
    ack: cursor.optional().describe('acknowledges the `cursor` of the answer before'),
  }),
  answer: pulledBatch,
  consumes: true,
  async run({ consumer: name, max, wait: waitMs, ack: acknowledge }, acting) {
    return await consumersOf(name, acting).next(name, { max, waitMs, acknowledge, signal: acting.gone });
  },
});

export const acknowledge = definePageAction({
  name: 'consumer acknowledge',
  id: 'acknowledgeEvents',
  on: 'subscriptions',
  route: 'POST /api/consumers/:consumer/acknowledge',
  about: ['A consumer has the events of an answer.', '가져가는 곳이 응답의 이벤트를 처리했음을 확인합니다.'],
  input: z.strictObject({ consumer, cursor: cursor.describe('`cursor` of the answer') }),
  answer: answers.done,
  consumes: true,
  // Receipts say it.
  audited: () => null,
  run: ({ consumer: name, cursor: of }, acting) => consumersOf(name, acting).acknowledge(name, of),
});

function consumersOf(name: string, { feed, page }: ActingOnPage) {
  if (page.source.consumers().includes(name)) return feed.consumers;
  throw new RefusedError(404, `There is no consumer "${name}": no subscription of this name has handler: 'pull'.`);
}
