import type { DeadLetter, DeadLetterFilter, DeadLetters } from '../../app/changefeed.js';
import { usage, wholeNumber, word } from '../arguments.js';
import { argument, asText, defineCommand, flag, option, restArguments, withFeed } from '../command.js';
import type { Io } from '../io.js';
import { count, table, type Colours } from '../text.js';

const ACTIONS = ['list', 'show', 'retry', 'drop'] as const;

interface Call {
  action: (typeof ACTIONS)[number];
  filter: DeadLetterFilter;
  limit: number | undefined;
  json: boolean;
}

export const dead = defineCommand({
  input: {
    action: argument(ACTIONS.join(', '), word(...ACTIONS)),
    ids: restArguments('ids of events', asText),
    all: flag('retry or drop: all dead letters'),
    subscription: option('name', 'only those of this subscription', asText),
    limit: option('number', 'list: at most this many, newest first (default: 100)', wholeNumber({ least: 1 })),
    json: flag('list and show: one dead letter per line as JSON; retry and drop: the count'),
  },
  async run({ action, ids, all = false, subscription, limit, json = false, config }, io) {
    if (action === 'show' && ids.length === 0)
      throw usage('dead show: give the id of an event; "dead list" shows the ids.');
    // A forgotten argument must not drop all dead letters: that cannot be undone.
    if ((action === 'retry' || action === 'drop') && all === ids.length > 0)
      throw usage(`dead ${action}: give either ids of events or --all.`);
    const filter = { ...(subscription !== undefined && { subscription }), ...(ids.length > 0 && { ids }) };
    await withFeed(io, config, async ({ feed: { deadLetters } }) => {
      if (ids.length > 0) await refuseUnknown(deadLetters, filter, ids);
      await act(deadLetters, { action, filter, limit, json }, io);
    });
  },
});

async function act(letters: DeadLetters, { action, filter, limit, json }: Call, io: Io): Promise<void> {
  if (action === 'retry') {
    const retried = await letters.retry(filter);
    io.out(json ? JSON.stringify({ retried }) : `${count(retried, 'dead letter')} to be handled again`);
    return;
  }
  if (action === 'drop') {
    const dropped = await letters.drop(filter);
    io.out(json ? JSON.stringify({ dropped }) : `${count(dropped, 'dead letter')} dropped`);
    return;
  }
  const found = await letters.list({ ...filter, ...(action === 'list' && limit !== undefined && { limit }) });
  if (json) for (const letter of found) io.out(JSON.stringify(letter));
  else if (action === 'show') io.out(found.map((letter) => letterText(letter, io.colours.out)).join('\n\n'));
  else io.out(found.length === 0 ? 'no dead letters' : listText(found, io.colours.out));
}

async function refuseUnknown(letters: DeadLetters, filter: DeadLetterFilter, ids: readonly string[]): Promise<void> {
  const known = new Set((await letters.list({ ...filter, limit: Infinity })).map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw usage(`There is no dead letter ${unknown.join(', ')}. "changefeed dead list" shows the ids.`);
}

/** Without the contents of records: other people may see the screen. */
function listText(letters: readonly DeadLetter[], colours: Colours): string {
  const rows = letters.map(({ id, subscription, diedAt, attempts, reason, event }) => {
    return [id, subscription, event.type, event.subject, diedAt, String(attempts.length), oneLine(reason)];
  });
  return table(['event', 'subscription', 'type', 'record', 'died', 'attempts', 'reason'], rows, colours);
}

function letterText(letter: DeadLetter, { bold, dim }: Colours): string {
  const { id, subscription, workspace, logId, diedAt, reason, attempts, event } = letter;
  const lines = attempts.map(({ attempt, at, error, code, message, frames }) => {
    const where = frames[0] === undefined ? '' : dim(`\n    ${frames[0].replace(/^at /, 'in ')}`);
    return `  attempt ${attempt}  ${at}  ${code ?? error}: ${oneLine(message)}${where}`;
  });
  return [
    `${bold(id)}  ${event.type}  ${event.subject}`,
    `subscription ${subscription}  workspace ${workspace}  log id ${logId}`,
    `died ${diedAt}: ${oneLine(reason)}`,
    ...lines,
    JSON.stringify(event, null, 2),
  ].join('\n');
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 160 ? line : `${line.slice(0, 159)}…`;
}
