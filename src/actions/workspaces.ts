/** Actions on workspaces that come and go while the service runs. */
import { z } from 'zod';
import { WORKSPACE_STATES } from '../ops/workspaces/book.js';
import { RefusedError } from '../ops/server/page/refused.js';
import type { WorkspaceInput } from '../config/schema.js';
import { defineAction, type Speech } from './define.js';
import type { HostedWorkspace } from './feed.js';

const name = z.string().min(1).max(64).describe('its name: letters, digits, "-", "_" and "."');
const iso = z.string().describe('ISO 8601, UTC');

const hosted = z.strictObject({
  name: z.string(),
  baseUrl: z.string().nullable().describe('null: what is stored of it cannot be read'),
  from: z.enum(['configuration', 'run time']),
  state: z
    .enum(WORKSPACE_STATES)
    .describe('only an active one is polled; a removed one can be put back until `eraseAt`'),
  since: iso.nullable().describe('since when it is in this state; null: it is in the configuration'),
  eraseAt: iso.nullable().describe('when everything of it is erased; null: it stays'),
  problem: z.string().nullable().describe('why it does not run as it was put; null where it does'),
});

/** What a workspace of the configuration may have; checked where it is taken over. */
const options = {
  baseUrl: z.string().max(2_000).describe('what stands before /v2 in the addresses of its API'),
  token: z.string().max(10_000).optional().describe('the API token (default: the one that it has had)'),
  data: z.looseObject({}).optional().describe('what handlers, conditions and addresses find as workspace.data'),
  budget: z.looseObject({}).optional(),
  timeZone: z.string().max(100).optional(),
  language: z.string().max(10).optional(),
  links: z.looseObject({}).optional(),
  history: z.unknown().optional(),
  todos: z.looseObject({}).optional(),
  lists: z.looseObject({}).optional(),
};

const facts = ({ name: workspace, state }: { name: string; state: string }) => ({ workspace, state });

/** Never the options: the token is one of them. */
export const putWorkspace = defineAction({
  name: 'workspaces put',
  id: 'putWorkspace',
  on: 'workspaces',
  route: 'PUT /api/workspaces/:name',
  about: [
    'Adds a workspace, or replaces its options. One that was removed goes on where it was.',
    '워크스페이스를 추가하거나 옵션을 바꿉니다. 삭제했던 것은 멈춘 곳에서 이어집니다.',
  ],
  input: z.strictObject({ name, ...options }),
  answer: hosted.extend({ did: z.enum(['created', 'changed', 'put back']) }),
  audited: ({ did, ...of }) => ({ ...facts(of), did }),
  run: ({ name: of, ...given }, { feed }) => feed.workspaces.put(of, given as WorkspaceInput),
});

export const rotateWorkspace = defineAction({
  name: 'workspaces rotate',
  id: 'rotateWorkspaceToken',
  on: 'workspaces',
  route: 'POST /api/workspaces/:name/rotate',
  about: ['Gives a workspace another token.', '워크스페이스의 토큰을 바꿉니다.'],
  input: z.strictObject({ name, token: z.string().min(1).max(10_000).describe('the new token, without "Bearer"') }),
  answer: hosted,
  audited: facts,
  run: ({ name: of, token }, { feed }) => feed.workspaces.rotate(of, token),
});

export const pauseWorkspace = defineAction({
  name: 'workspaces pause',
  id: 'pauseWorkspace',
  on: 'workspaces',
  route: 'POST /api/workspaces/:name/pause',
  about: [
    'Stops polling a workspace. What was found is delivered.',
    '워크스페이스 조회를 멈춥니다. 이미 찾은 것은 전달합니다.',
  ],
  input: z.strictObject({ name }),
  answer: hosted,
  audited: facts,
  run: ({ name: of }, { feed }) => feed.workspaces.pause(of),
  says: (found, words) => sentenceOf(found, words),
});

export const resumeWorkspace = defineAction({
  name: 'workspaces resume',
  id: 'resumeWorkspace',
  on: 'workspaces',
  route: 'POST /api/workspaces/:name/resume',
  about: ['Polls a paused workspace again.', '멈춘 워크스페이스를 다시 조회합니다.'],
  input: z.strictObject({ name }),
  answer: hosted,
  audited: facts,
  run: ({ name: of }, { feed }) => feed.workspaces.resume(of),
  says: (found, words) => sentenceOf(found, words),
});

export const removeWorkspace = defineAction({
  name: 'workspaces remove',
  id: 'removeWorkspace',
  on: 'workspaces',
  route: 'POST /api/workspaces/:name/remove',
  about: [
    'Stops polling a workspace and delivers what is under way; after seven days everything of it is erased.',
    '워크스페이스 조회를 멈추고 남은 것을 전달합니다. 7일 뒤에 모두 지웁니다.',
  ],
  input: z.strictObject({
    name,
    now: z.boolean().default(false).describe('erase everything of it now; this cannot be undone'),
    dryRun: z.boolean().default(false).describe('only say what would be done'),
  }),
  answer: hosted.extend({
    keys: z.number().int().nullable().describe('keys of Redis that were erased; null: not yet'),
  }),
  audited: ({ keys, ...of }) => ({ ...facts(of), ...(keys !== null && { count: keys }) }),
  async run({ name: of, now, dryRun }, { feed }) {
    if (!dryRun) return await feed.workspaces.remove(of, { now });
    const found = (await feed.workspaces.list()).find((one) => one.name === of && one.from === 'run time');
    if (found === undefined) throw new RefusedError(404, `No workspace "${of}" came at run time.`);
    return { ...found, keys: null };
  },
  confirm: (_found, { t }, { name: of, now }) => (now ? t('workspaces.confirm', { name: of }) : null),
  says: ({ keys, ...found }, words) =>
    keys === null
      ? sentenceOf(found, words)
      : words.t('workspaces.erased', { name: found.name, count: words.number(keys) }),
});

export const listWorkspaces = defineAction({
  name: 'workspaces list',
  id: 'listWorkspaces',
  on: 'workspaces',
  route: 'GET /api/workspaces',
  about: [
    'All workspaces: those of the configuration, and those that came at run time.',
    '모든 워크스페이스: 설정에 있는 것과 실행 중에 추가한 것.',
  ],
  input: z.strictObject({}),
  answer: z.strictObject({ workspaces: z.array(hosted).describe('by name') }),
  run: async (_input, { feed }) => ({ workspaces: await feed.workspaces.list() }),
  says: ({ workspaces }, words) =>
    workspaces.length === 0 ? words.t('workspaces.none') : workspaces.map((one) => sentenceOf(one, words)).join('\n'),
});

export function sentenceOf(
  { name: of, state, from, eraseAt, problem }: HostedWorkspace,
  { t, dateTime }: Speech,
): string {
  const key = from === 'configuration' ? 'workspaces.of configuration' : (`workspaces.${state}` as const);
  const said = t(key, { name: of, until: eraseAt === null ? '' : dateTime(eraseAt) });
  return problem === null ? said : `${said}\n  ${problem}`;
}
