/** Rows for a spreadsheet. */
import { textOfValue } from '../events/describe.js';

/** Without it, spreadsheets read Korean in another encoding. */
export const BOM = '\ufeff';

export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** A reference by its name, another object as JSON. */
function csvCell(value: unknown): string {
  const plain = textOfValue(value) ?? '';
  const text = typeof value === 'number' || typeof value === 'boolean' ? plain : harmless(plain);
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A text that a spreadsheet would run as a formula is a text there. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text;
}
