import type { DeadLetter, DeadLetterFilter, DeadLetters } from '../../app/changefeed.js';
import { ChangefeedError } from '../../errors.js';
import { openService } from '../../app/process.js';
import type { Colours } from '../colours.js';
import type { GlobalOptions, Io } from '../io.js';
import { table } from '../table.js';
import { count } from '../text.js';

export const DEAD_ACTIONS = ['list', 'show', 'retry', 'drop'] as const;
type Action = (typeof DEAD_ACTIONS)[number];

export interface DeadOptions extends GlobalOptions {
  args: readonly string[];
  all?: boolean;
  subscription?: string;
  limit?: number;
  json?: boolean;
}

interface Call {
  letters: DeadLetters;
  filter: DeadLetterFilter;
  options: DeadOptions;
  io: Io;
}

/** `changefeed dead`: what became of the events that were given up, and what shall become of them. */
export async function dead(options: DeadOptions, io: Io): Promise<number> {
  const { action, ids } = readAction(options);
  const { feed } = await openService(io, { path: options.config, quiet: true });
  try {
    const { subscription } = options;
    const filter = { ...(subscription !== undefined && { subscription }), ...(ids.length > 0 && { ids }) };
    const letters = feed.deadLetters;
    if (ids.length > 0) await refuseUnknown(letters, filter, ids);
    await ACTIONS[action]({ letters, filter, options, io });
  } finally {
    await feed.stop();
  }
  return 0;
}

const ACTIONS: Readonly<Record<Action, (call: Call) => Promise<void>>> = {
  async list({ letters, filter, options: { limit, json = false }, io }) {
    const found = await letters.list({ ...filter, ...(limit !== undefined && { limit }) });
    if (json) printLines(found, io);
    else io.out(found.length === 0 ? 'no dead letters' : listText(found, io.colours.out));
  },
  async show({ letters, filter, options: { json = false }, io }) {
    const found = await letters.list(filter);
    if (json) printLines(found, io);
    else io.out(found.map((letter) => letterText(letter, io.colours.out)).join('\n\n'));
  },
  async retry({ letters, filter, options, io }) {
    const retried = await letters.retry(filter);
    io.out(
      options.json === true ? JSON.stringify({ retried }) : `${count(retried, 'dead letter')} to be handled again`,
    );
  },
  async drop({ letters, filter, options, io }) {
    const dropped = await letters.drop(filter);
    io.out(options.json === true ? JSON.stringify({ dropped }) : `${count(dropped, 'dead letter')} dropped`);
  },
};

function readAction({ args: [word = '', ...ids], all = false }: DeadOptions): { action: Action; ids: string[] } {
  const action = DEAD_ACTIONS.find((one) => one === word);
  if (action === undefined) throw usage(`dead: found "${word}"; allowed: ${DEAD_ACTIONS.join(', ')}.`);
  if (action === 'show' && ids.length === 0) throw usage('dead show: name the id of an event; "dead list" has them.');
  // Dropping everything by a forgotten argument would be for good.
  if ((action === 'retry' || action === 'drop') && all === ids.length > 0)
    throw usage(`dead ${action}: name the ids of events, or say --all; one of the two.`);
  return { action, ids };
}

async function refuseUnknown(letters: DeadLetters, filter: DeadLetterFilter, ids: readonly string[]): Promise<void> {
  const known = new Set((await letters.list({ ...filter, limit: Infinity })).map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw usage(`There is no dead letter ${unknown.join(', ')}. "changefeed dead list" has them.`);
}

function printLines(letters: readonly DeadLetter[], io: Io): void {
  for (const letter of letters) io.out(JSON.stringify(letter));
}

/** Without contents of records: a list is looked at over shoulders. */
function listText(letters: readonly DeadLetter[], colours: Colours): string {
  const rows = letters.map(({ id, subscription, diedAt, attempts, reason, event }) => {
    return [id, subscription, event.type, event.subject, diedAt, String(attempts.length), oneLine(reason)];
  });
  return table(['event', 'subscription', 'type', 'record', 'died', 'tries', 'reason'], rows, colours);
}

function letterText(letter: DeadLetter, { bold, dim }: Colours): string {
  const { id, subscription, workspace, logId, diedAt, reason, attempts, event } = letter;
  const tries = attempts.map(({ attempt, at, error, code, message, frames }) => {
    const where = frames[0] === undefined ? '' : dim(`\n    ${frames[0].replace(/^at /, 'in ')}`);
    return `  try ${attempt}  ${at}  ${code ?? error}: ${oneLine(message)}${where}`;
  });
  return [
    `${bold(id)}  ${event.type}  ${event.subject}`,
    `subscription ${subscription}  workspace ${workspace}  log id ${logId}`,
    `died ${diedAt}: ${oneLine(reason)}`,
    ...tries,
    JSON.stringify(event, null, 2),
  ].join('\n');
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 160 ? line : `${line.slice(0, 159)}…`;
}

function usage(message: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message });
}
