/**
 * Is each copy the CRM? What differs must be named by the product:
 *
 *   a dead letter          by record, from `feed.deadLetters`; one that was dropped: as it was listed before
 *   dropped by `skip`      by record, from the receipts (`feed.deliveries`, reason `dropped`)
 *   erased, discarded      by record, from `feed.lists.explain`
 *   held, removed          by record, from `feed.lists.explain` (`missing`), where `status` says that removals are held
 *   held, new              a number, from `status` (`lists[].held`)
 *   snapshot incomplete    numbers, from `status` (`subscriptions[].incomplete`)
 *   dropped from the log   the subscription, from the answer of `feed.resume` (`missing`), until a snapshot is sent
 *
 * Pages, records and tokens are whole at the end, so nothing is unreadable.
 */
import type { Held } from '../../src/feed/detect/held.js';
import type { Status } from '../../src/ops/watch/status.js';
import { contentOf, keyOf, LISTS } from './crm.js';
import { nameDead, takeAct } from './acts.js';
import type { CopyList } from './history.js';
import { countOf, type Copy } from './receivers.js';
import { mirroredRecords } from '../support/mirror.js';
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
  await takeAct(world, { do: 'deliver', list: 'people', n: 0 });
}

export async function wrongIn(world: World): Promise<string[]> {
  await nameDead(world);
  await nameSkipped(world);
  const copies: [name: string, copy: Copy][] = world.receivers.map((one) => [one.name, one.copy()]);
  if (world.tables !== null)
    for (const records of await mirroredRecords(world.tables, world.schema, LISTS))
      copies.push(['tables', contentsOf(records)]);
  const remembered = await world.memories.wrong(world.feed, world.crm.erased);
  const wrong = [...world.wrong, ...(world.rule?.wrong() ?? []), ...remembered];
  for (const receiver of world.receivers)
    wrong.push(...[...receiver.wrong, ...receiver.outOfOrder()].map((one) => `${receiver.name}: ${one}`));
  const status = await world.feed.status();
  for (const [name, copy] of copies) {
    if (world.missed.has(name) || world.sequencesMayBeLow) continue;
    for (const list of LISTS) wrong.push(...(await differences(world, { name, list, copy: copy[list], status })));
  }
  return [...new Set(wrong)];
}

function contentsOf(records: Readonly<Record<CopyList, ReadonlyMap<string, object>>>): Copy {
  const of = (list: CopyList) => new Map([...records[list]].map(([id, record]) => [id, contentOf(record)]));
  return { people: of('people'), todo: of('todo') };
}

interface Compared {
  name: string;
  list: CopyList;
  copy: ReadonlyMap<string, string>;
  status: Status;
}

async function differences(world: World, { name, list, copy, status }: Compared): Promise<string[]> {
  const shown = new Map(world.crm.rows(list).map((row) => [row.id, contentOf(row)]));
  const behind = [...shown.keys()].filter((id) => copy.get(id) !== shown.get(id));
  const ghosts = [...copy.keys()].filter((id) => !shown.has(id));
  const { held = [] } = status.workspaces.flatMap((one) => one.lists).find((one) => one.list === list) ?? {};
  const heldOf = (kind: Held['what']): number => held.find(({ what }) => what === kind)?.count ?? 0;
  const { incomplete = [] } = status.subscriptions.find((one) => one.name === name) ?? {};
  const { dead = 0, dropped = 0, ...isIncomplete } = incomplete.find((one) => one.list === list) ?? {};
  const holds = heldOf('removals') > 0;
  const say = async (ids: readonly string[], what: string, named: number): Promise<string[]> => {
    const open: string[] = [];
    for (const id of ids) if (!(await isNamed(world, { name, list, id, holds }))) open.push(id);
    return open.length <= named ? [] : [`${name} ${list}: ${countOf(open)} ${what}, ${named} named`];
  };
  return [
    ...(await say(behind, 'unknown or behind', heldOf('creations') + dead + dropped)),
    // What is gone stays with a receiver whose snapshot is not complete.
    ...('list' in isIncomplete ? [] : await say(ghosts, 'not in the CRM', 0)),
  ];
}

async function isNamed(
  { named, feed, forgottenErasures }: World,
  { name, list, id, holds }: { name: string; list: CopyList; id: string; holds: boolean },
): Promise<boolean> {
  if (named.has(`${name} ${keyOf(list, id)}`) || forgottenErasures.has(keyOf(list, id))) return true;
  const { erased, missing, decisions } = await feed.lists.explain(list, id);
  return erased || (holds && missing !== null) || decisions.at(-1)?.what === 'discarded';
}

async function nameSkipped({ feed, subscriptions, named }: World): Promise<void> {
  for (const subscription of subscriptions) {
    const rows = await feed.deliveries({ subscription, outcome: 'skipped', limit: 500 });
    for (const { reason, list, record } of rows)
      if (reason === 'dropped') named.add(`${subscription} ${list ?? ''} ${record}`);
  }
}
