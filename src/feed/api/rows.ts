/**
 * The rows of a page, cut out of its bytes. The digest of a row's bytes shows that most rows are as they are stored: these are
 * never parsed. What is odd about a page or a row is left to the parser.
 */
import type { UncheckedRecord } from '../../crm/record.js';
import { LONGEST_ID, MOST_LEVELS } from './unreadable.js';

export interface PageRow {
  /** The bytes as they were received. */
  readonly bytes: Buffer;
  readonly id: unknown;
  /** Parsed when it is asked for. @throws ChangefeedError CF_PAGE_MALFORMED */
  readonly record: UncheckedRecord;
}

/** A row with a usable id, of which nothing else is known yet. */
export class CutRow implements PageRow {
  #record: UncheckedRecord | undefined;

  constructor(
    readonly bytes: Buffer,
    readonly id: string,
    readonly parse: ParseRow,
  ) {}

  get record(): UncheckedRecord {
    return (this.#record ??= this.parse(this.bytes));
  }
}

/** @throws ChangefeedError CF_PAGE_MALFORMED */
export type ParseRow = (bytes: Buffer) => UncheckedRecord;

export function parsedRow(record: UncheckedRecord): PageRow {
  return { bytes: Buffer.from(JSON.stringify(record)), id: record['id'], record };
}

interface PageOfRows {
  records: readonly UncheckedRecord[];
  rows?: readonly PageRow[];
}

export function rowsOf(page: PageOfRows): readonly PageRow[] {
  return page.rows ?? page.records.map(parsedRow);
}

export interface CutPage {
  /** The page with a number in place of each row. */
  envelope: string;
  /** The rows that stand behind numbers of the envelope. */
  rowsAt: (numbers: readonly unknown[]) => PageRow[];
}

const [QUOTE, BACKSLASH, COMMA, SPACE] = [0x22, 0x5c, 0x2c, 0x20];
const [OBJECT, OBJECT_END, ARRAY, ARRAY_END] = [0x7b, 0x7d, 0x5b, 0x5d];
/** In `{"data":{"peopleList":[{…}]}}`, the list is the third level and a row the fourth. */
const LIST_LEVEL = 3;
const ROW_LEVEL = 4;

/** Null: the page is parsed as a whole, because it is no JSON, or has an array with something else than objects. */
export function cutRows(body: Buffer, parse: ParseRow): CutPage | null {
  const rows: PageRow[] = [];
  let [envelope, rest, level, start, deepest, ids] = ['', 0, 0, 0, 0, 0];
  let inList = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) {
      const end = endOfText(body, at);
      if (end === -1 || (level === LIST_LEVEL && inList)) return null;
      if (level === ROW_LEVEL && isId(body, at, end)) ids += 1;
      at = end;
    } else if (byte === OBJECT || byte === ARRAY) {
      level += 1;
      if (level === LIST_LEVEL) inList = byte === ARRAY;
      if (level === ROW_LEVEL) [start, ids, deepest] = [at, 0, level];
      if (level === ROW_LEVEL && inList && byte === ARRAY) return null;
      if (level > deepest) deepest = level;
    } else if (byte === OBJECT_END || byte === ARRAY_END) {
      if (level === ROW_LEVEL && inList) {
        envelope += `${body.toString('utf8', rest, start)}${rows.length}`;
        rows.push(
          rowOf(body.subarray(start, at + 1), { isSimple: ids === 1 && deepest < ROW_LEVEL + MOST_LEVELS, parse }),
        );
        rest = at + 1;
      }
      level -= 1;
    } else if (level === LIST_LEVEL && inList && byte > SPACE && byte !== COMMA) return null;
  }
  if (level !== 0) return null;
  const rowsAt = (numbers: readonly unknown[]): PageRow[] => numbers.flatMap((nth) => rows[Number(nth)] ?? []);
  return { envelope: envelope + body.toString('utf8', rest), rowsAt };
}

/** The quote that ends a text: the first one without an odd number of backslashes before it. */
function endOfText(body: Buffer, start: number): number {
  for (let end = body.indexOf(QUOTE, start + 1); end !== -1; end = body.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (body[before] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

function isId(body: Buffer, start: number, end: number): boolean {
  return end - start === 3 && body[start + 1] === 0x69 && body[start + 2] === 0x64;
}

const ID_FIRST = Buffer.from('{"id":"');

/** @param isSimple its only `id` is a name or a value of the row itself, and it is not nested too deeply */
function rowOf(bytes: Buffer, { isSimple, parse }: { isSimple: boolean; parse: ParseRow }): PageRow {
  const start = ID_FIRST.length;
  const end = bytes.indexOf(QUOTE, start);
  if (isSimple && end > start && end < LONGEST_ID && bytes.compare(ID_FIRST, 0, start, 0, start) === 0) {
    const id = bytes.toString('utf8', start, end);
    if (!id.includes('\\')) return new CutRow(bytes, id, parse);
  }
  const record = parse(bytes);
  return { bytes, id: record['id'], record };
}
