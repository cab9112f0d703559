/**
 * Every fault the sandbox knows, one line each. `sound`: a walk that was never refused and reached the end of its list
 * has shown each record that was there throughout exactly once. What is not sound can make an honest client miss
 * records or see them twice without any sign of it.
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

// Often enough to be met in a short run, seldom enough for three attempts to get through. Numbers that share no factor
// with each other, so that faults switched on together do not always strike the same request.
const OFTEN: Schedule = { every: 7 };
const SOMETIMES: Schedule = { every: 11 };
const SELDOM: Schedule = { every: 23 };

const PAGING = {
  'page-size-1': sound('One record per page.', { pageSize: 1 }),
  'page-size-7': sound('Seven records per page.', { pageSize: 7 }),
  'page-size-500': sound('Five hundred records per page.', { pageSize: 500 }),
  'end-missing': sound('The last page has no nextCursor key.', { end: 'missing' }),
  'end-empty-text': sound('The last page has an empty nextCursor.', { end: 'empty-text' }),
  'end-empty-page': sound('The last records come with a filled nextCursor, which leads to an empty page.', {
    end: 'empty-page',
  }),
  'cursor-offset': unsound('A cursor is a position: rows shift under it when others go.', { cursor: 'offset' }),
  'cursor-expiring': sound('A cursor is good for ten seconds.', { cursor: 'expiring', cursorLifetimeMs: 10_000 }),
  'cursor-snapshot': sound('A walk reads the moment of its first page throughout.', { cursor: 'snapshot' }),
  'cursor-single-use': sound('A cursor is good once, not even for a second attempt.', { cursor: 'single-use' }),
  'cursor-of-gone-record-bad': sound('A cursor dies with the record it names.', { cursorOfGoneRecord: 'bad' }),
  'bad-cursor-empty-400': sound('A bad cursor gets 400 without a body.', { badCursor: 'refuse-empty' }),
  'bad-cursor-first-page': unsound('A bad cursor gets the first page, as if nothing were wrong.', {
    badCursor: 'first-page',
  }),
  'bad-cursor-empty-page': unsound('A bad cursor gets an empty last page, as if nothing were wrong.', {
    badCursor: 'empty-page',
  }),
  'order-id': sound('Lists are ordered by id: a new record may appear behind a cursor.', { order: 'id' }),
  'order-last-change': unsound('Lists begin with what changed last: an edit moves a record to the front.', {
    order: 'last-change',
  }),
  'order-shuffled': unsound('Every request sees another order.', { order: 'shuffled' }),
  'overlapping-pages': unsound(
    'The last three records of a page are shown again on the next: nothing is missed, some come twice.',
    { overlap: 3 },
  ),
  'repeated-cursor': unsound(
    'Now and then a page names its own cursor as the next: a walk that follows it never ends.',
    now('repeated-cursor', SOMETIMES),
  ),
} as const satisfies Record<string, Fault>;

const CHANGE = {
  churn: sound('Two mutations after every page.', { churn: 2 }),
  'cursor-row-deleted': sound(
    'Now and then the record that a cursor names is deleted.',
    now('cursor-row-deleted', OFTEN),
  ),
  renames: sound('Now and then a user gets another name, which all their records show.', now('rename', SELDOM)),
  'stale-replica': unsound(
    'Every third answer comes from a replica that lags up to five seconds.',
    now('stale', { every: 3 }),
  ),
} as const satisfies Record<string, Fault>;

const LIMITS = {
  'tight-limit': sound('Ten requests per second instead of a hundred per ten.', {
    limitRequests: 10,
    limitWindowMs: 1_000,
  }),
  'foreign-client': sound('Another integration takes six requests per second out of the same window.', {
    foreignPerSecond: 6,
  }),
  'rate-limited': sound('Now and then a 429 with a hint of fractional seconds.', now('rate-limited', SOMETIMES)),
  'rate-limited-message': sound('Now and then a 429 with the hint in its message.', {
    limitHint: 'message',
    ...now('rate-limited', SOMETIMES),
  }),
  'rate-limited-list': sound('Now and then a 429 whose reason is a list.', {
    limitHint: 'list',
    ...now('rate-limited', SOMETIMES),
  }),
  'rate-limited-header': sound('Now and then a 429 with Retry-After.', {
    limitHint: 'header',
    ...now('rate-limited', SOMETIMES),
  }),
  'rate-limited-absurd': sound('Now and then a 429 that asks for ten days.', {
    limitHint: 'absurd',
    ...now('rate-limited', SELDOM),
  }),
  'rate-limited-bare': sound('Now and then a 429 without any hint.', {
    limitHint: 'none',
    ...now('rate-limited', SELDOM),
  }),
  'rate-limited-empty': sound('Now and then a 429 without a body.', {
    limitHint: 'empty',
    ...now('rate-limited', SELDOM),
  }),
  'rate-limited-html': sound('Now and then a 429 as an HTML page.', {
    limitHint: 'html',
    ...now('rate-limited', SELDOM),
  }),
} as const satisfies Record<string, Fault>;

const ANSWERS = {
  unauthorised: sound('One 401 in the middle of a sweep.', now('unauthorised', { after: 9, times: 1 })),
  forbidden: sound('One 403 that names an address.', now('forbidden', { after: 9, times: 1 })),
  'empty-400': sound('Now and then a 400 without a body.', now('empty-400', SELDOM)),
  'html-404': sound('Now and then a 404 as an HTML page.', now('html-404', SELDOM)),
  'html-502': sound('Often a 502 as an HTML page.', now('html-502', OFTEN)),
  'json-500': sound('Often a 500 with a failure body.', now('json-500', OFTEN)),
  'refused-200': sound('Now and then a 200 with success: false.', now('refused-200', SELDOM)),
  'listless-200': sound('Now and then a 200 without any list.', now('listless-200', SELDOM)),
  truncated: sound('Often half a body as if it were a whole one.', now('truncated', OFTEN)),
  stalled: sound('Now and then silence in the middle of a body.', now('stalled', SELDOM)),
  dropped: sound('Often a connection cut in the middle of a body.', now('dropped', OFTEN)),
  oversized: sound('Now and then 64 MiB of spaces behind the body.', now('oversized', SELDOM)),
  gzip: sound('Every second body is compressed.', now('gzip', { every: 2 })),
  slow: sound('Every answer takes 200 ms.', { latencyMs: 200 }),
} as const satisfies Record<string, Fault>;

const RECORDS = {
  'todo-names-wild': sound('Todos carry the names seen in the wild instead of the written ones.', {
    todoNames: 'wild',
  }),
  'todo-names-both': sound('Todos carry both spellings.', { todoNames: 'both' }),
  extras: sound('Records carry the further fields seen in the wild.', { extras: true }),
  'minute-stamps': sound('Stamps are cut to the minute: two edits may share one.', { stamps: 'minute' }),
  'still-stamps': sound('The change stamp never moves, whatever changes.', { stamps: 'still' }),
  'stamps-follow': sound('The change stamp moves with counters and notes too.', { stampsFollow: true }),
  'absent-empties': sound('Empty fields are absent.', { empties: 'absent' }),
  'mixed-empties': sound('Empty fields are null or absent, another way at every request.', { empties: 'mixed' }),
  reordered: sound('Keys and arrays of refs are in another order at every request.', { sequence: 'reordered' }),
  'signed-pictures': sound('Picture URLs carry a new signature at every request.', { pictures: 'signed' }),
  'drift-added': sound('All records carry a key more.', { drift: 'added' }),
  'drift-removed': sound('A key is gone from all records.', { drift: 'removed' }),
  'drift-reshaped': sound('A field of all records has another form.', { drift: 'reshaped' }),
  'source-older-absent': sound('Older history rows have no source.', { historySource: 'older-absent' }),
} as const satisfies Record<string, Fault>;

export const FAULTS = { ...PAGING, ...CHANGE, ...LIMITS, ...ANSWERS, ...RECORDS };
export type FaultName = keyof typeof FAULTS;

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(FAULTS, name);
}
