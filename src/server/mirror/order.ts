/** The keys of a list, sorted, so that a cursor (the last key of a page) stays valid. Cached until the list changes. */
import type { ListName } from '../../crm/lists/lists.js';
import type { MirrorStore } from './store.js';

export class KeyOrder {
  readonly #store: MirrorStore;
  readonly #kept = new Map<ListName, { version: string; keys: Promise<readonly string[]> }>();

  constructor(store: MirrorStore) {
    this.#store = store;
  }

  /** All keys of a list as of `version`, sorted. */
  async of(list: ListName, version: string): Promise<readonly string[]> {
    const kept = this.#kept.get(list);
    if (kept?.version === version) return await kept.keys;
    const keys = this.#store.keys(list).then((all) => all.sort());
    this.#kept.set(list, { version, keys });
    // A failed read must not stay in the cache.
    keys.catch(() => this.#kept.delete(list));
    return await keys;
  }
}

/** The position after `key`, whether or not the key is still in the list. */
export function positionAfter(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
