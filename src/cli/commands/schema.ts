import type { ListSchema } from '../../app/changefeed.js';
import type { ListName } from '../../crm/lists/lists.js';
import { listArguments, workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag } from '../command.js';
import { typesText } from '../schema-types.js';
import { table, type Colours } from '../text.js';

export const schema = defineFeedCommand({
  input: {
    lists: listArguments('only these lists'),
    types: flag('print TypeScript types'),
    workspace: workspaceOption('the workspace, if there are several'),
    json: flag('print it as JSON'),
  },
  async run({ lists, types = false, workspace, json = false }, { feed, lists: known }, io) {
    const names = lists.length > 0 ? lists : feed.lists.names(workspace);
    const chosen = known.all.filter(({ name }) => names.includes(name));
    const seen = await Promise.all(
      chosen.map(async (list) => ({ list, schema: await feed.lists.schema(list.name, workspace) })),
    );
    const text = ({ list, schema: one }: (typeof seen)[number]): string =>
      types ? typesText(list, one) : schemaText(list.name, one, io.colours.out);
    const data = Object.fromEntries(seen.map(({ list, schema: one }) => [list.name, one]));
    io.out(json ? JSON.stringify(data) : seen.map(text).join('\n\n'));
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
