import type { RulesPreview } from '../../app/changefeed.js';
import type { ListName } from '../../crm/lists/lists.js';
import { listArgument, separated, word, workspaceOption } from '../arguments.js';
import { argument, defineFeedCommand, flag, option } from '../command.js';
import type { Io } from '../io.js';
import { printable, table } from '../text.js';

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

function previewText(list: ListName, { looked, counts, events }: RulesPreview, { colours, columns }: Io): string {
  const rows = events.map(({ type, subject, outcome, before, after, rule }) => [
    type,
    printable(subject),
    outcome,
    printable(`${before.join(', ')} → ${after.join(', ') || 'nothing'}`),
    rule ?? '',
  ]);
  const head = `List "${list}": of ${looked} events in the log, ${counts.same} would be the same, ${counts.different} different, ${counts.muted} muted.`;
  return rows.length === 0
    ? head
    : `${head}\n${table(['type', 'record', 'outcome', 'fields', 'rule'], rows, colours.out, columns)}`;
}
