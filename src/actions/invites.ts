/** Actions on who may sign in to the status page. */
import { z } from 'zod';
import * as answers from '../ops/server/page/answers.js';
import { defineAction } from './define.js';

const name = z.string().trim().min(1).max(80).describe('what they are called: it is unique, and stands in the audit');

const iso = z.string().describe('ISO 8601, UTC');

const invited = z.strictObject({
  name: z.string(),
  role: z.enum(['read', 'operate']),
  since: iso,
  until: iso.describe('it opens nothing any more from then on'),
  workspace: z.string().optional().describe('they see this workspace and nothing else; absent: all'),
});

export const invite = defineAction({
  name: 'invite',
  id: 'invitePerson',
  on: 'audit',
  route: 'POST /api/invites',
  about: [
    'Lets a person sign in to the status page with a token of their own. The link is shown once.',
    '한 사람이 자기 토큰으로 상태 페이지에 로그인하게 합니다. 링크는 한 번만 보입니다.',
  ],
  input: z.strictObject({
    name,
    role: z
      .enum(['read', 'operate'])
      .default('read')
      .describe('read: sees everything; operate: may act too (default: read)'),
    workspace: z.string().min(1).max(64).optional().describe('they see this workspace and nothing else (default: all)'),
    expires: z.string().max(20).default('90d').describe('after this duration it ends (default: 90d)'),
  }),
  answer: invited.extend({
    token: z.string().describe('it cannot be shown again: only a digest of it is stored'),
    link: z.string().describe('signs in'),
    reach: z
      .enum(['public', 'address', 'this machine'])
      .describe('the link goes to `http.publicUrl`, to the address of the page, or can be opened on this machine only'),
  }),
  // Never the token.
  audited: ({ name: person, role, until, workspace }) => ({ person, role, until, ...(workspace && { workspace }) }),
  run: (call, { feed }) => feed.invites.add(call),
  says({ name: person, link, until, reach }, { t, dateTime }) {
    const done = t('invite.done', { name: person, link, until: dateTime(until) });
    return reach === 'public' ? done : `${done}\n${t(`invite.${reach === 'address' ? 'address' : 'machine'}`)}`;
  },
});

export const listInvites = defineAction({
  name: 'invite list',
  id: 'listInvites',
  on: 'audit',
  route: 'GET /api/invites',
  about: ['Who is invited to the status page, until when.', '상태 페이지에 초대된 사람과 기한.'],
  input: z.strictObject({}),
  answer: z.strictObject({ invites: z.array(invited).describe('by name, those whose time is over included') }),
  // Only operators ask.
  reads: false,
  audited: () => null,
  run: async (_input, { feed }) => ({ invites: await feed.invites.list() }),
  says: ({ invites }, { t, dateTime }) =>
    invites.length === 0
      ? t('invite.none')
      : invites
          .map((one) =>
            [one.name, one.role, one.workspace ?? '', t('invite.until', { until: dateTime(one.until) })]
              .filter(Boolean)
              .join('  '),
          )
          .join('\n'),
});

export const revokeInvite = defineAction({
  name: 'invite revoke',
  id: 'revokeInvite',
  on: 'audit',
  route: 'POST /api/invites/revoke',
  about: ['Ends the token of a person and their sessions.', '한 사람의 토큰과 로그인을 끝냅니다.'],
  input: z.strictObject({ name }),
  answer: answers.done,
  audited: ({ count }, input) => (count === 0 ? null : { person: input.name }),
  run: async (input, { feed }) => ({ count: Number(await feed.invites.revoke(input.name)) }),
  says: ({ count }, { t }, input) => t(count === 0 ? 'invite.unknown' : 'invite.revoked', { name: input.name }),
  failed: ({ count }) => count === 0,
});
