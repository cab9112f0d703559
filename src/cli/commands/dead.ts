import { retryDeadLetters as action } from '../../actions/dead-letters.js';
import { deadLetterSheet } from '../../actions/sheets.js';
import type { DeadLetter } from '../../delivery/act/dead-letters.js';
import { usage } from '../../kit/errors.js';
import { placeIn } from '../../kit/user-frame.js';
import { commandsNamed } from '../action-command.js';
import { typeOption, wholeNumber } from '../arguments.js';
import { asText, defineFeedCommand, flag, option, restArguments } from '../command.js';
import type { Io } from '../io.js';
import { eventWords, localTime } from '../print-event.js';
import { writeSheet } from '../written-rows.js';
import { termOf } from '../terms.js';
import { count, cut, fitted, printable, table, widthOf, type Colours } from '../text.js';

const DEFAULT_LIMIT = 100;
const json = flag('one per line as JSON');

const list = defineFeedCommand({
  byLastValid: true,
  input: {
    subscription: termOf(action, 'subscription'),
    type: typeOption('only these event types, separated by commas (* allowed)'),
    reason: termOf(action, 'reason'),
    limit: option('number', `at most this many, newest first (default: ${DEFAULT_LIMIT})`, wholeNumber({ least: 1 })),
    csv: flag('for a spreadsheet'),
    json,
  },
  async run(
    { csv = false, json = false, limit = DEFAULT_LIMIT, config: _, type: types, ...given },
    { feed: { deadLetters } },
    io,
  ) {
    const filter = { ...given, ...(types && { types }) };
    const found = await deadLetters.list({ ...filter, limit });
    if (csv) return await writeSheet(deadLetterSheet(found), io);
    if (json) for (const letter of found) io.out(JSON.stringify(letter));
    else if (found.length > 0) io.out(listText(found, io));
    else io.out(Object.keys(filter).length === 0 ? 'no dead letters' : 'no such dead letters');
    if (found.length < limit) return 0;
    // On standard error, so that standard output stays a list.
    const all = (await deadLetters.list({ ...filter, limit: Infinity })).length;
    if (all > found.length) io.err(`${found.length} of ${count(all, 'dead letter')} shown; --limit ${all} shows all.`);
    return 0;
  },
});

const show = defineFeedCommand({
  byLastValid: true,
  input: {
    ids: restArguments('ids of events', asText, '<…>'),
    subscription: termOf(action, 'subscription'),
    verbose: flag('also the whole records, and each frame of the code where an attempt failed'),
    json,
  },
  async run({ ids, json = false, verbose = false, subscription }, { feed: { deadLetters } }, io) {
    const found = await deadLetters.list({ ids, subscription, limit: Infinity });
    const unknown = ids.filter((id) => found.every((letter) => letter.id !== id));
    if (unknown.length > 0)
      throw usage(`There is no dead letter ${unknown.join(', ')}. "changefeed dead list" shows the ids.`);
    if (json) for (const letter of found) io.out(JSON.stringify(letter));
    else io.out(found.map((letter) => letterText(letter, { verbose, io })).join('\n\n'));
  },
});

export const dead = commandsNamed('dead', {
  list: ['those that wait for a decision, newest first', list],
  show: ['why each attempt failed', show],
});

const LIST_PLACES = 36;
const SHOW_PLACES = 120;

function listText(letters: readonly DeadLetter[], { colours: { out: colours }, columns = Infinity }: Io): string {
  const rows = letters.map((letter) => {
    const { title, change } = wordsOf(letter, LIST_PLACES);
    const { subscription, diedAt, attempts, reason, id } = letter;
    const names = [printable(subscription), String(attempts.length), localTime(diedAt), printable(id)];
    return [title, change, oneLine(reason), ...names];
  });
  const head = ['record', 'change', 'reason', 'subscription', 'attempts', 'died', 'event'];
  const wide = table(head, rows, colours);
  if (wide.split('\n').every((line) => widthOf(line) <= columns)) return wide;
  return letters.map((letter) => blockText(letter, colours, columns)).join('\n');
}

/** Three lines for a narrow terminal. The ids stay whole, so that they can be copied. */
function blockText(letter: DeadLetter, colours: Colours, columns: number): string {
  const { id, subscription, diedAt, attempts, reason } = letter;
  const { title, change } = wordsOf(letter, LIST_PLACES);
  const died = `${oneLine(reason)} (${printable(subscription)}, ${count(attempts.length, 'attempt')}, ${localTime(diedAt)})`;
  const record = cut(title, columns);
  const left = columns - widthOf(record) - 2;
  return [
    `${colours.bold(record)}${left > 0 ? `  ${cut(change, left)}` : ''}`,
    fitted(`  ${died}`, columns),
    colours.dim(`  ${printable(id)}`),
  ].join('\n');
}

/** `전화하기` and `todo updated  완료: false → true +2` */
function wordsOf({ event }: DeadLetter, places: number): { title: string; change: string } {
  const { what, title, changes } = eventWords(event, places);
  const more = changes.length > 1 ? ` +${changes.length - 1}` : '';
  return { title, change: changes[0] === undefined ? what : `${what}  ${changes[0]}${more}` };
}

function letterText(letter: DeadLetter, { verbose, io }: { verbose: boolean; io: Io }): string {
  const { bold, dim } = io.colours.out;
  const { id, subscription, workspace, logId, diedAt, reason, attempts, event } = letter;
  const { what, title, changes } = eventWords(event, SHOW_PLACES);
  const tries = attempts.flatMap(({ attempt, at, error, code, message, frames }) => [
    `  attempt ${attempt}  ${localTime(at)}  ${code ?? error}: ${oneLine(message)}`,
    ...(verbose ? frames : ownFrames(frames)).map((frame) => dim(`    ${printable(frame).replace(/^at /, 'in ')}`)),
  ]);
  const about = [
    `${bold(title)}  ${what}`,
    ...changes.map((change) => `  ${change}`),
    `${printable(subscription)}: ${oneLine(reason)}`,
    `  given up ${localTime(diedAt)}, after ${count(attempts.length, 'attempt')}`,
    ...tries,
    dim(`event ${printable(id)}  record ${printable(event.subject)}  workspace ${workspace}  log id ${logId}`),
  ];
  return [fitted(about.join('\n'), io.columns), ...(verbose ? [JSON.stringify(event, null, 2)] : [])].join('\n');
}

/** The first frame in a file of the user's. */
function ownFrames(frames: readonly string[]): string[] {
  const place = placeIn(frames.join('\n'));
  return place === undefined ? [] : [`at ${place}`];
}

/** Reasons quote what handlers and endpoints said. */
function oneLine(text: string): string {
  return cut(printable(text), 160);
}
