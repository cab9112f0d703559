/** Actions on lists and their records. */
import { z } from 'zod';
import { HELD_KINDS } from '../feed/detect/held.js';
import { isoTime, systemClock } from '../kit/clock.js';
import { parseDuration } from '../kit/duration.js';
import { printable } from '../kit/printable.js';
import { TODO_STATES, todoRows, todosReport } from '../crm/todo-counts.js';
import * as answers from '../ops/server/page/answers.js';
import { found, schema, snoozed, story } from '../ops/server/page/record-answers.js';
import { RefusedError } from '../ops/server/page/refused.js';
import { readableTexts } from '../ops/server/page/event-view.js';
import { defineAction, definePageAction, type Acting } from './define.js';
import type { FindQuery } from './inspector.js';
import { recordSheet, todoRowSheet, todoSheet } from './sheets.js';
import { dryRun, list, ofList, short, workspace, workspaceOf } from './fields.js';

export const readTodos = definePageAction({
  name: 'todos',
  id: 'readTodos',
  on: 'lists',
  ofWorkspace: true,
  route: 'GET /api/todos',
  about: [
    'Open, due, overdue and completed todos: in total, by person in charge, by team, and by day.',
    '미완료, 기한, 지연, 완료된 할 일: 전체, 담당자별, 팀별, 날짜별.',
  ],
  input: z.strictObject({
    since: z.string().max(40).default('30d').describe('a duration or a time; its minute counts'),
  }),
  answer: todosReport,
  run: ({ since }, { page }) => page.todos(since),
  sheet: async ({ since }, { page }) => todoSheet(await page.todos(since)),
});

export const listTodos = definePageAction({
  name: 'todo rows',
  id: 'listTodos',
  on: 'lists',
  ofWorkspace: true,
  route: 'GET /api/todos/rows',
  about: ['The todos behind one of these numbers, in an order.', '이 숫자 하나에 들어 있는 할 일, 순서대로.'],
  input: z.strictObject({
    show: z.enum(TODO_STATES).default('open').describe('open, dueToday, overdue or completed'),
    since: z.string().max(40).default('30d').describe('of `completed`: a duration or a time'),
    workspace,
    owner: short.describe('the id or name of the person in charge; `none`: nobody'),
    team: short.describe('the id or name of a team; `none`: no team'),
    sort: short.describe('due, title, owner or completed, with `-` the last first (default: due)'),
    limit: z.coerce.number().int().min(1).max(200).default(50).describe('at most so many (default: 50)'),
    from: short.describe('`next` of the answer before'),
  }),
  answer: todoRows,
  cost: 'records',
  run: async (call, { feed }) => readableTexts(await feed.listTodos(call)),
  sheet: (call, { feed }) => todoRowSheet((from) => feed.listTodos({ ...call, from, limit: 200 })),
});

/** In no order: a list is read as it comes. */
async function recordsSheet({ workspace, list: name, at, fields, where, names }: SheetCall, { feed }: Acting) {
  const seen = fields ?? (await feed.lists.schema(name, workspace)).fields.map(({ field }) => field);
  const found = feed.recordsAsOf(name, at ?? isoTime(systemClock.now()), { workspace, where, names });
  return recordSheet(seen, found);
}

type SheetCall = FindQuery & { workspace: string; list: string };

export const readSchema = defineAction({
  name: 'schema',
  id: 'readSchema',
  on: 'lists',
  ofWorkspace: true,
  route: 'GET /api/lists/:workspace/:list/schema',
  about: ['The fields seen in a list, and their types of values.', '목록에서 본 필드와 그 값의 종류.'],
  input: z.strictObject(ofList),
  answer: schema,
  run: async ({ workspace, list: name }, { feed }) => readableTexts(await feed.lists.schema(name, workspace)),
});

const whichRecords = {
  ...ofList,
  where: z
    .looseObject({})
    .optional()
    .describe('conditions on fields, all must hold, such as {"금액":{"gte":1000000},"단계":["제안","협상"]}'),
  names: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(200)
    .optional()
    .describe('only records whose name contains one of these'),
  fields: z.array(z.string().max(200)).min(1).max(200).optional().describe('only these fields (default: all)'),
  sort: z.string().min(1).max(200).optional().describe('a field; with "-" before it, the highest first'),
  limit: z.coerce.number().int().min(1).max(200).default(20).describe('at most so many (default: 20)'),
  from: short.describe('`next` of the answer before'),
};

