/** What can be asked and done about dead letters. */
import { z } from 'zod';
import * as answers from '../ops/server/page/answers.js';
import { defineAction, definePageAction } from './define.js';

const MOST = 200;
const reason = z.string().min(1).max(4_000).optional().describe('part of the message of the last failure');

export const listDeadLetters = definePageAction({
  name: 'dead list',
  id: 'listDeadLetters',
  on: 'dead letters',
  route: 'GET /api/dead-letters',
  says: ['Events that could not be handled, newest first.', '처리하지 못한 이벤트. 최근 것부터.'],
  input: z.strictObject({
    subscription: z.string().optional(),
    reason,
    limit: z.coerce.number().int().min(1).max(MOST).default(50),
  }),
  answer: answers.deadLetters,
  cost: 'records',
  async run(query, { feed, page: { views } }) {
    const found = await feed.deadLetters.list(query);
    const deadLetters = found.map(async ({ event, ...letter }) => {
      return { ...letter, event: await views({ logId: letter.logId, event }) };
    });
    return { deadLetters: await Promise.all(deadLetters) };
  },
});

// An empty request must not drop all dead letters: that cannot be undone.
const chosen = z
  .strictObject({
    subscription: z.string().optional().describe('left out: all subscriptions'),
    ids: z.array(z.string()).min(1).max(MOST).optional(),
    reason,
    all: z.literal(true).optional().describe('needed when nothing else is given'),
  })
  .refine((given) => Object.values(given).some((one) => one !== undefined), 'give subscription, ids, reason or all');

/** The ids are those of events. */
const audited = ({ count }: { count: number }, { subscription, ids, all }: z.output<typeof chosen>) => ({
  count,
  ...(subscription !== undefined && { subscription }),
  ...(ids !== undefined && { ids: ids.length }),
  ...(all !== undefined && { all }),
});

export const retryDeadLetters = defineAction({
  name: 'dead retry',
  id: 'retryDeadLetters',
  on: 'dead letters',
  route: 'POST /api/dead-letters/retry',
  says: ['Hands dead letters to their handler again.', '데드 레터를 핸들러에 다시 보냅니다.'],
  input: chosen,
  answer: answers.done,
  audited,
  run: async (filter, { feed }) => ({ count: await feed.deadLetters.retry(filter) }),
});

export const dropDeadLetters = defineAction({
  name: 'dead drop',
  id: 'dropDeadLetters',
  on: 'dead letters',
  route: 'POST /api/dead-letters/drop',
  says: ['Deletes dead letters.', '데드 레터를 지웁니다.'],
  input: chosen,
  answer: answers.done,
  audited,
  run: async (filter, { feed }) => ({ count: await feed.deadLetters.drop(filter) }),
});
