/** A list's keys in a fixed order, so that a cursor (the last key given) means the same tomorrow. Kept until the list changes. */
import type { ListName } from '../../events/lists.js';
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
    // A failed look must not be remembered as the answer.
    keys.catch(() => this.#kept.delete(list));
    return await keys;
  }
}

/** The position behind `key`, whether or not it is still there. */
export function positionAfter(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
