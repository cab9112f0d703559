/** What would have to be set back, a line a field. */
import { sheetText, type Row } from '../../actions/sheet.js';
import { nameOf } from '../../actions/sheets.js';
import type { RestoreStep } from '../../feed/history/restore-plan.js';
import { textOfActor } from '../../events/actor.js';
import type { Actor } from '../../events/types.js';
import { isoTime, systemClock } from '../../kit/clock.js';
import { usage } from '../../kit/errors.js';
import type { Formats } from '../../words/format.js';
import { wordsFor, type Words } from '../../words/words.js';
import { formatsOf, languageOf } from '../answers.js';
import { listArgument, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option } from '../command.js';
import { cut, printable } from '../text.js';
import { writtenRows } from '../written-rows.js';

export const restorePlan = defineFeedCommand({
  input: {
    list: listArgument('the name of a list'),
    from: option('time', 'the begin of the period; without a zone, of the workspace', asText),
    to: option('time', 'its end (default: now)', asText),
    by: option(
      'who',
      'only changes made by: user, workflow, sequence, api, field, unknown, an id, part of a name',
      asText,
    ),
    csv: flag('for a spreadsheet'),
    ndjson: flag('a line each, as JSON'),
    workspace: workspaceOption('the workspace, if there are several'),
  },
  async run({ list, from, to, by, csv = false, ndjson = false, workspace }, { feed, config }, io) {
    if (from === undefined) throw usage('restore-plan: give --from, the begin of the period.');
    if (csv && ndjson) throw usage('restore-plan: give --csv or --ndjson, not both.');
    const words = wordsFor(languageOf(config, io.env));
    const formats = formatsOf(config, io.env, isoTime(systemClock.now()));
    const steps = feed.restorePlan({ list, from, to, by, workspace });
    const rows = csv ? csvRows(steps) : ndjson ? jsonRows(steps) : textRows(steps, { words, formats });
    const { count, isCut } = await writtenRows(rows, io);
    const facts = { count: formats.number(csv ? Math.max(0, count - 1) : count) };
    io.err(words.t(isCut ? 'export.cut' : 'restore.done', facts));
    return isCut ? 1 : 0;
  },
});

type Steps = AsyncIterable<RestoreStep>;

async function* planRows(steps: Steps): AsyncGenerator<Row> {
  for await (const { changedAgain, by, ...step } of steps) {
    const again = { 'changed again': changedAgain?.at, 'changed again by': nameOf(changedAgain?.by) };
    yield { ...step, by: nameOf(by), ...again };
  }
}

function csvRows(steps: Steps): AsyncGenerator<string> {
  const columns = [
    'list',
    'id',
    'title',
    'act',
    'field',
    'to',
    'from',
    'now',
    'by',
    'at',
    'changed again',
    'changed again by',
  ];
  return sheetText({ columns, rows: planRows(steps) });
}

async function* jsonRows(steps: Steps): AsyncGenerator<string> {
  for await (const step of steps) yield `${JSON.stringify(step)}\n`;
}

const PLACES = 36;

async function* textRows(steps: Steps, { words, formats }: { words: Words; formats: Formats }): AsyncGenerator<string> {
  const { t } = words;
  const value = (given: unknown): string => cut(printable(formats.value(given) ?? '—'), PLACES);
  const who = (by: Actor | null): string => printable(by === null ? t('restore.unknown') : textOfActor(by, words));
  for await (const { id, title, act, field, to, now, by, at, changedAgain } of steps) {
    const named = `${printable(title ?? '')}  ${printable(id)}`.trim();
    const what = act === 'set' ? `${printable(field ?? '')}: ${value(now)} → ${value(to)}` : t(`restore.${act}`);
    const again =
      changedAgain === null
        ? ''
        : `  ${t('restore.again', { at: formats.dateTime(changedAgain.at), by: who(changedAgain.by) })}`;
    yield `${named}  ${what}  (${formats.dateTime(at)}, ${who(by)})${again}\n`;
  }
}

export { restorePlan as 'restore-plan' };
