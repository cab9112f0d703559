/**
 * A CRM of two lists over HTTP. It remembers when it showed which content and when a record was not in its list, so that an event can be judged
 * by what was true. Times are ticks: each change is one.
 */
import stringify from 'fast-json-stable-stringify';
import { isoTime } from '../../src/kit/clock.js';
import { startApiServer, type ApiServer, type Reply } from '../support/api-server.js';
import type { CopyList, Served } from './history.js';

export const LISTS = ['people', 'todo'] as const;
const PATHS: Record<string, CopyList> = { '/v2/people': 'people', '/v2/todo': 'todo' };
const STAMP = '수정 날짜';
const MINUTE_MS = 60_000;
const FEW = 6;

export interface Row {
  id: string;
  [field: string]: unknown;
}

/** How the id of a row is shown that cannot be read; `deep`: its id can be read, the rest cannot. */
export type Oddity = 'half' | 'none' | 'deep';

interface ListState {
  rows: Row[];
  strangers: Row[];
  showsStrangers: boolean;
  /** This page and those after it are answered by an error; null: none. */
  brokenPage: number | null;
  odd: Map<string, Oddity>;
  /** The place of each record that there ever was. */
  places: Map<string, number>;
}

export const keyOf = (list: CopyList, id: string): string => `${list} ${id}`;

/** The time of change is left out: it alone makes no event. */
export function contentOf(record: object): string {
  const { [STAMP]: _, ...content } = record as Record<string, unknown>;
  return stringify(content);
}

export class CopyCrm {
  tick = 0;
  /** What a person has erased: no list shows it to receivers any more. */
  readonly erased = new Set<string>();
  readonly #served: Served;
  readonly #now: () => number;
  readonly #lists: Record<CopyList, ListState>;
  /** By record and content, the tick at which it was shown first. */
  readonly #shown = new Map<string, Map<string, number>>();
  /** The last tick at which a record that was shown before was not in its list. */
  readonly #lastAbsent = new Map<string, number>();
  readonly #lastOpen = new Map<string, number>();
  #server: ApiServer | undefined;

  constructor(served: Served, now: () => number) {
    this.#served = served;
    this.#now = now;
    const state = (): ListState => ({
      ...{ rows: [], strangers: [], showsStrangers: false, brokenPage: null, odd: new Map(), places: new Map() },
    });
    this.#lists = { people: state(), todo: state() };
    for (const list of LISTS) this.create(list, list === served.most ? served.size : FEW);
  }

