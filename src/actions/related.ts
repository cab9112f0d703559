/** What refers to a record: its todos, memos and activities. */
import { z } from 'zod';
import { titleOfEvent, titleOfRecord, wordsOfType } from '../events/describe.js';
import { ChangefeedError } from '../kit/errors.js';
import { eventTime } from '../kit/iso-time.js';
import { concernsOf } from '../ops/server/page/concerns.js';
import { readableTexts } from '../ops/server/page/event-view.js';
import { eventsBefore } from '../ops/server/page/events-before.js';
import type { PageSource, PageWorkspace } from '../ops/server/page/source.js';
import { definePageAction } from './define.js';
import type { Changefeed } from './feed.js';
import { ofList, short } from './fields.js';

/** A list of these may have 100,000 records to search, and says who someone is rather than what happened to them. */
const NOT_SEARCHED: ReadonlySet<string> = new Set(['person', 'organization', 'deal', 'lead']);
const MOST_OF_A_LIST = 100;

const related = z
  .strictObject({
    records: z
      .array(
        z.strictObject({
          list: z.string(),
          object: z.string(),
          id: z.string(),
          title: z.string().nullable(),
          stored: z.boolean().describe('false: only its key is'),
          time: z.string().nullable().describe('ISO 8601, UTC: when it was made; null: it says nothing'),
        }),
      )
      .describe(`newest first, at most ${MOST_OF_A_LIST} of each list`),
    unknown: z.array(z.string()).describe('lists that are not known at that time'),
  })
  .meta({ id: 'RelatedRecords' });

export const readRelated = definePageAction({
  name: 'related',
  id: 'readRelatedRecords',
  on: 'lists',
  ofWorkspace: true,
  route: 'POST /api/lists/:workspace/:list/related',
  about: [
    'The todos, memos and activities of one record, newest first.',
    '레코드 하나의 할 일, 메모, 활동. 최근 것부터.',
  ],
  input: z.strictObject({
    ...ofList,
    id: z.string().min(1).max(2_000).describe('its id'),
    asOf: short.describe('as they were then; without a zone, of the workspace (default: now)'),
  }),
  answer: related,
  reads: true,
  cost: 'records',
  async run({ workspace, list: name, id, asOf }, { feed, page }) {
    const lists = page.source.workspaces().find((one) => one.name === workspace)?.lists ?? [];
    const own = lists.find((one) => one.name === name);
    const words = [name, own?.object].map((word) => `${word}Id`);
    const rows = lists.filter(({ recognisedOnly }) => recognisedOnly);
    const found: z.output<typeof related>['records'] = await rowsIn(page.source.log, {
      workspace,
      rows,
      record: `${own?.object ?? name}:${id}`,
      asOf,
    });
    const unknown: string[] = [];
    for (const list of lists) {
      if (!list.enabled || list.recognisedOnly || list.name === name || NOT_SEARCHED.has(list.object)) continue;
      const records = await recordsIn(feed, { workspace, list, words, id, asOf });
      if (records === null) unknown.push(list.name);
      else found.push(...records);
    }
    found.sort((one, other) => ((one.time ?? '') < (other.time ?? '') ? 1 : -1));
    return readableTexts({ records: found, unknown });
  },
});

interface Of {
  workspace: string;
  rows: PageWorkspace['lists'];
  record: string;
  asOf: string | undefined;
}

/** Rows of which only keys are stored are known by their events, as long as these are among the newest of the log. */
async function rowsIn(log: PageSource['log'], { workspace, rows, record, asOf }: Of) {
  const lists = new Map(rows.map(({ object, name }) => [object, name]));
  const untilMs = asOf === undefined ? Infinity : Date.parse(asOf);
  const { events } = await eventsBefore(log, {
    ...{ workspaces: [workspace], before: new Map(), limit: MOST_OF_A_LIST, sinceMs: undefined, record: undefined },
    wanted(event) {
      if (!lists.has(wordsOfType(event.type).object) || Date.parse(event.time) > untilMs) return false;
      const { row, records } = concernsOf(event);
      return row === null && records.includes(record);
    },
  });
  return events.map(({ event }) => {
    const { object } = wordsOfType(event.type);
    return {
      list: lists.get(object) ?? object,
      object,
      id: event.subject,
      title: titleOfEvent(event),
      stored: false,
      time: event.time,
    };
  });
}

interface In {
  workspace: string;
  list: PageWorkspace['lists'][number];
  /** Fields that may have the id. */
  words: readonly string[];
  id: string;
  asOf: string | undefined;
}

/** Null: the history of the list does not reach back so far. A list whose records refer to none of these is not searched. */
async function recordsIn(feed: Changefeed, { workspace, list, words, id, asOf: at }: In) {
  const { name, object, createdAt } = list;
  const { fields } = await feed.lists.schema(name, workspace);
  const seen = (field: string): boolean => fields.some((one) => one.field === field);
  const any = words.filter(seen).map((field) => ({ [field]: id }));
  if (any.length === 0) return [];
  const made = createdAt.find(seen);
  const query = { where: { any }, limit: MOST_OF_A_LIST, at, ...(made !== undefined && { sort: `-${made}` }) };
  try {
    const { records } = await feed.lists.find(name, query, workspace);
    return records.map((record) => {
      const time = made === undefined ? null : record[made];
      const title = titleOfRecord(record);
      return {
        list: name,
        object,
        id: record.id,
        title,
        stored: true,
        time: eventTime(typeof time === 'string' ? time : null),
      };
    });
  } catch (error) {
    if (at !== undefined && error instanceof ChangefeedError && error.code === 'CF_USAGE') return null;
    throw error;
  }
}
