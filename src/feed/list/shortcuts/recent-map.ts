/** A map that forgets what was set longest ago where it holds too much. Pure. */
const MOST_REMEMBERED = 4_096;

export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  constructor(most = MOST_REMEMBERED) {
    super();
    this.#most = most;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    for (const oldest of this.keys()) {
      if (this.size <= this.#most) break;
      this.delete(oldest);
    }
    return this;
  }
}
