/** The context of every mutation: the world, the time and seeded random numbers. */
import { editCustom, type CustomKind } from '../world/custom.js';
import type { Draft } from '../world/draft.js';
import type { FactsOf } from '../world/facts.js';
import { fixedUuid } from '../world/ids.js';
import type { SandboxListName } from '../world/lists.js';
import type { Dice } from '../world/random.js';
import type { World } from '../world/world.js';

export interface LifeContext {
  readonly world: World;
  readonly roll: Dice;
  /** ms */
  readonly now: () => number;
}

export function foreignId({ roll, world }: LifeContext): string {
  return fixedUuid(world.context.seed, 900, roll.below(0x7fff_ffff), roll.below(0x7fff_ffff));
}

/** Makes a mutation that creates one record, and returns its index. */
export function created(context: LifeContext, kind: string, create: (draft: Draft) => number): number {
  let index = -1;
  context.world.change(kind, context.now(), (draft) => (index = create(draft)));
  return index;
}

/** Another value in one custom field. */
export function customEdit(
  { world, roll, now }: LifeContext,
  kind: CustomKind,
  index: number,
  facts: FactsOf[CustomKind],
): Pick<FactsOf[CustomKind], 'custom'> {
  return { custom: editCustom(kind, world.customOf(kind, index, facts), roll, now(), world.directory) };
}

// The search is bounded, because a list of a million records may have none that fits.
const TRIES = 50;
const SCAN = 5_000;

/** A random record of the list that fits; null when none was found. */
export function pick<K extends SandboxListName>(
  { world, roll }: LifeContext,
  list: K,
  fits: (facts: FactsOf[K], index: number) => boolean = () => true,
): number | null {
  const rows = world.order(list);
  const fitting = (position: number): number | null => {
    const index = rows.at(position) ?? -1;
    const facts = world.facts(list, index);
    return facts !== null && fits(facts, index) ? index : null;
  };
  if (rows.length === 0) return null;
  // Each that fits is equally likely. A search from a random place finds those most often that stand behind a long gap.
  for (let tries = 0; tries < TRIES; tries++) {
    const row = fitting(roll.below(rows.length));
    if (row !== null) return row;
  }
  const start = roll.below(rows.length);
  for (let step = 0; step < Math.min(rows.length, SCAN); step++) {
    const row = fitting((start + step) % rows.length);
    if (row !== null) return row;
  }
  return null;
}

/** A number below `size`, different from `than` if possible. */
export function another(roll: Dice, size: number, than: number | null): number {
  if (than === null || size < 2) return roll.below(size);
  return (than + 1 + roll.below(size - 1)) % size;
}

/** Moves the children of a removed record to `heir`; null leaves them without a parent. */
export function handOver(
  draft: Draft,
  world: World,
  from: { list: 'people' | 'organization'; index: number },
  heir: number | null,
): void {
  for (const kind of ['memo', 'todo', 'unlistedDeal'] as const) {
    for (const child of world.children(kind, from.list, from.index)) {
      draft.edit(kind, child, () => (from.list === 'people' ? { person: heir } : { organization: heir }));
    }
  }
  if (from.list === 'people') return;
  for (const person of world.children('people', 'organization', from.index))
    draft.edit('people', person, () => ({ organization: heir }));
}
