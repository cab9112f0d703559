/** Serves pages of the synthetic workspace: which rows, from which view, with which cursor. */
import type { SandboxList, SandboxListName } from '../world/lists.js';
import { pageBody, type NextCursor } from '../../src/ops/server/read-api/envelope.js';
import type { PageQuery, Source, SourceAnswer } from '../../src/ops/server/read-api/source.js';
import type { Behaviour } from '../faults/behaviour.js';
import { varies, varied, rendered, withoutNulls } from '../faults/rendering.js';
import type { Order } from '../world/orders.js';
import type { World } from '../world/world.js';
import { Cursors, type PagePosition, type Resumed } from './cursors.js';
import { Snapshots, type WorldView } from './snapshots.js';

/** The contents of a completely delivered page. */
export interface PageShown {
  readonly list: SandboxListName;
  readonly rows: readonly { readonly index: number; readonly version: number }[];
  /** Whether this row, now removed, would have been on this page. */
  readonly covers: (row: number) => boolean;
  /** Time of the request; ms. */
  readonly askedAt: number;
  /** True for the last page of the list. */
  readonly end: boolean;
  readonly view: WorldView;
  readonly cursor: string | null;
  readonly nextCursor: NextCursor;
}

export interface PagerOptions {
  world: World;
  behaviour: () => Behaviour;
  now: () => number;
  seed: number;
  shown: (page: PageShown) => void;
  /** Whether a fault of paging occurs in this request. */
  happens: (fault: 'stale' | 'repeated-cursor') => boolean;
}

interface PageCut {
  view: WorldView;
  snapshot: string | null;
  rows: Order;
  from: number;
  /** The row the page begins after; null for the first page. */
  after: number | null;
}

export class Pager implements Source {
  readonly #options: PagerOptions;
  readonly #cursors: Cursors;
  /** Pages as bytes, by list, first row and number of rows: a list that does not change costs little more than sending them. */
  readonly #pages = new Map<string, { body: Buffer; state: string; behaviour: Behaviour }>();
  #bytes = 0;
  readonly #snapshots: Snapshots;
  #requests = 0;

  constructor(options: PagerOptions) {
    const { world, behaviour, now, seed } = options;
    this.#options = options;
    this.#cursors = new Cursors({ now, seed, lifetimeMs: () => behaviour().cursorLifetimeMs });
    this.#snapshots = new Snapshots(world, now);
  }

  page({ list: name, cursor }: PageQuery): Promise<SourceAnswer> {
    const list = this.#options.world.listNamed(name);
    if (list === null) return Promise.resolve(NO_SUCH_LIST);
    const behaviour = this.#options.behaviour();
    this.#options.world.asked(list.name, this.#options.now());
    const isStale = this.#options.happens('stale');
    this.#requests++;
    const cut = this.#cut(list.name, cursor, behaviour, isStale);
    if (cut === null) return Promise.resolve(this.#badCursor(list, behaviour));
    return Promise.resolve(this.#answer(list, cursor, cut, behaviour));
  }

  #cut(list: SandboxListName, cursor: string | null, behaviour: Behaviour, isStale: boolean): PageCut | null {
    const current = (): WorldView => (isStale ? this.#snapshots.lagging(behaviour) : this.#options.world);
    if (cursor === null) {
      const opened = behaviour.cursor === 'snapshot' ? this.#snapshots.open(list, behaviour) : null;
      const view = opened?.view ?? current();
      const rows = this.#rows(view, list, behaviour);
      return { view, snapshot: opened?.name ?? null, rows, from: 0, after: null };
    }
    const resumed = this.#cursors.read(behaviour.cursor, list, cursor);
    if (resumed === null) return null;
    const snapshot = resumed.by === 'position' ? resumed.snapshot : null;
    const frozen = snapshot === null ? null : this.#snapshots.get(snapshot);
    if (snapshot !== null && frozen === null) return null;
    const view = frozen ?? current();
    const rows = this.#rows(view, list, behaviour);
    const place = this.#place(list, resumed, rows, behaviour);
    if (place === null) return null;
    const from = Math.max(0, place.from - behaviour.overlap);
    return { view, snapshot, rows, from, after: place.after };
  }

  #rows(view: WorldView, list: SandboxListName, { order }: Behaviour): Order {
    return order === 'shuffled' ? view.order(list, 'creation').shuffled(this.#requests) : view.order(list, order);
  }

  #place(
    list: SandboxListName,
    resumed: Resumed,
    rows: Order,
    behaviour: Behaviour,
  ): Pick<PageCut, 'from' | 'after'> | null {
    if (resumed.by === 'position') return { from: resumed.position, after: rows.at(resumed.position - 1) ?? null };
    const index = this.#options.world.indexOf(list, resumed.id);
    if (index === null || (behaviour.cursorOfGoneRecord === 'bad' && !rows.has(index))) return null;
    return { from: rows.positionOf(index) + (rows.has(index) ? 1 : 0), after: index };
  }

  #badCursor(list: SandboxList, behaviour: Behaviour): SourceAnswer {
    switch (behaviour.badCursor) {
      case 'first-page': {
        const first = this.#cut(list.name, null, behaviour, false);
        return first === null ? refused('json') : this.#answer(list, null, first, behaviour);
      }
      case 'empty-page':
        return { outcome: 'page', body: pageBody(list.key, [], null) };
      case 'refuse-empty':
        return refused('empty');
      case 'refuse':
        return refused('json');
    }
  }

