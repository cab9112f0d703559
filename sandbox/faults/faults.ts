/**
 * All faults of the sandbox. A fault is `sound` if a complete walk without a refused request shows every record that existed
 * throughout the walk exactly once. Under an unsound fault, a correct client can miss records or get them twice without
 * any sign of it. So a correct detector is perfect under sound faults, and nothing can be asked of it under others.
 */
import type { Behaviour, ScheduledFault, Schedule } from './behaviour.js';

export interface Fault {
  readonly does: string;
  readonly sound: boolean;
  readonly behaviour: Partial<Behaviour>;
}

const sound = (does: string, behaviour: Partial<Behaviour>): Fault => ({ does, sound: true, behaviour });
const unsound = (does: string, behaviour: Partial<Behaviour>): Fault => ({ does, sound: false, behaviour });
const now = (fault: ScheduledFault, schedule: Schedule): Partial<Behaviour> => ({ schedules: { [fault]: schedule } });

// Often enough to occur in a short run, seldom enough for one of three attempts to succeed. The numbers have no common
// factor, so that faults that are on together do not always hit the same request.
const OFTEN: Schedule = { every: 7 };
const SOMETIMES: Schedule = { every: 11 };
const SELDOM: Schedule = { every: 23 };

const refused = (how: string, limitHint: Behaviour['limitHint'], schedule: Schedule): Fault =>
  sound(`Sometimes a 429 ${how}.`, { limitHint, ...now('rate-limited', schedule) });

