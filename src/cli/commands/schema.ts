import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ListSchema } from '../../feed/detect/schema-drift/schema.js';
import type { ListName } from '../../crm/lists/lists.js';
import { messageOf, usage } from '../../kit/errors.js';
import { listArguments, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option } from '../command.js';
import type { Io } from '../io.js';
import { typesFile } from '../schema-types.js';
import { printable, table } from '../text.js';

export const schema = defineFeedCommand({
  byLastValid: true,
  input: {
    lists: listArguments('only these lists'),
    types: flag('TypeScript types of the records, for your handlers'),
    output: option('file', 'with --types: the file to write, such as records.d.ts', asText, '-o, '),
    workspace: workspaceOption('the workspace, if there are several'),
    json: flag('print it as JSON'),
  },
  async run({ lists, types = false, output, workspace, json = false }, { feed, lists: known }, io) {
    if (output !== undefined && (!types || json)) throw usage('schema: --output goes with --types.');
    const names = lists.length > 0 ? lists : feed.lists.names(workspace);
    const chosen = known.all.filter(({ name }) => names.includes(name));
    const seen = await Promise.all(
      chosen.map(async (list) => ({ list, schema: await feed.lists.schema(list.name, workspace) })),
    );
    if (types && !json) {
      const file = typesFile(seen);
      if (output === undefined) io.out(file);
      else await write(resolve(io.cwd, output), file);
      return;
    }
    const data = Object.fromEntries(seen.map(({ list, schema: one }) => [list.name, one]));
    if (json) io.out(JSON.stringify(data));
    else io.out(seen.map(({ list, schema: one }) => schemaText(list.name, one, io)).join('\n\n'));
  },
});

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, `${text}\n`);
  } catch (cause) {
    throw usage(`--output: ${messageOf(cause)}.`, cause);
  }
}

function schemaText(list: ListName, { rows, fields }: ListSchema, { colours, columns }: Io): string {
  const lines = fields.map(({ field, share, forms }) => [
    printable(field),
    `${Math.round(share * 1_000) / 10} %`,
    forms.map(({ form, rows: count }) => `${form} ×${count}`).join(', '),
  ]);
  return `${list}: ${rows} rows\n${table(['field', 'rows', 'value types'], lines, colours.out, columns)}`;
}