  #answer(list: SandboxList, cursor: string | null, cut: PageCut, behaviour: Behaviour): SourceAnswer {
    const { view, snapshot, rows, from } = cut;
    const indexes = rows.slice(from, from + behaviour.pageSize);
    const position = from + indexes.length;
    const last = indexes.at(-1);
    // An empty page has no last row for a cursor, so it always ends the list.
    const goesOn = last !== undefined && (position < rows.length || behaviour.end === 'empty-page');
    const lastId = last === undefined ? '' : this.#options.world.idOf(list.name, last);
    const place = { list: list.name, lastId, position, snapshot };
    const nextCursor = goesOn ? this.#nextCursor(cursor, place, behaviour) : END[behaviour.end];
    const shownRows = indexes.map((index) => ({ index, version: view.versionOf(list.name, index) }));
    const covers = coverage(cut, behaviour.order, last ?? null, !goesOn);
    const askedAt = this.#options.now();
    const shown = { list: list.name, rows: shownRows, covers, askedAt, end: !goesOn, view, cursor, nextCursor };
    return { outcome: 'page', body: this.#body(list, shown, behaviour), delivered: () => this.#options.shown(shown) };
  }

  #nextCursor(cursor: string | null, place: PagePosition, behaviour: Behaviour): string {
    if (cursor !== null && this.#options.happens('repeated-cursor')) return cursor;
    return this.#cursors.write(behaviour.cursor, place);
  }

  #body(list: SandboxList, { rows, view, nextCursor }: PageShown, behaviour: Behaviour): Buffer {
    const name = `${list.name}:${rows[0]?.index ?? -1}:${rows.length}`;
    const versions = rows.map(({ index, version }) => `${index}.${version}`).join();
    const state = `${this.#options.world.generation}:${nextCursor ?? typeof nextCursor}:${versions}`;
    const kept = this.#pages.get(name);
    // Every change of a switch makes a new object.
    if (kept?.state === state && kept.behaviour === behaviour && !varies(behaviour)) return kept.body;
    const texts = rows.flatMap(({ index }) => this.#text(list.name, view, index, behaviour) ?? []);
    const body = pageBody(list.key, texts, nextCursor);
    if (this.#bytes > MOST_BYTES) {
      this.#pages.clear();
      this.#bytes = 0;
    }
    this.#bytes += body.length - (kept?.body.length ?? 0);
    this.#pages.set(name, { body, state, behaviour });
    return body;
  }

  /** The record as JSON; null when it was removed. */
  #text(list: SandboxListName, view: WorldView, index: number, behaviour: Behaviour): string | null {
    const image = view.image(list, index);
    if (image === null) return null;
    const record = rendered(list, image, behaviour);
    if (varies(behaviour))
      return JSON.stringify(varied(record, behaviour, this.#options.seed, this.#requests * 1_009 + index));
    return JSON.stringify(behaviour.empties === 'absent' ? withoutNulls(record, () => true) : record);
  }
}

const MOST_BYTES = 256 * 1_024 * 1_024;

function coverage(
  { rows, after }: PageCut,
  order: Behaviour['order'],
  last: number | null,
  end: boolean,
): PageShown['covers'] {
  // If the order is not stable, only the end of a walk proves that a row is missing.
  if (order === 'shuffled' || order === 'last-change') return () => end;
  return (row) =>
    (after === null || rows.isBefore(after, row)) && (end || (last !== null && !rows.isBefore(last, row)));
}

const END: Readonly<Record<Behaviour['end'], NextCursor>> = {
  null: null,
  missing: undefined,
  'empty-text': '',
  'empty-page': null,
};

const NO_SUCH_LIST: SourceAnswer = { outcome: 'failure', status: 404, message: 'Not Found' };

function refused(form: 'json' | 'empty'): SourceAnswer {
  return { outcome: 'failure', status: 400, message: 'Bad Request', reason: '잘못된 cursor입니다.', form };
}
