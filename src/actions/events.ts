/** Actions on the events of the log. */
import { z } from 'zod';
import { formatPosition, parsePosition, type Position } from '../events/position.js';
import * as answers from '../ops/server/page/answers.js';
import { RefusedError } from '../ops/server/page/refused.js';
import { eventsQuery, filterFrom, workspacesFrom } from '../ops/server/page/event-filter.js';
import { endsOf, eventsBefore } from '../ops/server/page/events-before.js';
import type { PageSource } from '../ops/server/page/source.js';
import { definePageAction } from './define.js';
import { eventSheet } from './sheets.js';
import { momentOf, short } from './fields.js';

const position = z.string().transform((text, context) => {
  const found = parsePosition(text);
  if (found !== null) return found;
  context.addIssue({ code: 'custom', message: 'not a position such as acme@1700000000000-0.' });
  return z.NEVER;
});

const question = eventsQuery.extend({
  since: short.describe('begin of the period: a duration such as 7d, or a time (default: all)'),
  until: short.describe('end of the period: a duration such as 1d, or a time (default: now)'),
  before: position.optional().describe('`next` of the page before'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export const listEvents = definePageAction({
  name: 'events',
  id: 'listEvents',
  on: 'events',
  ofWorkspace: true,
  route: 'GET /api/events',
  about: ['A page of events, newest first.', '이벤트 한 페이지. 최근 것부터.'],
  input: question,
  answer: answers.eventsPage,
  cost: 'log',
  async run(query, { page: { source, views } }) {
    const call = callOf(query, source);
    // First, so that the stream repeats an event rather than leaving one out.
    const tail = formatPosition(await endsOf(source.log, call.workspaces));
    const { events, ...rest } = await eventsBefore(source.log, call);
    return { events: await Promise.all(events.map(views)), ...rest, end: tail };
  },
  sheet(query, { page: { source } }) {
    const call = callOf(query, source);
    async function* events() {
      let before: Position | null = call.before;
      for (let left = MOST_IN_A_SHEET; before !== null && left > 0;) {
        const part = await eventsBefore(source.log, { ...call, before, limit: Math.min(left, STEP) });
        yield* part.events;
        left -= part.events.length;
        before = part.next === null ? null : parsePosition(part.next);
      }
    }
    return eventSheet(events());
  },
});

const MOST_IN_A_SHEET = 100_000;
const STEP = 1_000;

function callOf(query: z.output<typeof question>, source: PageSource) {
  const { limit, record, since, until } = query;
  const workspaces = workspacesFrom(query, source);
  const sinceMs = since === undefined ? undefined : momentOf(since, 'since');
  const end = until === undefined ? null : `${momentOf(until, 'until') + 1}-0`;
  const before: Position = query.before ?? new Map(end === null ? [] : workspaces.map((name) => [name, end]));
  return { workspaces, before, limit, sinceMs, record, wanted: filterFrom(query, source) };
}

export const readEvent = definePageAction({
  name: 'event',
  id: 'readEvent',
  on: 'events',
  ofWorkspace: true,
  route: 'GET /api/events/:workspace/:logId',
  about: ['One whole event.', '이벤트 하나 전체.'],
  input: z.strictObject({ workspace: z.string(), logId: z.string() }),
  answer: answers.oneEvent,
  async run({ workspace, logId }, { page: { source, views } }) {
    const logged = /^\d{1,15}-\d{1,19}$/.test(logId) ? await source.log.stored(workspace, logId) : null;
    if (logged === null) throw new RefusedError(404, 'The log has no such event, or no longer has it.');
    return { view: await views(logged), event: logged.event };
  },
});
