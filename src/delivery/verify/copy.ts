/** The rows of a receiver's copy: from a file, or from a program. A row that cannot be read ends the comparison with a sentence that says where. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { z } from 'zod';
import type { ListName, Lists } from '../../crm/lists/lists.js';
import { describe, reasonOfConnection, usage } from '../../kit/errors.js';
import type { HeldRecord } from './compare.js';

/** What a receiver has of one record. */
export interface CopyRow {
  /** @defaultValue the only workspace */
  workspace?: string | undefined;
  /** Its name, path or object: `people`, `person`. */
  list: string;
  id: string;
  /** The highest one that the receiver has got of the record. A text of digits is allowed. */
  sequence: number | string;
  /** The receiver knows that it is gone. @defaultValue false */
  deleted?: boolean | undefined;
  /** Its contents, which decide where sequences differ. @defaultValue only sequences are compared */
  data?: object | undefined;
}

/** A checked row. */
export interface PlacedRow extends HeldRecord {
  /** Where it stands, for a sentence about it. */
  where: string;
  workspace: string;
  list: ListName;
  id: string;
  data?: object | undefined;
}

interface GivenRow {
  where: string;
  row: unknown;
}

/** Rows of a copy, each with where it stands, in steps. */
export interface GivenCopy {
  /** `file`, or `rows` of a program. */
  from: 'file' | 'rows';
  /** Changes that were logged later are not in it; ms. */
  asOfMs: number;
  rows: AsyncIterable<readonly GivenRow[]>;
}

/** Up to 2^53: from the second epoch on, a sequence has 16 digits. */
const wholeNumber = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform(Number)
  .refine(Number.isSafeInteger);

const rowSchema = z.object({
  workspace: z.string().min(1).nullish(),
  list: z.string().min(1),
  id: z.string().min(1),
  sequence: z.union([z.number().int().nonnegative(), wholeNumber]),
  deleted: z
    .union([z.boolean(), z.literal(['true', 't', '1', 'yes', 'false', 'f', '0', 'no', ''])])
    .nullish()
    .transform((given) => given === true || ['true', 't', '1', 'yes'].includes(String(given))),
  data: z.custom<object>((given) => typeof given === 'object' && given !== null).nullish(),
});

const ALLOWED: Readonly<Record<string, string>> = {
  workspace: 'the name of a workspace',
  list: 'the name of a list',
  id: 'the id of a record, as a text',
  sequence: 'a whole number',
  deleted: 'true or false',
  data: 'an object',
};

/** @throws ChangefeedError CF_USAGE */
export function placeRow(
  { where, row }: GivenRow,
  { lists, workspaces }: { lists: (workspace: string) => Lists; workspaces: readonly string[] },
): PlacedRow {
  const checked = rowSchema.safeParse(row);
  const name = String(checked.error?.issues[0]?.path[0] ?? '');
  if (!checked.success) {
    if (name === '') throw refused(where, `expected an object with list, id and sequence, found ${describe(row)}`);
    const found = describe((row as Record<string, unknown>)[name]);
    throw refused(where, `${name}: expected ${ALLOWED[name]}, found ${found}`);
  }
  const { workspace: given, list: word, data, ...rest } = checked.data;
  const workspace = given ?? workspaces[0] ?? '';
  if (given == null && workspaces.length !== 1)
    throw refused(where, `no workspace; name it in each row, or with --workspace (${workspaces.join(', ')})`);
  if (!workspaces.includes(workspace))
    throw refused(where, `there is no workspace ${quoted(workspace)} for this subscription (${workspaces.join(', ')})`);
  const known = lists(workspace);
  const list = known.parse(word) ?? known.byObject(word);
  if (list === undefined)
    throw refused(where, `there is no list ${quoted(word)} (${known.all.map((one) => one.name).join(', ')})`);
  return { where, workspace, list: list.name, ...rest, ...(data != null && { data }) };
}

export function refused(where: string, problem: string): Error {
  return usage(`verify, ${where}: ${problem}. Nothing was sent.`);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));

/** Rows, or the path of a file with them: `.csv`, `.ndjson`. */
export type Copy = string | AsyncIterable<CopyRow> | Iterable<CopyRow>;

/** A row of a program is named by its number. @throws ChangefeedError CF_USAGE when there is no such file */
export async function openCopy(copy: Copy, nowMs: number): Promise<GivenCopy> {
  return typeof copy === 'string' ? await copyOfFile(copy) : copyOfRows(copy, nowMs);
}

function copyOfRows(rows: AsyncIterable<CopyRow> | Iterable<CopyRow>, asOfMs: number): GivenCopy {
  const numbered = async function* () {
    let number = 0;
    for await (const row of rows) {
      number += 1;
      yield [{ where: `row ${number}`, row }];
    }
  };
  return { from: 'rows', asOfMs, rows: numbered() };
}

