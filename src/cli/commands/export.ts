/** A list as it is, or as it was, row by row. */
import { sheetText } from '../../actions/sheet.js';
import type { CrmRecord } from '../../crm/record.js';
import { isoTime, systemClock } from '../../kit/clock.js';
import { usage } from '../../kit/errors.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { wordsFor } from '../../words/words.js';
import { formatsOf, languageOf } from '../answers.js';
import { listArgument, separated, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option, type CommandService } from '../command.js';
import { writtenRows } from '../written-rows.js';

export const exportCommand = defineFeedCommand({
  input: {
    list: listArgument('the name of a list'),
    asOf: option('time', 'as it was then; without a zone, of the workspace (default: now)', asText),
    csv: flag('for a spreadsheet'),
    ndjson: flag('a record a line, as JSON (default)'),
    fields: option('list', 'only these fields, separated by commas', separated),
    workspace: workspaceOption('the workspace, if there are several'),
  },
  async run({ list, asOf, csv = false, ndjson = false, fields, workspace }, service, io) {
    if (csv && ndjson) throw usage('export: give --csv or --ndjson, not both.');
    const { feed, config } = service;
    const now = isoTime(systemClock.now());
    const { t } = wordsFor(languageOf(config, io.env));
    const formats = formatsOf(config, io.env, now);
    const seen = await fieldsOf(service, { list, workspace });
    for (const field of fields ?? []) refuseUnknown(field, seen);
    const since = await feed.historySince(list, workspace);
    const records = feed.recordsAsOf(list, asOf ?? now, { workspace });
    const { rows, left } = rowsOf(records, { csv, fields, seen });
    if (since !== null) io.err(t('export.since', { list, since: formats.dateTime(since) }));
    const { count, isCut } = await writtenRows(rows, io);
    if (left.size > 0) io.err(t('export.left', { fields: [...left].join(', ') }));
    io.err(t(isCut ? 'export.cut' : 'export.done', { count: formats.number(csv ? Math.max(0, count - 1) : count) }));
    return isCut ? 1 : 0;
  },
});

export { exportCommand as export };

async function fieldsOf(
  { feed }: CommandService,
  { list, workspace }: { list: string; workspace: string | undefined },
) {
  const { fields } = await feed.lists.schema(list, workspace);
  return fields.map(({ field }) => field);
}

function refuseUnknown(field: string, seen: readonly string[]): void {
  if (field === 'id' || seen.includes(field)) return;
  throw usage(`export: no record has a field "${field}"${didYouMean(field, seen)}.`);
}

interface Form {
  csv: boolean;
  fields: readonly string[] | undefined;
  seen: readonly string[];
}

/** `left`: fields of records that the columns do not have, because no record has them now. */
function rowsOf(records: AsyncIterable<CrmRecord>, { csv, fields, seen }: Form) {
  const columns = ['id', ...(fields ?? seen).filter((field) => field !== 'id')];
  const left = new Set<string>();
  const known = new Set(columns);
  async function* noted(): AsyncGenerator<CrmRecord> {
    for await (const record of records) {
      if (fields === undefined)
        for (const [field, value] of Object.entries(record)) if (value !== null && !known.has(field)) left.add(field);
      yield record;
    }
  }
  async function* lines(): AsyncGenerator<string> {
    for await (const record of records)
      yield `${JSON.stringify(fields === undefined ? record : only(record, columns))}\n`;
  }
  return { rows: csv ? sheetText({ columns, rows: noted() }) : lines(), left };
}

function only(record: CrmRecord, columns: readonly string[]): object {
  return Object.fromEntries(columns.flatMap((field) => (Object.hasOwn(record, field) ? [[field, record[field]]] : [])));
}