/** Its conditions would make an address too long, and may quote a record. */
export const findRecords = defineAction({
  name: 'find',
  id: 'findRecords',
  on: 'lists',
  ofWorkspace: true,
  route: 'POST /api/lists/:workspace/:list/find',
  about: [
    'The records of a list as they are now, by conditions on fields and by names, in the order of a field.',
    '목록의 현재 레코드. 필드 조건과 이름으로 찾고, 필드 순서로 정렬합니다.',
  ],
  input: z.strictObject(whichRecords),
  answer: found,
  reads: true,
  cost: 'records',
  run: async ({ workspace, list: name, ...query }, { feed }) =>
    readableTexts(await feed.lists.find(name, query, workspace)),
  sheet: recordsSheet,
});

export const findRecordsAsOf = defineAction({
  name: 'as of',
  id: 'findRecordsAsOf',
  on: 'lists',
  ofWorkspace: true,
  route: 'POST /api/lists/:workspace/:list/as-of',
  about: [
    'The records of a list as they were at a time, by conditions on fields and by names, in the order of a field.',
    '목록의 그때 레코드. 필드 조건과 이름으로 찾고, 필드 순서로 정렬합니다.',
  ],
  input: z.strictObject({
    ...whichRecords,
    at: z.string().min(1).max(40).describe('a time such as 2026-09-30T18:00+09:00; without a zone, of the workspace'),
  }),
  answer: found,
  reads: true,
  cost: 'records',
  run: async ({ workspace, list: name, ...query }, { feed }) =>
    readableTexts(await feed.lists.find(name, query, workspace)),
  sheet: recordsSheet,
});

/** The id is in the body: what is in the address is logged. */
export const explainRecord = defineAction({
  name: 'explain',
  id: 'explainRecord',
  on: 'lists',
  ofWorkspace: true,
  route: 'POST /api/lists/:workspace/:list/explain',
  about: ['Why a record did or did not yield events.', '레코드가 왜 이벤트를 만들었는지, 또는 만들지 않았는지.'],
  input: z.strictObject({ ...ofList, id: z.string().min(1).max(2_000).describe('its id') }),
  answer: story,
  reads: true,
  run: async ({ workspace, list: name, id }, { feed }) => readableTexts(await feed.lists.explain(name, id, workspace)),
});

export const listHeld = defineAction({
  name: 'held',
  id: 'listHeld',
  on: 'lists',
  ofWorkspace: true,
  route: 'GET /api/held',
  about: ['What waits until a person accepts or discards it.', '사람이 승인하거나 버릴 때까지 보류된 것.'],
  input: z.strictObject({ workspace }),
  answer: answers.heldRecords,
  cost: 'records',
  run: async (input, { feed }) => ({ held: await feed.lists.allHeld(input.workspace) }),
});

const ofKind = z
  .enum(HELD_KINDS)
  .optional()
  .describe('only new records (creations), or only missing ones (removals) (default: both)');

const total = (held: readonly { count: number }[]) => ({ count: held.reduce((sum, one) => sum + one.count, 0) });

export const accept = defineAction({
  name: 'accept',
  id: 'acceptHeld',
  on: 'lists',
  route: 'POST /api/lists/:workspace/:list/accept',
  about: [
    'Lets through what a list holds: the next complete sweep reports it.',
    '목록이 보류한 것을 통과시킵니다. 다음 수집이 알립니다.',
  ],
  input: z.strictObject({ ...ofList, what: ofKind }),
  answer: answers.done,
  run: async ({ workspace, list: name, what }, { feed }) => total(await feed.lists.accept(name, workspace, what)),
  says: ({ count }, { t }, { list: name }) => t(count === 0 ? 'held.none' : 'accept.done', { list: name, count }),
});

export const discard = defineAction({
  name: 'discard',
  id: 'discardHeld',
  on: 'lists',
  route: 'POST /api/lists/:workspace/:list/discard',
  about: ['Forgets what a list holds: it is not reported.', '목록이 보류한 것을 알리지 않고 넘깁니다.'],
  input: z.strictObject({ ...ofList, what: ofKind, dryRun }),
  answer: answers.done,
  async run({ workspace, list: name, what, dryRun: isAsked }, { feed: { lists } }) {
    if (isAsked !== true) return total(await lists.discard(name, workspace, what));
    return total((await lists.held(name, workspace)).filter((one) => what === undefined || one.what === what));
  },
  confirm: ({ count }, { t }, { list: name }) => (count === 0 ? null : t('discard.confirm', { list: name, count })),
  says: ({ count }, { t }, { list: name }) => t(count === 0 ? 'held.none' : 'discard.done', { list: name, count }),
});

