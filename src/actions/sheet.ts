/** A table for a spreadsheet: the same from the page, its API and the commands. */
import { textOfValue } from '../events/describe.js';

/** By the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

export interface Sheet {
  columns: readonly string[];
  rows: Iterable<Row> | AsyncIterable<Row>;
}

/** What a file is, and what a spreadsheet takes from the clipboard. */
export const FORMS = { 'text/csv': ',', 'text/tab-separated-values': '\t' } as const;
export type Form = keyof typeof FORMS;

/** Without it, spreadsheets read Korean in another encoding. */
const BOM = '\ufeff';

/** The form that a request asks for; null: none of these. */
export function formIn(accept = ''): Form | null {
  return Object.keys(FORMS).find((one): one is Form => accept.startsWith(one)) ?? null;
}

/** Row by row, the names of the columns first. */
export async function* sheetText({ columns, rows }: Sheet, form: Form = 'text/csv'): AsyncGenerator<string> {
  const separator = FORMS[form];
  yield (form === 'text/csv' ? BOM : '') + line(columns, separator);
  for await (const row of rows) {
    yield line(
      columns.map((column) => row[column]),
      separator,
    );
  }
}

function line(values: readonly unknown[], separator: string): string {
  return `${values.map(cell).join(separator)}\r\n`;
}

/** A reference by its name, another object as JSON. */
function cell(value: unknown): string {
  const plain = textOfValue(value) ?? '';
  const text = typeof value === 'number' || typeof value === 'boolean' ? plain : harmless(plain);
  return /[",\t\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A text that a spreadsheet would run as a formula is a text there. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text;
}
