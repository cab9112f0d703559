import type { ListSchema } from '../../app/changefeed.js';
import type { ListName } from '../../crm/lists/lists.js';
import { listsNamed } from '../arguments.js';
import { asText, defineCommand, flag, option, restArguments, withFeed } from '../command.js';
import { typesText } from '../schema-types.js';
import { table, type Colours } from '../text.js';

export const schema = defineCommand({
  name: 'schema',
  description: 'the fields seen in each list, their value types, and on how many rows',
  input: {
    lists: restArguments('only these lists', asText),
    types: flag('print TypeScript types'),
    workspace: option('name', 'the workspace, if there are several', asText),
    json: flag('print it as JSON'),
  },
  async run({ lists, types = false, workspace, json = false, config }, io) {
    const seen = await withFeed(
      io,
      config,
      async ({ feed, lists: known }) => {
        const names = lists.length > 0 ? listsNamed(lists, known) : feed.lists.names(workspace);
        const chosen = known.all.filter(({ name }) => names.includes(name));
        return await Promise.all(
          chosen.map(async (list) => ({ list, schema: await feed.lists.schema(list.name, workspace) })),
        );
      },
      ({ lists: known }) => void listsNamed(lists, known),
    );
    const text = ({ list, schema: one }: (typeof seen)[number]): string =>
      types ? typesText(list, one) : schemaText(list.name, one, io.colours.out);
    const data = Object.fromEntries(seen.map(({ list, schema: one }) => [list.name, one]));
    io.out(json ? JSON.stringify(data) : seen.map(text).join('\n\n'));
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
