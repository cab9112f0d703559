/** The source of pages: the workspace as it is now, or a frozen view of it, for snapshot cursors and for a replica that lags behind. */
import type { CrmRecord } from '../../src/crm/record.js';
import type { Behaviour } from '../faults/behaviour.js';
import type { SandboxListName } from '../world/lists.js';
import type { OrderName } from '../world/orders.js';
import type { Mutation } from '../world/mutation.js';
import type { World } from '../world/world.js';

/** Everything a page needs. `mutations` is the number of the last mutation that the view includes. */
export type WorldView = Pick<World, 'mutations' | 'order' | 'image' | 'versionOf'>;

interface FrozenView extends WorldView {
  /** ms */
  readonly takenAt: number;
  /** Frees its memory. */
  close(): void;
}

/** Copies the order of these lists. A record's old image is copied only when the record changes. */
function freeze(
  world: World,
  lists: readonly SandboxListName[],
  order: Behaviour['order'],
  takenAt: number,
): FrozenView {
  const name: OrderName = order === 'shuffled' ? 'creation' : order;
  const orders = new Map(lists.map((list) => [list, world.order(list, name).frozen()]));
  const kept = new Map<string, { image: CrmRecord | null; version: number }>();
  const keep = ({ changes }: Mutation): void => {
    for (const { list, index, before, previous } of changes) {
      const key = `${list}:${index}`;
      if (!kept.has(key)) kept.set(key, { image: before, version: previous });
    }
  };
  return {
    mutations: world.mutations,
    takenAt,
    close: world.listen({ mutated: keep }),
    order: (list) => orders.get(list) ?? world.order(list, name),
    image(list, index) {
      const old = kept.get(`${list}:${index}`);
      return old === undefined ? world.image(list, index) : old.image;
    },
    versionOf: (list, index) => kept.get(`${list}:${index}`)?.version ?? world.versionOf(list, index),
  };
}

// Each holds a copy of a list's order. The oldest is closed when a client opens more without finishing.
const MOST = 32;

export class Snapshots {
  readonly #world: World;
  readonly #now: () => number;
  readonly #open = new Map<string, { view: FrozenView; expiresAt: number }>();
  #names = 0;
  #replica: FrozenView | null = null;

  constructor(world: World, now: () => number) {
    this.#world = world;
    this.#now = now;
  }

  open(list: SandboxListName, { order, cursorLifetimeMs }: Behaviour): { name: string; view: WorldView } {
    const name = `s${++this.#names}`;
    const view = freeze(this.#world, [list], order, this.#now());
    this.#open.set(name, { view, expiresAt: this.#now() + cursorLifetimeMs });
    const [oldest] = this.#open.keys();
    if (this.#open.size > MOST && oldest !== undefined) this.#close(oldest);
    return { name, view };
  }

  /** Null for an unknown or expired snapshot. */
  get(name: string): WorldView | null {
    const opened = this.#open.get(name);
    if (opened === undefined) return null;
    if (opened.expiresAt > this.#now()) return opened.view;
    this.#close(name);
    return null;
  }

  /** The state of the workspace at some moment within the last `staleMs`. */
  lagging({ order, staleMs }: Behaviour): WorldView {
    if (this.#replica === null || this.#now() - this.#replica.takenAt >= staleMs) {
      this.#replica?.close();
      const lists = this.#world.lists.map(({ name }) => name);
      this.#replica = freeze(this.#world, lists, order, this.#now());
    }
    return this.#replica;
  }

  #close(name: string): void {
    this.#open.get(name)?.view.close();
    this.#open.delete(name);
  }
}
