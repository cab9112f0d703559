/** Frozen views of the workspace, for snapshot cursors and for a replica that lags behind. */
import type { SandboxListName } from '../world/lists.js';
import type { Behaviour } from '../faults/behaviour.js';
import type { World } from '../world/world.js';
import { freeze, type FrozenView } from './view.js';

interface Opened {
  readonly view: FrozenView;
  readonly expiresAt: number;
}

// Each holds a copy of a list's order. The oldest is closed when a client opens more without finishing.
const MOST = 32;

export class Snapshots {
  readonly #world: World;
  readonly #now: () => number;
  readonly #open = new Map<string, Opened>();
  #names = 0;
  #replica: FrozenView | null = null;

  constructor(world: World, now: () => number) {
    this.#world = world;
    this.#now = now;
  }

  open(list: SandboxListName, order: Behaviour['order'], lifetimeMs: number): { name: string; view: FrozenView } {
    const name = `s${++this.#names}`;
    const view = freeze(this.#world, [list], order === 'shuffled' ? 'creation' : order, this.#now());
    this.#open.set(name, { view, expiresAt: this.#now() + lifetimeMs });
    const [oldest] = this.#open.keys();
    if (this.#open.size > MOST && oldest !== undefined) this.#close(oldest);
    return { name, view };
  }

  /** Null for an unknown or expired snapshot. */
  get(name: string): FrozenView | null {
    const opened = this.#open.get(name);
    if (opened === undefined) return null;
    if (opened.expiresAt > this.#now()) return opened.view;
    this.#close(name);
    return null;
  }

  /** The state of the workspace at some moment within the last `lagMs`. */
  lagging(order: Behaviour['order'], lagMs: number): FrozenView {
    const name = order === 'shuffled' ? 'creation' : order;
    if (this.#replica === null || this.#now() - this.#replica.takenAt >= lagMs) {
      this.#replica?.close();
      this.#replica = freeze(
        this.#world,
        this.#world.lists.map((list) => list.name),
        name,
        this.#now(),
      );
    }
    return this.#replica;
  }

  #close(name: string): void {
    this.#open.get(name)?.view.close();
    this.#open.delete(name);
  }
}
