/** The report of a probe as text: as wide as the terminal, at most WIDEST columns; 80 where there is none. */
import type { FailedList, ProbedList, ProbeReport } from '../app/changefeed.js';
import { isAsLongAsPages } from '../crm/full-page.js';
import { count, printable, wrap, type Colours } from './text.js';

const WIDTH = 80;
const WIDEST = 120;
const LABEL = 16;
/** As in src/probe/order.ts: fewer say nothing. */
const LEAST_PAIRS = 5;

export function probeText(
  { requests, lists, failed, offers = [], limits }: ProbeReport,
  colours: Colours,
  columns: number = WIDTH,
): string {
  const row = rowsOf(Math.min(columns, WIDEST));
  const page = { colours, row };
  const blocks = [
    ...lists.map((list) => listText(list, { ...page, cut: cutText(list, lists) })),
    ...failed.map((list) => failedText(list, page)),
  ];
  const headers = Object.entries(limits.headers).map(([name, value]) => `${name}: ${value}`);
  const limit = [
    row('requests', `${requests} in total, ${limits.refused === 0 ? 'no 429' : `${limits.refused} answered 429`}`),
    row('429 says', limits.words),
    row('limit headers', headers.length === 0 ? 'none' : headers.join('; ')),
  ];
  const offered = offers.flatMap(({ list, served, status, brings }) =>
    row(served ? 'served' : 'not served', served ? `${list}: ${brings}` : `${list} (${status ?? 'no answer'})`),
  );
  if (offered.length > 0) blocks.push([colours.bold('ready-made lists that are off'), ...offered].join('\n'));
  return [...blocks, [colours.bold('limit'), ...limit.flat()].join('\n')].join('\n\n');
}

function listText(list: ProbedList, { colours, row, cut }: Page & { cut: string | null }): string {
  const { latency } = list;
  const lines = [
    row('page size', sizesText(list)),
    row('end of list', list.end === null ? 'not reached' : END[list.end]),
    row('warning', cut),
    row('cursor', cursorText(list)),
    row('used again', againText(list)),
    row('a bad cursor', list.badCursor && outcomeText(list.badCursor)),
    row('order', orderText(list)),
    row('grows', list.growsAt === 'unknown' ? 'unknown' : `at ${list.growsAt} (follows from the order)`),
    row('timestamps', `created: ${precisionText(list.created)}; changed: ${precisionText(list.modified)}`),
    row('keys', keysText(list)),
    row('missing keys', list.written === null ? null : list.written.missing.join(', ')),
    row('further keys', list.seenElsewhere.join(', ')),
    row('spelling', list.spelling),
    row('empty values', list.empties),
    row('references', referencesText(list)),
    row('latency', `p50 ${latency.p50} ms, p95 ${latency.p95} ms; ${kilobytes(list.pageBytes)} a page`),
  ];
  const head = `${colours.bold(list.list)}  ${list.path}  ${count(list.requests, 'request')}, ${count(list.records, 'record')}`;
  return [head, ...lines.flat()].join('\n');
}

/** A cursor that is not found ends a list after its first page, without an error. */
function cutText({ records, end, pageSizes }: ProbedList, lists: readonly ProbedList[]): string | null {
  const sizes = lists.flatMap((one) => Object.keys(one.pageSizes).map(Number));
  const isOnly = end === 'missing' && Object.keys(pageSizes).length === 0;
  if (!isOnly || !isAsLongAsPages(records, sizes)) return null;
  return `the only page has ${records} records, as many as whole pages have: if the CRM shows more, its cursor was missed`;
}

function precisionText(precision: ProbedList['created']): string {
  return precision === null ? 'none' : `to the ${PRECISION[precision]}`;
}

const PRECISION = { ms: 'millisecond', seconds: 'second', minutes: 'minute', days: 'day' };

function failedText({ list, path, status, words }: FailedList, { colours, row }: Page): string {
  const answer = status === null ? 'no answer' : `answered ${status}`;
  return [
    `${colours.bold(list)}  ${path}`,
    ...row('not read', words === '' ? answer : `${answer}: "${printable(words)}"`),
  ].join('\n');
}

interface Page {
  colours: Colours;
  row: ReturnType<typeof rowsOf>;
}

/** A label and its text, wrapped; nothing without a text. */
function rowsOf(columns: number): (label: string, text: string | null) => string[] {
  return (label, text) => {
    if (text === null || text === '') return [];
    const lines = wrap(text, columns - LABEL - 2);
    return lines.map((line, nth) => `  ${(nth === 0 ? label : '').padEnd(LABEL)}${line}`);
  };
}

const END: Readonly<Record<NonNullable<ProbedList['end']>, string>> = {
  null: 'nextCursor is null',
  missing: 'no nextCursor',
  'empty text': 'nextCursor is an empty text',
  'empty page': 'a filled nextCursor leads to an empty page',
  other: 'nextCursor is not a text',
};

function sizesText({ pageSizes }: ProbedList): string {
  const sizes = Object.entries(pageSizes).map(([size, pages]) => `${size} (${count(pages, 'page')})`);
  return sizes.length === 0 ? 'unknown: all records are on one page' : sizes.join(', ');
}

function cursorText({ cursorIs, cursorLength }: ProbedList): string | null {
  if (cursorIs === null) return 'none was given out';
  const what = cursorIs === 'opaque' ? 'opaque' : 'the id of the last record';
  return `${what}, ${count(cursorLength ?? 0, 'character')}`;
}

function againText({ again }: ProbedList): string | null {
  return again === null ? null : `${outcomeText(again)}, after ${(again.afterMs / 1_000).toFixed(1)} s`;
}

function outcomeText({ outcome, status }: { outcome: string; status: number | null }): string {
  return outcome === 'refused' || outcome === 'no page' ? `${outcome} (${status ?? 'no answer'})` : outcome;
}

function orderText({ order, neighbours }: ProbedList): string {
  if (order === null) return neighbours.id.pairs < LEAST_PAIRS ? 'unknown: too few records' : noOrderText(neighbours);
  const { pairs } = neighbours[order.by];
  return `by ${order.by}, ${order.direction} (${percent(order.share)} of ${count(pairs, 'neighbour')})`;
}

function noOrderText({ creation, change, id }: ProbedList['neighbours']): string {
  const share = (by: string, { pairs, ascending, descending }: typeof id): string[] =>
    pairs === 0 ? [] : [`${by} ${percent(ascending)} ascending, ${percent(descending)} descending`];
  return `none found: ${[...share('creation', creation), ...share('change', change), ...share('id', id)].join('; ')}`;
}

function keysText({ written, others, seenElsewhere }: ProbedList): string {
  const of =
    written === null ? null : `${written.present} of ${written.present + written.missing.length} of the interface`;
  const more = `${seenElsewhere.length} known from real answers, ${others} others (custom fields)`;
  return of === null ? more : `${of}; ${more}`;
}

function referencesText({ references, withoutId }: ProbedList): string {
  const shares = Object.entries(references).map(([field, share]) => `${field} ${percent(share)}`);
  const without = withoutId > 0 ? [`${count(withoutId, 'record')} without an id`] : [];
  return [...shares, ...without].join(', ');
}

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;
const kilobytes = (bytes: number | null): string => (bytes === null ? '?' : `${Math.round(bytes / 100) / 10} kB`);
