/** Actions on dead letters. */
import { z } from 'zod';
import * as answers from '../ops/server/page/answers.js';
import { defineAction, definePageAction } from './define.js';
import type { Changefeed } from './feed.js';
import { deadLetterSheet } from './sheets.js';
import { dryRun, eventTypes } from './fields.js';

const MOST = 200;
const reason = z.string().min(1).max(4_000).optional().describe('only those whose failure contains this text');

export const listDeadLetters = definePageAction({
  name: 'dead list',
  id: 'listDeadLetters',
  on: 'dead letters',
  route: 'GET /api/dead-letters',
  about: ['Events that could not be handled, newest first.', '처리하지 못한 이벤트. 최근 것부터.'],
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
  sheet: async (query, { feed }) => deadLetterSheet(await feed.deadLetters.list({ ...query, limit: Infinity })),
});

// An empty request must not drop all dead letters: that cannot be undone.
const chosen = z
  .strictObject({
    ids: z.array(z.string()).min(1).max(MOST).optional().describe('ids of events'),
    subscription: z.string().optional().describe('only those of this subscription'),
    types: eventTypes,
    reason,
    all: z.literal(true).optional().describe('needed when nothing else is given'),
    dryRun,
  })
  .refine(
    ({ dryRun: _, ...given }) => Object.values(given).some((one) => one !== undefined),
    'give ids of events, subscription, types, reason or all',
  );

type Chosen = z.output<typeof chosen>;

async function countOf({ dryRun: _, ...filter }: Chosen, { deadLetters }: Changefeed): Promise<{ count: number }> {
  return { count: (await deadLetters.list({ ...filter, limit: Infinity })).length };
}

/** Not all that were named. */
const failed = ({ count }: { count: number }, { ids }: Chosen) => count < (ids?.length ?? 0);

/** The ids are those of events. */
const audited = ({ count }: { count: number }, { subscription, ids, all }: Chosen) => ({
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
  about: ['Hands dead letters to their handler again.', '전달 실패를 핸들러에 다시 보냅니다.'],
  input: chosen,
  answer: answers.done,
  audited,
  run: async ({ dryRun: isAsked, ...filter }, { feed }) =>
    isAsked === true ? await countOf(filter, feed) : { count: await feed.deadLetters.retry(filter) },
  says: ({ count }, { t }, input) => t(input.dryRun === true ? 'deadRetry.dryRun' : 'deadRetry.done', { count }),
  failed,
});

export const dropDeadLetters = defineAction({
  name: 'dead drop',
  id: 'dropDeadLetters',
  on: 'dead letters',
  route: 'POST /api/dead-letters/drop',
  about: ['Deletes dead letters.', '전달 실패를 지웁니다.'],
  input: chosen,
  answer: answers.done,
  audited,
  run: async ({ dryRun: isAsked, ...filter }, { feed }) =>
    isAsked === true ? await countOf(filter, feed) : { count: await feed.deadLetters.drop(filter) },
  // Those that are named one by one need no question.
  confirm: ({ count }, { t }, { ids }) => (count === 0 || ids !== undefined ? null : t('deadDrop.confirm', { count })),
  says: ({ count }, { t }) => t('deadDrop.done', { count }),
  failed,
});