export const FAULTS = {
  // Paging.
  'page-size-1': sound('One record per page.', { pageSize: 1 }),
  'page-size-7': sound('Seven records per page.', { pageSize: 7 }),
  'page-size-500': sound('Five hundred records per page.', { pageSize: 500 }),
  'end-missing': sound('The last page has no nextCursor key.', { end: 'missing' }),
  'end-empty-text': sound('The last page has an empty nextCursor.', { end: 'empty-text' }),
  'end-empty-page': sound('The last records come with a filled nextCursor, which leads to an empty page.', {
    end: 'empty-page',
  }),
  'cursor-offset': unsound('A cursor is a position: rows shift when others are removed.', { cursor: 'offset' }),
  'cursor-expiring': sound('A cursor is valid for ten seconds.', { cursor: 'expiring', cursorLifetimeMs: 10_000 }),
  'cursor-snapshot': sound('All pages of a walk show the state at its first page, also an hour later.', {
    cursor: 'snapshot',
    cursorLifetimeMs: 3_600_000,
  }),
  'cursor-single-use': sound('A cursor can be used once, even if that request failed.', { cursor: 'single-use' }),
  'cursor-of-gone-record-bad': sound('A cursor is invalid once its record is gone.', { cursorOfGoneRecord: 'bad' }),
  'bad-cursor-empty-400': sound('An invalid cursor gets 400 without a body.', { badCursor: 'refuse-empty' }),
  'bad-cursor-first-page': unsound('An invalid cursor gets the first page.', { badCursor: 'first-page' }),
  'bad-cursor-empty-page': unsound('An invalid cursor gets an empty last page.', { badCursor: 'empty-page' }),
  'order-id': sound('Lists are ordered by id: a new record may appear behind a cursor.', { order: 'id' }),
  'order-newest-first': sound('Lists begin with the newest record, so they grow at the start.', {
    order: 'newest-first',
  }),
  'order-last-change': unsound('Lists begin with the latest change: an edit moves a record to the front.', {
    order: 'last-change',
  }),
  'order-shuffled': unsound('The order is different in every request.', { order: 'shuffled' }),
  'overlapping-pages': unsound('The last three records of a page are repeated on the next.', { overlap: 3 }),
  'repeated-cursor': unsound(
    'Sometimes a page has its own cursor as nextCursor: a walk that follows it never ends.',
    now('repeated-cursor', SOMETIMES),
  ),

  // Changes during a walk.
  churn: sound('Two mutations after every page.', { churn: 2 }),
  'cursor-row-deleted': sound('Sometimes the record that a cursor names is deleted.', now('cursor-row-deleted', OFTEN)),
  renames: sound('Sometimes a user is renamed, which shows on all their records.', now('rename', SELDOM)),
  'stale-replica': unsound(
    'Every third answer comes from a replica that lags up to five seconds.',
    now('stale', { every: 3 }),
  ),

  // The rate limit.
  'tight-limit': sound('Ten requests per second instead of a hundred per ten.', {
    limitRequests: 10,
    limitWindowMs: 1_000,
  }),
  'foreign-client': sound('Another integration uses six requests per second of the same limit.', {
    foreignPerSecond: 6,
  }),
  'rate-limited': refused('with a hint of fractional seconds', 'reason', SOMETIMES),
  'rate-limited-message': refused('with the hint in its message', 'message', SOMETIMES),
  'rate-limited-list': refused('whose reason is a list', 'list', SOMETIMES),
  'rate-limited-header': refused('with Retry-After', 'header', SOMETIMES),
  'rate-limited-bare': refused('without any hint', 'none', SELDOM),
  'rate-limited-empty': refused('without a body', 'empty', SELDOM),
  'rate-limited-html': refused('as an HTML page', 'html', SELDOM),

  // Answers.
  unauthorised: sound('One 401 in the middle of a sweep.', now('unauthorised', { after: 9, times: 1 })),
  forbidden: sound('One 403 that names an address.', now('forbidden', { after: 9, times: 1 })),
  'empty-400': sound('Sometimes a 400 without a body.', now('empty-400', SELDOM)),
  'html-404': sound('Sometimes a 404 as an HTML page.', now('html-404', SELDOM)),
  'html-502': sound('Often a 502 as an HTML page.', now('html-502', OFTEN)),
  'json-500': sound('Often a 500 with a failure body.', now('json-500', OFTEN)),
  'refused-200': sound('Sometimes a 200 with success: false.', now('refused-200', SELDOM)),
  'listless-200': sound('Sometimes a 200 without any list.', now('listless-200', SELDOM)),
  truncated: sound('Often half a body, sent as if it were complete.', now('truncated', OFTEN)),
  stalled: sound('Sometimes a pause in the middle of a body.', now('stalled', SELDOM)),
  dropped: sound('Often a connection cut in the middle of a body.', now('dropped', OFTEN)),
  oversized: sound('Sometimes 16 MiB of spaces after the body.', now('oversized', SELDOM)),
  gzip: sound('Every second body is compressed.', now('gzip', { every: 2 })),
  slow: sound('Every answer takes 200 ms.', { latencyMs: 200 }),

  // How records are sent.
  'todo-names-wild': sound('Todos have the field names of real answers instead of the documented ones.', {
    todoNames: 'wild',
  }),
  'todo-names-both': sound('Todos have both spellings of their fields.', { todoNames: 'both' }),
  extras: sound('Records have the additional fields of real answers.', { extras: true }),
  'minute-stamps': sound('Timestamps are cut to the minute: two edits may have the same.', { stamps: 'minute' }),
  'still-stamps': sound('The change timestamp never moves.', { stamps: 'still' }),
  'absent-empties': sound('Empty fields are absent.', { empties: 'absent' }),
  'mixed-empties': sound('Empty fields are null or absent, at random in every request.', { empties: 'mixed' }),
  reordered: sound('Keys and arrays of references have another order in every request.', { sequence: 'reordered' }),
  'signed-pictures': sound('Picture URLs have a new signature in every request.', { pictures: 'signed' }),
  'drift-added': sound('All records have an additional key.', { drift: 'added' }),
  'drift-removed': sound('A key is missing from all records.', { drift: 'removed' }),
  'drift-reshaped': sound('A field of all records has another type.', { drift: 'reshaped' }),
  'history-403': sound('The history of people, organizations and leads is forbidden.', { historyLists: '403' }),
  'history-404': sound('There is no history of people, organizations and leads.', { historyLists: '404' }),
  'history-late': sound('Rows of history appear five seconds after the change.', { historyRows: 'late' }),
  'history-lying': sound('Some rows of history are missing, have a wrong value or name another record.', {
    historyRows: 'lying',
  }),
  'source-older-absent': sound('Older history rows have no source.', { historySource: 'older-absent' }),
} as const satisfies Record<string, Fault>;
export type FaultName = keyof typeof FAULTS;
