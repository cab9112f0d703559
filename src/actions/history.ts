/** What a record was. */
import { z } from 'zod';
import { defineAction } from './define.js';
import { historySheet } from './sheets.js';
import { list, short, workspaceOf } from './fields.js';

const iso = z.string().describe('ISO 8601, UTC');
const actor = z.strictObject({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() });
const value = z.unknown().describe('null: there is no value');

const recordHistory = z
  .strictObject({
    list: z.string(),
    id: z.string(),
    title: z.string().nullable().describe('what it is or was last called; null where it says nothing'),
    since: iso.nullable().describe('since when every change is kept; null: none is'),
    record: z
      .looseObject({ id: z.string() })
      .nullable()
      .describe('as it is, or was at `asOf`; null: it is not in the list'),
    changes: z.array(
      z.strictObject({
        event: z.string().nullable().describe('its id; null: what changed was stored without an event'),
        type: z.string().nullable().describe('the type of the event'),
        sequence: z.number().int(),
        observedAt: iso,
        time: iso.describe("the record's own time of the change, where it has one"),
        class: z.enum(['edited', 'refreshed']),
        actor: actor.nullable().describe('who made the change; null: not known'),
        changes: z.array(z.strictObject({ field: z.string(), before: value, after: value, actor: actor.optional() })),
        reappeared: z.literal(true).optional(),
        mergedInto: z.string().optional(),
      }),
    ),
    next: z.string().nullable().describe('where older changes go on; null: there are none'),
  })
  .meta({ id: 'RecordHistory' });

/** The id is in the body: what is in the address is logged. */
export const readRecordHistory = defineAction({
  name: 'history',
  id: 'readRecordHistory',
  on: 'lists',
  ofWorkspace: true,
  route: 'POST /api/lists/:workspace/:list/history',
  about: ['The changes of one record, newest first.', '레코드 하나의 변경. 최근 것부터.'],
  input: z.strictObject({
    workspace: workspaceOf,
    list,
    id: z.string().min(1).max(2_000).describe('its id'),
    limit: z.coerce.number().int().min(1).max(1_000).default(50).describe('at most so many (default: 50)'),
    before: z.string().max(40).optional().describe('`next` of the answer before: the changes before those'),
    asOf: short.describe('as it was then, and the changes up to then; without a zone, of the workspace (default: now)'),
  }),
  answer: recordHistory,
  reads: true,
  cost: 'records',
  run: ({ workspace, list: name, id, limit, before, asOf }, { feed }) =>
    feed.history({ workspace, list: name, id, limit, before, asOf }),
  async sheet({ workspace, list: name, id, asOf }, { feed }) {
    const of = { workspace, list: name, id, asOf, limit: 1_000 };
    const first = await feed.history(of);
    async function* parts() {
      for (let part = first; ; part = await feed.history({ ...of, before: part.next })) {
        yield part;
        if (part.next === null) return;
      }
    }
    return historySheet(parts());
  },
});
