/** Serves pages of the synthetic workspace: which rows, from which view, with which cursor. */
import type { SandboxList, SandboxListName } from '../world/lists.js';
import { pageBody, pageHead, pageTail, type NextCursor } from '../../server/read-api/envelope.js';
import type { PageQuery, Source, SourceAnswer } from '../../server/read-api/source.js';
import type { Behaviour } from '../faults/behaviour.js';
import { varies, varied, rendered, withoutNulls } from '../faults/rendering.js';
import type { World } from '../world/world.js';
import { Cursors, type PagePosition, type Resumed } from './cursors.js';
import { PageCache, type RowVersion } from './page-cache.js';
import { rowsOf, type Rows } from './rows.js';
import { Snapshots } from './snapshots.js';
import { liveView, type View } from './view.js';

/** What a completely delivered page showed. */
export interface PageShown {
  readonly list: SandboxListName;
  readonly rows: readonly RowVersion[];
  /** Whether this row, now removed, would have been on this page. */
  readonly covers: (row: number) => boolean;
  /** Time of the request; ms. */
  readonly askedAt: number;
  /** True for the last page of the list. */
  readonly end: boolean;
  readonly view: View;
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

interface Selection {
  view: View;
  snapshot: string | null;
  rows: Rows;
  from: number;
  /** The row the page begins after; null for the first page. */
  after: number | null;
}

export class Pager implements Source {
  readonly #options: PagerOptions;
  readonly #cursors: Cursors;
  readonly #cache = new PageCache();
  readonly #snapshots: Snapshots;
  readonly #live: View;
  #requests = 0;

  constructor(options: PagerOptions) {
    const { world, behaviour, now, seed } = options;
    this.#options = options;
    this.#cursors = new Cursors({ now, seed, lifetimeMs: () => behaviour().cursorLifetimeMs });
    this.#snapshots = new Snapshots(world, now);
    this.#live = liveView(world);
  }

