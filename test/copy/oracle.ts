/**
 * Is each copy the CRM? What differs must be named by the product:
 *
 *   a dead letter                 by record, from `feed.deadLetters`; one that was dropped: as it was listed before
 *   dropped by `skip`             by record, from the receipts (`feed.deliveries`, reason `dropped`)
 *   erased                        by record, from the answer of `feed.erase`
 *   held                          a number, from `status` (`lists[].held`)
 *   discarded                     a number, from the answer of `feed.lists.discard`
 *   dropped from the log          the subscription, from the answer of `feed.resume` (`missing`)
 *
 * Pages, records and tokens are whole at the end, so nothing is unreadable.
 */
import { contentOf, LISTS } from './crm.js';
import { nameDead, takeAct } from './acts.js';
import type { CopyList } from './history.js';
import { countOf, tablesIn, type Copy } from './receivers.js';
import type { World } from './world.js';

const DAY_MS = 86_400_000;

/** Ends all faults, and reads and delivers everything. */
export async function endFaults(world: World): Promise<void> {
  world.crm.mend();
  for (const { refused } of world.receivers) refused.clear();
  for (const [n] of world.subscriptions.entries()) await takeAct(world, { do: 'resume', list: 'people', n });
  // Longer than a record is left alone that was deleted and is shown again; todos become due.
  world.pass(1.2 * DAY_MS);
  // The first one may go on with a sweep that began before.
  for (let sweeps = 0; sweeps < 3; sweeps += 1) {
    if (!(await world.sweep())) world.wrong.push('a sweep is incomplete though every page can be read');
    await world.checkLog();
  }
  await world.deliver();
}

export async function wrongIn(world: World): Promise<string[]> {
  await nameDead(world);
  await nameSkipped(world);
  const allowed = await allowedIn(world);
  const copies = new Map<string, Copy>(world.receivers.map((one) => [one.name, one.copy()]));
  if (world.tables !== null) copies.set('tables', await tablesIn(world.tables, world.schema));
  const wrong = [...world.wrong, ...(world.rule?.wrong() ?? [])];
  for (const receiver of world.receivers)
    wrong.push(...[...receiver.wrong, ...receiver.outOfOrder()].map((one) => `${receiver.name}: ${one}`));
  for (const [name, copy] of copies)
    for (const list of LISTS) wrong.push(...differences(world, { name, list, copy: copy[list] }, allowed));
  return [...new Set(wrong)];
}

interface Allowed {
  /** By list and kind (`creations`, `removals`). */
  of: (list: CopyList, what: string) => number;
}

async function allowedIn({ feed, discarded }: World): Promise<Allowed> {
  const status = await feed.status();
  const lists = status.workspaces.flatMap((one) => one.lists);
  return {
    of(list, what) {
      const { held = [] } = lists.find((one) => one.list === list) ?? {};
      const count = held.filter((one) => one.what === what).reduce((sum, one) => sum + one.count, 0);
      return count + (discarded.get(`${list} ${what}`) ?? 0);
    },
  };
}

function differences(
  world: World,
  { name, list, copy }: { name: string; list: CopyList; copy: ReadonlyMap<string, string> },
  allowed: Allowed,
): string[] {
  if (world.missed.has(name)) return [];
  const shown = new Map(world.crm.rows(list).map((row) => [row.id, contentOf(row)]));
  const isOpen = (id: string): boolean => !world.isNamed(name, list, id);
  const behind = [...shown.keys()].filter((id) => copy.get(id) !== shown.get(id)).filter(isOpen);
  const ghosts = [...copy.keys()].filter((id) => !shown.has(id)).filter(isOpen);
  const say = (ids: readonly string[], what: string, held: number): string[] =>
    ids.length <= held ? [] : [`${name} ${list}: ${countOf(ids)} ${what}, ${held} named`];
  return [
    ...say(behind, 'unknown or behind', allowed.of(list, 'creations')),
    ...say(ghosts, 'not in the CRM', allowed.of(list, 'removals')),
  ];
}

async function nameSkipped({ feed, subscriptions, named }: World): Promise<void> {
  for (const subscription of subscriptions) {
    const rows = await feed.deliveries({ subscription, outcome: 'skipped', limit: 500 });
    for (const { reason, list, record } of rows)
      if (reason === 'dropped') named.add(`${subscription} ${list ?? ''} ${record}`);
  }
}
