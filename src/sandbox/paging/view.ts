/** What pages are read from: the workspace as it is now, or as it was when a snapshot was taken. */
import type { SandboxListName } from '../world/lists.js';
import type { CrmRecord } from '../../crm/record.js';
import type { Order, OrderName } from '../world/orders.js';
import type { Mutation, World } from '../world/world.js';

export interface View {
  /** The number of the last mutation that it includes. */
  readonly mutations: number;
  /** True for the current state. Only its pages are cached; those of a frozen view are read once. */
  readonly live: boolean;
  order(list: SandboxListName, name: OrderName): Order;
  image(list: SandboxListName, index: number): CrmRecord | null;
  versionOf(list: SandboxListName, index: number): number;
}

export function liveView(world: World): View {
  return {
    get mutations() {
      return world.mutations;
    },
    live: true,
    order: (list, name) => world.order(list, name),
    image: (list, index) => world.image(list, index),
    versionOf: (list, index) => world.versionOf(list, index),
  };
}

export interface FrozenView extends View {
  /** ms */
  readonly takenAt: number;
  /** Frees its memory. */
  close(): void;
}

/** Copies the order of these lists. A record's old image is copied only when the record changes. */
export function freeze(world: World, lists: readonly SandboxListName[], name: OrderName, takenAt: number): FrozenView {
  const orders = new Map(lists.map((list) => [list, world.order(list, name).frozen()]));
  const kept = new Map<string, { image: CrmRecord | null; version: number }>();
  const mutations = world.mutations;
  const keep = ({ changes }: Mutation): void => {
    for (const { list, index, before, previous } of changes) {
      const key = `${list}:${index}`;
      if (!kept.has(key)) kept.set(key, { image: before, version: previous });
    }
  };
  const close = world.listen({ mutated: keep });
  return {
    mutations,
    live: false,
    takenAt,
    close,
    order: (list) => orders.get(list) ?? world.order(list, name),
    image(list, index) {
      const old = kept.get(`${list}:${index}`);
      return old === undefined ? world.image(list, index) : old.image;
    },
    versionOf: (list, index) => kept.get(`${list}:${index}`)?.version ?? world.versionOf(list, index),
  };
}
