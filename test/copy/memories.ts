/** Lists after some of the sweeps, as the feed described them then. Whatever happens later, it must describe these times in the same way. */
import type { Changefeed } from '../../src/actions/feed.js';
import { isoTime } from '../../src/kit/clock.js';
import { ChangefeedError } from '../../src/kit/errors.js';
import { contentOf, keyOf, LISTS } from './crm.js';
import type { CopyList } from './history.js';
import { countOf } from './receivers.js';

interface Memory {
  atMs: number;
  list: CopyList;
  records: ReadonlyMap<string, string>;
}

/** Reading a list as it was takes as long as reading it. */
const MOST = 6;

export class Memories {
  #kept: Memory[] = [];
  #backedUpMs = Number.NEGATIVE_INFINITY;

  async keep(feed: Changefeed, nowMs: number): Promise<void> {
    if (this.#kept.length >= MOST) return;
    // What is observed in this very moment counts as of it.
    const atMs = nowMs - 1;
    for (const list of LISTS) {
      const records = await asOf(feed, { list, atMs });
      if (records !== null) this.#kept.push({ atMs, list, records });
    }
  }

  backedUp(nowMs: number): void {
    this.#backedUpMs = nowMs;
  }

  /** What was observed since the backup is forgotten, and observed once more later. */
  wentBack(): void {
    this.#kept = this.#kept.filter(({ atMs }) => atMs < this.#backedUpMs);
  }

  /** By its own clock, the feed may observe something before what it has observed. */
  stepped(): void {
    this.#kept = [];
  }

  /** @param erased records of which nothing is kept, by list and id */
  async wrong(feed: Changefeed, erased: ReadonlySet<string>): Promise<string[]> {
    const found = this.#kept.map(async ({ atMs, list, records }) => {
      const now = await asOf(feed, { list, atMs });
      // A history that began again says nothing of the time before.
      if (now === null) return [];
      const ids = [...new Set([...records.keys(), ...now.keys()])].filter((id) => !erased.has(keyOf(list, id)));
      const other = ids.filter((id) => records.get(id) !== now.get(id));
      return other.length === 0 ? [] : [`as of ${isoTime(atMs)}, ${countOf(other)} of ${list} were otherwise`];
    });
    return (await Promise.all(found)).flat();
  }
}

async function asOf(
  feed: Changefeed,
  { list, atMs }: { list: CopyList; atMs: number },
): Promise<Map<string, string> | null> {
  const records = new Map<string, string>();
  try {
    for await (const record of feed.recordsAsOf(list, isoTime(atMs))) records.set(record.id, contentOf(record));
    return records;
  } catch (error) {
    if (error instanceof ChangefeedError && error.code === 'CF_USAGE') return null;
    throw error;
  }
}