/** `.csv`: the first line names the columns. `.ndjson` or `.jsonl`: one object a line. */
async function copyOfFile(path: string): Promise<GivenCopy> {
  const [name, kind] = [basename(path), extname(path).toLowerCase()];
  if (kind !== '.csv' && kind !== '.ndjson' && kind !== '.jsonl')
    throw refused(name, 'expected a file whose name ends with .csv or .ndjson');
  const facts = await stat(path).catch((error: unknown) => {
    throw refused(name, `it cannot be read (${reasonOfConnection(error)})`);
  });
  if (!facts.isFile()) throw refused(name, 'it is no file');
  // What changed while it was written may be missing in it.
  const asOfMs = Math.min(facts.mtimeMs, facts.birthtimeMs > 0 ? facts.birthtimeMs : facts.mtimeMs);
  return { from: 'file', asOfMs, rows: kind === '.csv' ? csvRows(path) : jsonRows(path) };
}

async function* jsonRows(path: string): AsyncGenerator<GivenRow[]> {
  const name = basename(path);
  for await (const lines of linesOf(path))
    yield lines.flatMap(({ text, number, isCut }) => {
      if (text.trim() === '') return [];
      const where = `${name}, line ${number}`;
      return [{ where, row: jsonIn(text, where, isCut) }];
    });
}

function jsonIn(text: string, where: string, isCut: boolean): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw refused(where, isCut ? 'the file ends in the middle of this line: write it again' : 'it is not JSON');
  }
}

const NEEDED = ['list', 'id', 'sequence'];
const USED = new Set(Object.keys(ALLOWED).filter((name) => name !== 'data'));

async function* csvRows(path: string): AsyncGenerator<GivenRow[]> {
  const name = basename(path);
  let columns: string[] | null = null;
  for await (const lines of csvLines(path)) {
    const rows: GivenRow[] = [];
    for (const { cells, number, isCut } of lines) {
      const where = `${name}, line ${number}`;
      if (columns === null) columns = columnsIn(cells, where);
      else if (cells.length > 1 || cells[0] !== '') rows.push({ where, row: csvRow(cells, { columns, where, isCut }) });
    }
    yield rows;
  }
  if (columns === null) throw refused(name, 'it is empty; expected a first line with list, id, sequence');
}

function columnsIn(cells: readonly string[], where: string): string[] {
  const columns = cells.map((cell) => cell.trim());
  const missing = NEEDED.filter((name) => !columns.includes(name));
  if (missing.length === 0) return columns;
  const found = columns.slice(0, 20).map(quoted).join(', ');
  throw refused(where, `no column ${missing.join(', ')}; expected list, id, sequence, found ${found}`);
}

function csvRow(
  cells: readonly string[],
  { columns, where, isCut }: { columns: readonly string[]; where: string; isCut: boolean },
): Record<string, string> {
  if (cells.length !== columns.length) {
    const problem = `expected ${columns.length} values, found ${cells.length}`;
    throw refused(where, isCut ? `the file ends in the middle of this line (${problem}): write it again` : problem);
  }
  const row: Record<string, string> = {};
  for (const [at, name] of columns.entries()) {
    const cell = cells[at] ?? '';
    if (USED.has(name) && (name !== 'workspace' || cell !== '')) row[name] = cell;
  }
  return row;
}

/** A value in quotes may contain line ends. */
async function* csvLines(path: string): AsyncGenerator<{ cells: string[]; number: number; isCut: boolean }[]> {
  let [whole, from] = ['', 0];
  for await (const lines of linesOf(path)) {
    const found = [];
    for (const { text, number, isCut } of lines) {
      if (whole === '') from = number;
      whole = whole === '' ? text : `${whole}\n${text}`;
      if (whole.length > LONGEST_LINE) throw tooLong(path, from);
      if (isInQuotes(whole)) continue;
      found.push({ cells: cellsOf(whole), number: from, isCut });
      whole = '';
    }
    yield found;
  }
  if (whole !== '') throw refused(`${basename(path)}, line ${from}`, 'a quote is not closed: the file may be cut off');
}

function isInQuotes(text: string): boolean {
  let quotes = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) quotes += 1;
  return quotes % 2 === 1;
}

function cellsOf(text: string): string[] {
  if (!text.includes('"')) return text.split(',');
  return [...text.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, inQuotes, plain = '']) => inQuotes?.replaceAll('""', '"') ?? plain,
  );
}

const LONGEST_LINE = 10_000_000;
const BYTE_ORDER_MARK = '\ufeff';

interface Line {
  text: string;
  number: number;
  /** The file ends without a line end after it. */
  isCut: boolean;
}

/** The lines of a file end with LF or CRLF. They come in steps. */
async function* linesOf(path: string): AsyncGenerator<Line[]> {
  let [rest, number] = ['', 0];
  const line = (text: string, isCut: boolean): Line => {
    number += 1;
    const start = number === 1 && text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
    return { text: text.slice(start, text.endsWith('\r') ? -1 : undefined), number, isCut };
  };
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop() ?? '';
    yield lines.map((text) => line(text, false));
    if (rest.length > LONGEST_LINE) throw tooLong(path, number + 1);
  }
  if (rest !== '') yield [line(rest, true)];
}

function tooLong(path: string, number: number): Error {
  return refused(`${basename(path)}, line ${number}`, `it has more than ${LONGEST_LINE} characters`);
}
