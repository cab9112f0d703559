import { dropDeadLetters, retryDeadLetters } from '../../actions/dead-letters.js';
import type { DeadLetter, DeadLetterFilter, DeadLetters } from '../../delivery/act/dead-letters.js';
import { usage } from '../../kit/errors.js';
import { separated, wholeNumber, word } from '../arguments.js';
import { argument, asText, defineCommand, flag, option, restArguments, withFeed } from '../command.js';
import { answer, isConfirmed } from '../answers.js';
import type { Io } from '../io.js';
import { eventWords, localTime } from '../print-event.js';
import { count, cut, fitted, printable, table, widthOf, type Colours } from '../text.js';

const DEFAULT_LIMIT = 100;
const ACTIONS = ['list', 'show', 'retry', 'drop'] as const;

export const dead = defineCommand({
  input: {
    action: argument(ACTIONS.join(', '), word(...ACTIONS)),
    ids: restArguments('ids of events', asText),
    all: flag('retry or drop: all dead letters'),
    subscription: option('name', 'only those of this subscription', asText),
    type: option('patterns', 'only these event types, separated by commas (* allowed)', separated),
    reason: option('text', 'only those whose failure contains this text', asText),
    limit: option(
      'number',
      `list: at most this many, newest first (default: ${DEFAULT_LIMIT})`,
      wholeNumber({ least: 1 }),
    ),
    dryRun: flag('retry and drop: only say which ones'),
    yes: flag('drop: do not ask'),
    verbose: flag('show: also the whole records, and where in the code each attempt failed'),
    json: flag('list and show: one dead letter per line as JSON; retry and drop: the count'),
  },
  async run(given, io) {
    const { action, ids, all = false, subscription, type: types, reason, limit, config } = given;
    if (action === 'show' && ids.length === 0)
      throw usage('dead show: give the id of an event; "dead list" shows the ids.');
    const isNarrowed = types !== undefined || reason !== undefined;
    if (ids.length > 0 && isNarrowed) throw usage(`dead ${action}: give either ids of events, or --type and --reason.`);
    // A forgotten argument must not drop all dead letters: that cannot be undone.
    if ((action === 'retry' || action === 'drop') && (all || isNarrowed) === ids.length > 0)
      throw usage(`dead ${action}: give either ids of events, or --all, --type or --reason.`);
    const filter = {
      ...(subscription !== undefined && { subscription }),
      ...(ids.length > 0 && { ids }),
      ...(types !== undefined && { types }),
      ...(reason !== undefined && { reason }),
    };
    const { dryRun = false, yes = false, json = false, verbose = false } = given;
    return await withFeed(io, config, async ({ feed: { deadLetters }, noted }) => {
      if (ids.length > 0) await refuseUnknown(deadLetters, filter, ids);
      if (action === 'list' || action === 'show') {
        if (dryRun) throw usage(`dead ${action}: --dry-run goes with retry and drop.`);
        await show(deadLetters, { action, filter, limit, json, verbose }, io);
        return 0;
      }
      // Those that are named one by one need no question.
      const call = { isDropped: action === 'drop', filter, json, dryRun, yes: yes || ids.length > 0 };
      const changed = await change(deadLetters, call, io);
      const done = action === 'drop' ? dropDeadLetters : retryDeadLetters;
      if (changed !== null) await noted(done, { ...filter, dryRun }, { count: changed });
      return changed === null ? 1 : 0;
    });
  },
});

interface Shown {
  action: 'list' | 'show';
  filter: DeadLetterFilter;
  limit: number | undefined;
  json: boolean;
  /** show: also the whole event, and where each attempt failed. */
  verbose: boolean;
}

async function show(
  letters: DeadLetters,
  { action, filter, limit = DEFAULT_LIMIT, json, verbose }: Shown,
  io: Io,
): Promise<void> {
  const found = await letters.list({ ...filter, ...(action === 'list' && { limit }) });
  if (json) for (const letter of found) io.out(JSON.stringify(letter));
  else if (action === 'show') io.out(found.map((letter) => letterText(letter, { verbose, io })).join('\n\n'));
  else if (found.length > 0) io.out(listText(found, io));
  else io.out(Object.keys(filter).length === 0 ? 'no dead letters' : 'no such dead letters');
  if (action === 'show' || found.length < limit) return;
  // On standard error, so that standard output stays a list.
  const all = (await letters.list({ ...filter, limit: Infinity })).length;
  if (all > found.length) io.err(`${found.length} of ${count(all, 'dead letter')} shown; --limit ${all} shows all.`);
}

interface Change {
  isDropped: boolean;
  filter: DeadLetterFilter;
  json: boolean;
  dryRun: boolean;
  yes: boolean;
}

/** How many letters were changed, or would be; null when the person does not want it. */
async function change(
  letters: DeadLetters,
  { isDropped, filter, json, dryRun, yes }: Change,
  io: Io,
): Promise<number | null> {
  const member = isDropped ? 'dropped' : 'retried';
  if (dryRun || (isDropped && !yes)) {
    const found = await letters.list({ ...filter, limit: Infinity });
    const number = count(found.length, 'dead letter');
    const which = perSubscription(found);
    if (dryRun) {
      const text = `${number} would be ${isDropped ? 'dropped' : 'handled again'}${which}. Nothing was changed.`;
      answer(io, json, { [member]: found.length, dryRun }, text);
      return found.length;
    }
    const what = `This drops ${number}${which}, which cannot be undone`;
    if (found.length > 0 && !(await isConfirmed({ command: 'dead drop', what, yes }, io))) return null;
  }
  const changed = isDropped ? await letters.drop(filter) : await letters.retry(filter);
  const text = `${count(changed, 'dead letter')} ${isDropped ? 'dropped' : 'to be handled again'}`;
  answer(io, json, { [member]: changed }, text);
  return changed;
}

function perSubscription(letters: readonly DeadLetter[]): string {
  const counts = new Map<string, number>();
  for (const { subscription } of letters) counts.set(subscription, (counts.get(subscription) ?? 0) + 1);
  const parts = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, number]) => `${name} ${number}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

async function refuseUnknown(letters: DeadLetters, filter: DeadLetterFilter, ids: readonly string[]): Promise<void> {
  const known = new Set((await letters.list({ ...filter, limit: Infinity })).map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw usage(`There is no dead letter ${unknown.join(', ')}. "changefeed dead list" shows the ids.`);
}

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
    ...(verbose ? frames.map((frame) => dim(`    ${printable(frame).replace(/^at /, 'in ')}`)) : []),
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

/** Reasons quote what handlers and endpoints said. */
function oneLine(text: string): string {
  return cut(printable(text), 160);
}
