/** Writes rows as they come. */
import { sheetText, type Sheet } from '../actions/sheet.js';
import type { Io } from './io.js';

/** A row each would take longer to write than to make. */
const WRITTEN_AT_ONCE = 64 * 1_024;

/** @returns the exit code */
export async function writeSheet(sheet: Sheet, io: Io): Promise<number> {
  return Number((await writtenRows(sheetText(sheet), io)).isCut);
}

/** @returns how many were written, and whether the reader closed the output, or the command was stopped, before the end */
export async function writtenRows(rows: AsyncIterable<string>, io: Io): Promise<{ count: number; isCut: boolean }> {
  let [count, waiting] = [0, ''];
  for await (const row of rows) {
    if (io.signal.aborted) return { count, isCut: true };
    waiting += row;
    count += 1;
    if (waiting.length < WRITTEN_AT_ONCE && count > 1) continue;
    await io.write(waiting);
    waiting = '';
  }
  await io.write(waiting);
  return { count, isCut: io.signal.aborted };
}
