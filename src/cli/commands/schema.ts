import type { ListSchema } from '../../app/changefeed.js';
import { LIST_NAMES, type ListName } from '../../events/lists.js';
import { listName } from '../arguments.js';
import { asText, defineCommand, flag, option, restArguments, withFeed } from '../command.js';
import { typesText } from '../schema-types.js';
import { table, type Colours } from '../text.js';

export const schema = defineCommand({
  name: 'schema',
  description: 'the fields seen in each list, their value types, and on how many rows',
  input: {
    lists: restArguments('only these lists', listName),
    types: flag('print TypeScript types'),
    workspace: option('name', 'the workspace, if there are several', asText),
    json: flag('print it as JSON'),
  },
  async run({ lists, types = false, workspace, json = false, config }, io) {
    const chosen = lists.length > 0 ? lists : LIST_NAMES;
    const seen = await withFeed(io, config, ({ feed }) =>
      Promise.all(chosen.map(async (list) => [list, await feed.lists.schema(list, workspace)] as const)),
    );
    const texts = seen.map(([list, one]) => (types ? typesText(list, one) : schemaText(list, one, io.colours.out)));
    io.out(json ? JSON.stringify(Object.fromEntries(seen)) : texts.join('\n\n'));
    return 0;
  },
});

function schemaText(list: ListName, { rows, fields }: ListSchema, colours: Colours): string {
  const lines = fields.map(({ field, share, forms }) => [
    field,
    `${Math.round(share * 1_000) / 10} %`,
    forms.map(({ form, rows: count }) => `${form} ×${count}`).join(', '),
  ]);
  return `${list}: ${rows} rows\n${table(['field', 'rows', 'value types'], lines, colours)}`;
}
