import { Argument } from 'commander';
import { listDeliveries as action } from '../../actions/subscriptions.js';
import { deliverySheet } from '../../actions/sheets.js';
import type { Subscription } from '../../delivery/handlers/handler.js';
import type { DeliveryRow } from '../../delivery/receipts/delivery-row.js';
import { usage } from '../../kit/errors.js';
import { recordOption } from '../arguments.js';
import { defineFeedCommand, flag, type Parameter } from '../command.js';
import { localSecond } from '../print-event.js';
import type { Io } from '../io.js';
import { say } from '../answers.js';
import { termOf } from '../terms.js';
import { whyText } from './try.js';
import { wordsFor } from '../../words/words.js';
import { writeSheet } from '../written-rows.js';
import { cut, fitted, printable, table, widthOf, type Colours } from '../text.js';

const WORDS_PLACES = 80;

const event: Parameter<string | undefined> = {
  term: () =>
    new Argument('[event]', 'the id of an event, or its position workspace@log-id: every subscription answers'),
};

export const deliveries = defineFeedCommand({
  byLastValid: true,
  input: {
    event,
    record: recordOption('the deliveries of one record: its list and its id'),
    subscription: termOf(action, 'subscription'),
    workspace: termOf(action, 'workspace'),
    outcome: termOf(action, 'outcome'),
    limit: termOf(action, 'limit'),
    csv: flag('for a spreadsheet'),
    json: flag('one per line as JSON'),
  },
  async run({ event, record, csv = false, json = false, config: _, limit = 50, ...given }, { feed, config }, io) {
    if (event !== undefined && record !== undefined) throw usage('deliveries: give either an event or --record.');
    const rows = await feed.deliveries({ ...given, event, list: record?.list, record: record?.id, limit });
    if (csv) return await writeSheet(deliverySheet(rows), io);
    if (json) for (const row of rows) io.out(JSON.stringify(row));
    else if (rows.length > 0) io.out(deliveriesText(rows, io));
    else say(io, event === undefined ? noneText(given.subscription, config.subscriptions) : NO_EVENT);
    return 0;
  },
});

const NO_EVENT =
  'no such deliveries: the event has no receipt, does not wait, and is not among the newest 10,000 of the log';

/** Without receipts, only what waits can be shown. */
function noneText(name: string | undefined, subscriptions: readonly Subscription[]): string {
  const { receipts } = subscriptions.find((one) => one.name === name) ?? {};
  return receipts === null ? `no such deliveries: "${name}" keeps no receipts (receipts: false)` : 'no such deliveries';
}

const HEAD = ['began', 'subscription', 'outcome', 'attempt', 'took'];
const HEAD_OF_EVENT = ['type', 'record', 'event'];

/** Where all rows are about one event, it stands above the others: its ids are longer than the rest. */
export function deliveriesText(rows: readonly DeliveryRow[], { colours, columns = Infinity }: Screen): string {
  const events = new Set(rows.map((row) => eventCells(row).join('  ')));
  const [only = ''] = events;
  const isOne = events.size === 1;
  const cellsOf = (row: DeliveryRow): string[] => [
    ...cells(row, colours.out),
    ...(isOne ? [] : eventCells(row)),
    said(row),
  ];
  const head = [...HEAD, ...(isOne ? [] : HEAD_OF_EVENT), 'said'];
  const wide = table(head, rows.map(cellsOf), colours.out);
  const isWider = wide.split('\n').some((line) => widthOf(line) > columns);
  const text = isWider ? rows.map((row) => linesOf(row, { isOne, paint: colours.out, columns })).join('\n') : wide;
  return isOne ? `${fitted(only, columns)}\n${text}` : text;
}

type Screen = Pick<Io, 'colours' | 'columns'>;

/** On a terminal that is too narrow for the table: in its cells, an id would be broken, and could not be copied. */
function linesOf(row: DeliveryRow, { isOne, paint, columns }: { isOne: boolean; paint: Colours; columns: number }) {
  const [began, subscription, outcome, attempt, took] = cells(row, paint);
  const [type, record, event] = isOne ? [] : eventCells(row);
  const facts = [began, subscription, outcome, attempt && `attempt ${attempt}`, took].filter(Boolean).join('  ');
  const below = [type && `${type}  ${record}`, event, said(row)].filter(Boolean).map((line) => `    ${line}`);
  const lines = [facts, ...below].flatMap((line) => fitted(line, columns).split('\n'));
  return lines.map((line) => line.trimEnd()).join('\n');
}

const eventCells = ({ type, record, eventId }: DeliveryRow): string[] =>
  [type.replace(/^crm\./, ''), record, eventId].map(printable);

function said({ words, refusedBy }: DeliveryRow): string {
  if (refusedBy !== null) return cut(`by ${whyText(refusedBy, wordsFor('en').t)}`, WORDS_PLACES);
  return words === null ? '' : cut(printable(words), WORDS_PLACES);
}

function cells(row: DeliveryRow, colours: Colours): string[] {
  const { at, subscription, attempt, ms } = row;
  return [
    at === null ? '' : localSecond(at),
    printable(subscription),
    painted(row, colours),
    attempt === 0 ? '' : String(attempt),
    ms === null || at === null ? '' : `${Math.round(ms)} ms`,
  ];
}

const SKIPPED: Readonly<Record<string, string>> = {
  where: '`where` did not select it when it was handled',
  muted: 'the record is muted (`changefeed unmute`)',
  'cancelled-out': 'its changes cancelled out (`settle`)',
  'not-selected': 'the merged event is not selected (`settle`)',
  merged: 'merged',
  gone: 'the log had dropped it',
  dropped: 'dropped by a person',
  'no-address': 'the person in charge has no address in `people`',
};

function painted(row: DeliveryRow, { green, yellow, red, dim }: Colours): string {
  const paint = { delivered: green, retry: yellow, dead: red, pending: yellow }[row.outcome as string] ?? dim;
  const { origin } = row;
  const sent = origin === null ? '' : origin.startsWith('s') ? ', of a snapshot' : ', of a replay';
  return paint(`${outcomeText(row)}${sent}`);
}

/** `delivered 200`, `failed 503, again 2026-11-26 12:03:11`, `skipped: merged into evt_…` */
function outcomeText(row: DeliveryRow): string {
  const { outcome, status, reason, nextAttemptAt, mergedInto, digest } = row;
  const again = nextAttemptAt === null ? '' : `, again ${localSecond(nextAttemptAt)}`;
  const answer = status ?? reason ?? '';
  if (outcome === 'retry') return `failed ${answer}${again}`;
  if (outcome === 'dead') return `dead letter ${answer}`;
  if (outcome === 'pending') return `waits${again}`;
  if (outcome === 'skipped')
    return `skipped: ${SKIPPED[reason ?? ''] ?? reason}${mergedInto === null ? '' : ` into ${mergedInto}`}`;
  if (outcome !== 'delivered') return outcome;
  return `delivered${status === null ? '' : ` ${status}`}${digest === null ? '' : `, in a digest of ${digest.events}`}`;
}