  page({ list: name, cursor }: PageQuery): Promise<SourceAnswer> {
    const list = this.#options.world.listNamed(name);
    if (list === null) return Promise.resolve(NO_SUCH_LIST);
    const behaviour = this.#options.behaviour();
    const lagMs = this.#options.happens('stale') ? behaviour.staleMs : null;
    this.#requests++;
    const cut = this.#cut(list.name, cursor, behaviour, lagMs);
    if (cut === null) return Promise.resolve(this.#badCursor(list, behaviour));
    return Promise.resolve(this.#answer(list, cursor, cut, behaviour));
  }

  #cut(list: SandboxListName, cursor: string | null, behaviour: Behaviour, lagMs: number | null): Selection | null {
    const { order } = behaviour;
    const current = (): View => (lagMs === null ? this.#live : this.#snapshots.lagging(order, lagMs));
    if (cursor === null) {
      const opened =
        behaviour.cursor === 'snapshot' ? this.#snapshots.open(list, order, behaviour.cursorLifetimeMs) : null;
      const view = opened?.view ?? current();
      const rows = rowsOf(view, list, order, this.#requests);
      return { view, snapshot: opened?.name ?? null, rows, from: 0, after: null };
    }
    const resumed = this.#cursors.read(behaviour.cursor, list, cursor);
    const snapshot = resumed.by === 'position' ? resumed.snapshot : null;
    const frozen = snapshot === null ? null : this.#snapshots.get(snapshot);
    if (snapshot !== null && frozen === null) return null;
    const view = frozen ?? current();
    const rows = rowsOf(view, list, order, this.#requests);
    const place = this.#place(list, resumed, rows, behaviour);
    if (place === null) return null;
    const from = Math.max(0, place.from - behaviour.overlap);
    return { view, snapshot, rows, from, after: place.after };
  }

  #place(
    list: SandboxListName,
    resumed: Resumed,
    rows: Rows,
    behaviour: Behaviour,
  ): Pick<Selection, 'from' | 'after'> | null {
    if (resumed.by === 'nothing') return null;
    if (resumed.by === 'position') return { from: resumed.position, after: rows.at(resumed.position - 1) ?? null };
    const index = this.#options.world.indexOf(list, resumed.id);
    if (index === null || (behaviour.cursorOfGoneRecord === 'bad' && !rows.has(index))) return null;
    return { from: rows.positionAfter(index), after: index };
  }

  #badCursor(list: SandboxList, behaviour: Behaviour): SourceAnswer {
    switch (behaviour.badCursor) {
      case 'first-page': {
        const first = this.#cut(list.name, null, behaviour, null);
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

  #answer(list: SandboxList, cursor: string | null, cut: Selection, behaviour: Behaviour): SourceAnswer {
    const { view, snapshot, rows, from } = cut;
    const indexes = rows.slice(from, from + behaviour.pageSize);
    const position = from + indexes.length;
    const last = indexes.at(-1);
    // An empty page has no last row for a cursor, so it always ends the list.
    const goesOn = last !== undefined && (position < rows.length || behaviour.end === 'empty-page');
    const nextCursor = goesOn
      ? this.#nextCursor(cursor, { list: list.name, last, position, snapshot }, behaviour)
      : END[behaviour.end];
    const page = this.#draw({ list, view, indexes, nextCursor, behaviour });
    const covers = coverage(cut, last ?? null, !goesOn);
    const askedAt = this.#options.now();
    const { body, rows: shownRows } = page;
    const shown = { list: list.name, rows: shownRows, covers, askedAt, end: !goesOn, view, cursor, nextCursor };
    return { outcome: 'page', body, delivered: () => this.#options.shown(shown) };
  }

  #nextCursor(
    cursor: string | null,
    place: Omit<PagePosition, 'lastId'> & { last: number },
    behaviour: Behaviour,
  ): string {
    if (cursor !== null && this.#options.happens('repeated-cursor')) return cursor;
    const lastId = this.#options.world.idOf(place.list, place.last);
    return this.#cursors.write(behaviour.cursor, { ...place, lastId });
  }

  #draw({ list: { name: list, key }, view, indexes, nextCursor, behaviour }: Drawing): {
    body: Buffer;
    rows: readonly RowVersion[];
  } {
    const { world, seed } = this.#options;
    const isStill = view.live && !varies(behaviour) && behaviour.order !== 'shuffled';
    const request = this.#requests;
    const text = (index: number): string | null => {
      const image = view.image(list, index);
      if (image === null) return null;
      const record = rendered(list, image, behaviour);
      if (behaviour.empties === 'absent') return JSON.stringify(withoutNulls(record, () => true));
      return JSON.stringify(varies(behaviour) ? varied(record, behaviour, seed, request * 1_009 + index) : record);
    };
    const head = (rows: readonly RowVersion[]): Buffer =>
      pageHead(
        key,
        rows.flatMap(({ index }) => text(index) ?? []),
      );
    const versionOf = (index: number): number => view.versionOf(list, index);
    if (isStill) {
      const form = `${world.generation}:${formOf(behaviour)}`;
      return this.#cache.page(
        { list, form, listVersion: world.listVersion(list), indexes, versionOf, nextCursor },
        head,
      );
    }
    const rows = indexes.map((index) => ({ index, version: versionOf(index) }));
    return { body: Buffer.concat([head(rows), Buffer.from(pageTail(nextCursor))]), rows };
  }
}

interface Drawing {
  list: SandboxList;
  view: View;
  indexes: readonly number[];
  nextCursor: NextCursor;
  behaviour: Behaviour;
}

function coverage({ rows, after }: Selection, last: number | null, end: boolean): (row: number) => boolean {
  const { isBefore } = rows;
  // If the order is not stable, only the end of a walk proves that a row is missing.
  if (isBefore === null) return () => end;
  return (row) => (after === null || isBefore(after, row)) && (end || (last !== null && !isBefore(last, row)));
}

const END: Readonly<Record<Behaviour['end'], NextCursor>> = {
  null: null,
  missing: undefined,
  'empty-text': '',
  'empty-page': null,
};

/** Everything besides the records that the rendering of a page depends on, as a cache key. */
function formOf(behaviour: Behaviour): string {
  const { order, todoNames, extras, stamps, drift, historySource, empties } = behaviour;
  return [order, todoNames, extras, stamps, drift, historySource, empties].join();
}

const NO_SUCH_LIST: SourceAnswer = { outcome: 'failure', status: 404, message: 'Not Found' };

function refused(form: 'json' | 'empty'): SourceAnswer {
  return { outcome: 'failure', status: 400, message: 'Bad Request', reason: '잘못된 cursor입니다.', form };
}