  async start(): Promise<string> {
    this.#server = await startApiServer(({ url = '' }) => this.#answer(new URL(url, 'http://crm.invalid')));
    return this.#server.baseUrl;
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  /** What the list has now, whether it can be read or not. */
  rows(list: CopyList): readonly Row[] {
    const { rows, strangers, showsStrangers } = this.#lists[list];
    return showsStrangers ? strangers : rows;
  }

  isStranger(id: string): boolean {
    return id.startsWith('ffff');
  }

  create(list: CopyList, count: number): string[] {
    const made = Array.from({ length: count }, () => this.#make(list, '64d3'));
    this.#change(list, () => void this.#lists[list].rows.push(...made));
    return made.map(({ id }) => id);
  }

  edit(list: CopyList, id: string, fields: object): void {
    const { rows } = this.#lists[list];
    const at = rows.findIndex((row) => row.id === id);
    const row = rows[at];
    if (row === undefined) return;
    this.#change(list, () => (rows[at] = { ...row, ...fields, [STAMP]: isoTime(this.#now()) }));
  }

  remove(list: CopyList, ids: readonly string[]): Row[] {
    const state = this.#lists[list];
    const removed = state.rows.filter(({ id }) => ids.includes(id));
    this.#change(list, () => (state.rows = state.rows.filter(({ id }) => !ids.includes(id))));
    return removed;
  }

  putBack(list: CopyList, rows: readonly Row[]): void {
    this.#change(list, () => void this.#lists[list].rows.push(...rows));
  }

  /** As with the token of another workspace. */
  showStrangers(list: CopyList, on: boolean): void {
    const state = this.#lists[list];
    while (state.strangers.length < this.#served.size) state.strangers.push(this.#make(list, 'ffff'));
    this.#change(list, () => (state.showsStrangers = on));
  }

  breakPage(list: CopyList, page: number | null): void {
    this.#lists[list].brokenPage = page;
  }

  makeOdd(list: CopyList, id: string, how: Oddity): void {
    this.#change(list, () => void this.#lists[list].odd.set(id, how));
  }

  /** Records whose rows cannot be read. */
  odd(list: CopyList): string[] {
    return [...this.#lists[list].odd.keys()];
  }

  /** Everything can be read again, and the lists are their own. */
  mend(): void {
    for (const list of LISTS) {
      this.breakPage(list, null);
      this.#change(list, () => this.#lists[list].odd.clear());
      if (this.#lists[list].showsStrangers) this.showStrangers(list, false);
    }
  }

  /** The tick at which the API showed this content first; undefined: it never has. */
  shownAt(list: CopyList, record: Row): number | undefined {
    return this.#shown.get(keyOf(list, record.id))?.get(contentOf(record));
  }

  /** The tick at which the API showed this record first. */
  firstShown(list: CopyList, id: string): number {
    return Math.min(...(this.#shown.get(keyOf(list, id))?.values() ?? []));
  }

  wasAbsentSince(list: CopyList, id: string, tick: number): boolean {
    return this.#isAbsent(list, id) || (this.#lastAbsent.get(keyOf(list, id)) ?? -1) >= tick;
  }

  wasOpenSince(id: string, tick: number): boolean {
    this.#noteOpen();
    return (this.#lastOpen.get(id) ?? -1) >= tick;
  }

  #isAbsent(list: CopyList, id: string): boolean {
    return !this.rows(list).some((row) => row.id === id);
  }

  #change(list: CopyList, change: () => void): void {
    const before = new Set(this.rows(list).map(({ id }) => id));
    this.#noteOpen();
    this.tick += 1;
    change();
    for (const { id } of this.rows(list)) if (!before.has(id)) this.#lastAbsent.set(keyOf(list, id), this.tick - 1);
  }

  #noteOpen(): void {
    for (const row of this.rows('todo')) if (row['완료'] === false) this.#lastOpen.set(row.id, this.tick);
  }

  #make(list: CopyList, source: string): Row {
    const state = this.#lists[list];
    const nth = state.places.size + 1;
    const at = isoTime(this.#now() - nth * MINUTE_MS);
    const own = this.#served.oddIds && source === '64d3' && nth % 12 === 5 ? 'content-' : '';
    const id = `${own}${source}287b1750f5b1${nth.toString(16).padStart(8, '0')}`;
    state.places.set(id, nth);
    const usual = { 담당자: { id: `u-${nth % 3}`, name: `담당${nth % 3}` }, '생성 날짜': at, [STAMP]: at };
    if (list === 'people') return { id, 이름: `가상${nth}`, 이메일: `p${nth}@example.invalid`, ...usual };
    const due = isoTime(this.#now() + nth * 10 * MINUTE_MS);
    return { id, 내용: `할 일 ${nth}`, 완료: nth % 4 === 0, '마지막 날짜': due, ...usual };
  }

  #answer({ pathname, searchParams }: URL): Reply {
    const list = PATHS[pathname];
    if (list === undefined) return { status: 404, body: '<h1>404</h1>' };
    const { pageSize, end, newest } = this.#served;
    const state = this.#lists[list];
    const placed = this.rows(list).map((row) => ({ row, place: state.places.get(row.id) ?? 0 }));
    const all = placed.toSorted((a, b) => (newest === 'first' ? b.place - a.place : a.place - b.place));
    const cursor = searchParams.get('cursor');
    const isBefore = ({ place }: { place: number }): boolean =>
      cursor !== null && (newest === 'first' ? place >= Number(cursor) : place <= Number(cursor));
    const from = all.filter(isBefore).length;
    if (state.brokenPage !== null && from >= state.brokenPage * pageSize)
      return { status: 500, body: { success: false } };
    const page = all.slice(from, from + pageSize);
    const rows = page.map(({ row }) => row);
    for (const row of rows) if (!state.odd.has(row.id)) this.#noteShown(list, row);
    const goesOn = from + rows.length < all.length || (end === 'empty page' && rows.length > 0);
    const next = goesOn ? { nextCursor: String(page.at(-1)?.place) } : end === 'null' ? { nextCursor: null } : {};
    return {
      body: { success: true, data: { [`${list}List`]: rows.map((row) => this.#rendered(list, row)), ...next } },
    };
  }

  #rendered(list: CopyList, row: Row): object {
    const oddity = this.#lists[list].odd.get(row.id);
    if (oddity === 'half') return { ...row, id: '\ud83d' };
    if (oddity === 'none') return { ...row, id: null };
    return oddity === 'deep' ? { ...row, 메모: JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`) as unknown } : row;
  }

  #noteShown(list: CopyList, row: Row): void {
    const key = keyOf(list, row.id);
    const contents = this.#shown.get(key) ?? new Map<string, number>();
    const content = contentOf(row);
    if (!contents.has(content)) contents.set(content, this.tick);
    this.#shown.set(key, contents);
  }
}
