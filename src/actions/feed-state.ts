/** Actions that read the feed as a whole, and who did what with it. */
import { z } from 'zod';
import { AUDIT_OUTCOMES } from '../ops/audit.js';
import { isoTime } from '../kit/clock.js';
import * as answers from '../ops/server/page/answers.js';
import { SAMPLE_MS } from '../ops/server/page/history.js';
import { defineAction, definePageAction } from './define.js';
import { momentOf, short } from './fields.js';

const nothing = z.strictObject({});

export const readSession = definePageAction({
  name: 'session',
  id: 'readSession',
  on: 'feed',
  route: 'GET /api/session',
  about: ['Who asks, and what they may do.', '누가 묻는지, 무엇을 할 수 있는지.'],
  input: nothing,
  answer: answers.session,
  open: true,
  offline: true,
  // The token of a consumer opens no session.
  run: (_input, { caller }) =>
    Promise.resolve({ caller: caller === null || caller.role === 'consume' ? null : { ...caller, role: caller.role } }),
});

export const readAbout = definePageAction({
  name: 'about',
  id: 'readAbout',
  on: 'feed',
  ofWorkspace: true,
  route: 'GET /api/about',
  about: ['The workspaces and their lists.', '워크스페이스와 목록.'],
  input: nothing,
  answer: answers.about,
  offline: true,
  run(_input, { page: { version, queues, source } }) {
    return Promise.resolve({ version, queues, workspaces: source.workspaces() });
  },
});

export const readStatus = definePageAction({
  name: 'status',
  id: 'readStatus',
  on: 'feed',
  ofWorkspace: true,
  route: 'GET /api/status',
  about: ['Problems, lists, budget, subscriptions and processes.', '문제, 목록, 요청 한도, 받는 곳, 프로세스.'],
  input: nothing,
  answer: answers.status,
  async run(_input, { page: { status, source } }) {
    const now = await status();
    const handled = await source.handledLastMinute(now.subscriptions.map(({ name }) => name));
    const subscriptions = now.subscriptions.map((one) => ({ ...one, handledLastMinute: handled.get(one.name) ?? 0 }));
    return { ...now, subscriptions };
  },
});

export const readHistory = definePageAction({
  name: 'history',
  id: 'readHistory',
  on: 'feed',
  ofWorkspace: true,
  route: 'GET /api/history',
  about: [
    'Budget and lag of the last hour, since this process runs.',
    '지난 한 시간의 요청 한도와 지연. 이 프로세스가 켜진 뒤부터.',
  ],
  input: z.strictObject({ since: z.iso.datetime().optional() }),
  answer: answers.history,
  offline: true,
  run({ since }, { page: { history, clock } }) {
    const from = since === undefined ? clock.now() - 3_600_000 : Date.parse(since) + 1;
    return Promise.resolve({ everyMs: SAMPLE_MS, samples: history.since(from) });
  },
});

export const listAudit = defineAction({
  name: 'audit',
  id: 'listAudit',
  on: 'audit',
  route: 'GET /api/audit',
  about: [
    'Who did what, newest first: decisions, refusals and sign-ins.',
    '누가 무엇을 했는지, 최근 것부터: 결정, 거부, 로그인.',
  ],
  input: z.strictObject({
    since: short.describe('a duration such as 7d, or a time (default: all)'),
    what: short.describe('only this action, such as skip'),
    by: short.describe('only this name or role'),
    outcome: z.enum(AUDIT_OUTCOMES).optional().describe('done, refused or failed'),
    subscription: short.describe('only about this subscription'),
    rule: short.describe('only about this rule'),
    limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('at most this many (default: 100)'),
  }),
  answer: answers.auditList,
  cost: 'log',
  run: async ({ since, ...query }, { audit }) => ({
    entries: await audit.read({ ...query, since: since === undefined ? undefined : isoTime(momentOf(since, 'since')) }),
  }),
});