/** The id is in the body: what is in the address is logged. */
export const snooze = defineAction({
  name: 'snooze',
  id: 'snoozeRecord',
  on: 'lists',
  route: 'POST /api/lists/:workspace/:list/snooze',
  about: [
    'Says nothing of a record that is unchanged until a moment, and then once more if it still is.',
    '변경이 없는 레코드를 그때까지 알리지 않고, 그때도 그대로면 한 번 더 알립니다.',
  ],
  input: z.strictObject({
    ...ofList,
    id: z.string().min(1).max(2_000).describe('its id'),
    until: z
      .string()
      .min(1)
      .max(40)
      .describe('a duration from now such as 3d, or a time; without a zone, of the workspace'),
  }),
  answer: snoozed,
  audited: ({ until, subscriptions }, { workspace, list: name }) => ({
    ...{ workspace, list: name, until, subscriptions: subscriptions.join(', ') },
  }),
  run: ({ workspace, list: name, id, until }, { feed }) => {
    const ms = parseDuration(until);
    return feed.lists.snooze(name, id, ms === undefined ? until : isoTime(systemClock.now() + ms), workspace);
  },
  says: ({ title, until, subscriptions }, { t, dateTime }, { id }) =>
    t('snooze.done', {
      record: printable(title ?? id),
      until: dateTime(until),
      subscriptions: subscriptions.join(', '),
    }),
});

export const resync = defineAction({
  name: 'resync',
  id: 'resyncLists',
  on: 'lists',
  route: 'POST /api/workspaces/:workspace/resync',
  about: [
    'Drops the baseline of lists: their next sweep makes no events.',
    '목록의 기준을 버립니다. 다음 수집은 이벤트를 만들지 않습니다.',
  ],
  input: z.strictObject({
    workspace: workspaceOf,
    lists: z.array(z.string()).min(1).max(100).describe('the lists, or "all"'),
    dryRun,
  }),
  answer: answers.resynced,
  audited: ({ count, lists }, { workspace }) => ({ workspace, list: lists.join(', '), count }),
  async run({ workspace, lists: given, dryRun: isAsked }, { feed }) {
    const lists = given.includes('all') ? feed.lists.names(workspace) : given;
    if (isAsked !== true) for (const name of lists) await feed.lists.resync(name, workspace);
    return { count: lists.length, lists };
  },
  confirm: ({ lists }, { t }) => t('resync.confirm', { lists: lists.join(', ') }),
  says: ({ lists }, { t }) => t('resync.done', { lists: lists.join(', ') }),
});

/** The id is in the body: what is in the address is logged. */
export const erase = defineAction({
  name: 'erase',
  id: 'eraseRecord',
  on: 'lists',
  route: 'POST /api/lists/:workspace/:list/erase',
  about: [
    'Erases a record and everything that is kept of it. With `dryRun`, only says what there is.',
    '레코드와 그에 대해 보관한 모든 것을 지웁니다. `dryRun`이면 무엇이 있는지만 알려 줍니다.',
  ],
  input: z.strictObject({ workspace: workspaceOf, list, id: z.string().min(1).max(2_000).describe('its id'), dryRun }),
  answer: answers.erased,
  // Not the id.
  audited: ({ count, tombstone }, { workspace, list: name }) => ({ workspace, list: name, count, tombstone }),
  async run(call, { feed }) {
    const erased = await feed.erase(call);
    return { count: erased.events + Number(erased.stored), ...erased };
  },
  confirm: (_found, { t }, { list: name, id }) => t('erase.confirm', { list: name, id: printable(id) }),
  failed: ({ kept, tables, disk }) =>
    (kept?.running ?? 0) > 0 || tables.some(({ problem }) => problem !== null) || disk === 'refused',
});

export const forgetWorkspace = defineAction({
  name: 'forget',
  id: 'forgetWorkspace',
  on: 'workspaces',
  route: 'POST /api/workspaces/:name/forget',
  about: [
    'Deletes everything that is stored of a workspace, whether the configuration still has it or not.',
    '워크스페이스에 대해 저장된 것을 모두 지웁니다. 설정에 없어도 됩니다.',
  ],
  input: z.strictObject({
    name: z.string().describe('its name, whether the configuration still has it or not'),
    confirm: z.string().describe('its name once more: this cannot be undone'),
  }),
  answer: answers.forgotten,
  audited: ({ records }, { name }) => ({ workspace: name, count: records }),
  async run({ name, confirm }, { feed }) {
    if (confirm !== name) throw new RefusedError(400, 'confirm: give the name of the workspace once more.');
    return await feed.forget(name);
  },
});
