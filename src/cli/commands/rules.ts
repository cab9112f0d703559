import type { RulesPreview } from '../../app/changefeed.js';
import type { ListName } from '../../crm/lists/lists.js';
import { listNamed, separated, word } from '../arguments.js';
import { argument, asText, defineCommand, flag, option, withFeed } from '../command.js';
import { table, type Colours } from '../text.js';

export const rules = defineCommand({
  name: 'rules',
  description: 'rules test <list>: what other rules would have made of the events in the log',
  input: {
    test: argument('the word "test"', word('test')),
    list: argument('the list', asText),
    ignore: option('fields', 'field patterns, separated by commas', separated),
    only: option('fields', 'field patterns, separated by commas', separated),
    refreshed: option('fields', 'field patterns, separated by commas', separated),
    workspace: option('name', 'the workspace, if there are several', asText),
    json: flag('print it as JSON'),
  },
  async run({ list, ignore = [], only, refreshed = [], workspace, json = false, config }, io) {
    const [name, preview] = await withFeed(
      io,
      config,
      async ({ feed, lists }) => {
        const named = listNamed(list, lists);
        return [named, await feed.lists.previewRules(named, { ignore, only, refreshed }, { workspace })] as const;
      },
      ({ lists }) => void listNamed(list, lists),
    );
    io.out(json ? JSON.stringify(preview) : previewText(name, preview, io.colours.out));
    return 0;
  },
});

function previewText(list: ListName, { looked, counts, events }: RulesPreview, colours: Colours): string {
  const rows = events.map(({ type, subject, outcome, before, after, rule }) => [
    type,
    subject,
    outcome,
    `${before.join(', ')} → ${after.join(', ') || 'nothing'}`,
    rule ?? '',
  ]);
  const head = `List "${list}": of ${looked} events in the log, ${counts.same} would be the same, ${counts.different} different, ${counts.muted} muted.`;
  return rows.length === 0 ? head : `${head}\n${table(['type', 'record', 'outcome', 'fields', 'rule'], rows, colours)}`;
}
