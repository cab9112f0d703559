import type { RulesPreview } from '../../app/changefeed.js';
import type { ListName } from '../../crm/lists/lists.js';
import { listArgument, separated, word, workspaceOption } from '../arguments.js';
import { argument, defineFeedCommand, flag, option } from '../command.js';
import type { Io } from '../io.js';
import { fitted, printable, table, widthOf } from '../text.js';

export const rules = defineFeedCommand({
  input: {
    test: argument('the word "test"', word('test')),
    list: listArgument('the list'),
    ignore: option('fields', 'field patterns, separated by commas', separated),
    only: option('fields', 'field patterns, separated by commas', separated),
    refreshed: option('fields', 'field patterns, separated by commas', separated),
    workspace: workspaceOption('the workspace, if there are several'),
    json: flag('print it as JSON'),
  },
  async run({ list, ignore = [], only, refreshed = [], workspace, json = false }, { feed }, io) {
    const preview = await feed.lists.previewRules(list, { ignore, only, refreshed }, workspace);
    io.out(json ? JSON.stringify(preview) : previewText(list, preview, io));
  },
});

function previewText(
  list: ListName,
  { looked, counts, events }: RulesPreview,
  { colours, columns = Infinity }: Io,
): string {
  const rows = events.map(({ type, subject, outcome, before, after, rule }) => [
    type,
    printable(subject),
    outcome,
    printable(`${before.join(', ')} → ${after.join(', ') || 'nothing'}`),
    rule ?? '',
  ]);
  const head = fitted(
    `List "${list}": of ${looked} events in the log, ${counts.same} would be the same, ${counts.different} different, ${counts.muted} muted.`,
    columns,
  );
  if (rows.length === 0) return head;
  const wide = table(['type', 'record', 'outcome', 'fields', 'rule'], rows, colours.out);
  if (wide.split('\n').every((line) => widthOf(line) <= columns)) return `${head}\n${wide}`;
  return [head, ...rows.map((row) => blockText(row, columns))].join('\n');
}

/** Two lines or more for a narrow terminal. The id stays whole, so that it can be copied. */
function blockText([type, record, outcome, fields, rule]: readonly string[], columns: number): string {
  return fitted([`${type}  ${record}`, `  ${outcome}: ${fields} (${rule})`].join('\n'), columns);
}
