/** What each act of a history does. An act that is not possible now, such as a restore without a backup, does nothing. */
import { ChangefeedError } from '../../src/kit/errors.js';
import { keyOf, LISTS, type Oddity } from './crm.js';
import type { Act, ActName } from './history.js';
import type { World } from './world.js';

const HOUR_MS = 3_600_000;
/** A sweep dates its decision before it commits it. Of the fast clock. */
const COMMITTED_MS = 1_000;
const ODDITIES: readonly Oddity[] = ['half', 'none', 'deep'];

/** Some records of a list, others for another `n`. */
function some({ crm }: World, { list, n }: Act, count: number): string[] {
  const rows = crm.rows(list);
  const chosen = Array.from({ length: Math.min(count, rows.length) }, (_, at) => rows[(n + at * 7) % rows.length]!.id);
  return [...new Set(chosen)];
}

function subscriptionOf({ subscriptions }: World, { n }: Act): string {
  return subscriptions[n % subscriptions.length]!;
}

function edit(world: World, act: Act, id: string, nth: number): void {
  const fields = act.list === 'people' ? { 이름: `개명${nth}` } : { 내용: `고침${nth}`, 완료: nth % 5 === 0 };
  world.crm.edit(act.list, id, fields);
}

function remove(world: World, act: Act, count: number): void {
  world.removed[act.list] = world.crm.remove(act.list, some(world, act, count));
}

/** Another token comes with a restart. The CRM may also show other records to the same one, also while they are read. */
async function changeOwner(world: World, n: number, change: () => void): Promise<void> {
  if (n % 2 === 0) await world.restart(change);
  else change();
}

/** A person decides about what is held: then the guard does not count what was new. */
async function decide(world: World, { list }: Act, how: 'accept' | 'discard'): Promise<void> {
  await world.feed.lists[how](list).catch((error: unknown) => {
    // What is held has been discarded.
    if (how === 'discard' || !(error instanceof ChangefeedError)) throw error;
  });
  // Where polling has held them by now, a person says that they are gone.
  if (how === 'accept') for (const id of world.crm.odd(list)) world.declaredGone.add(keyOf(list, id));
  const decided = world.guarded.filter((one) => one.list === list);
  world.guarded = world.guarded.filter((one) => one.list !== list);
  // What was held is stored by the next sweep.
  const swept = [...world.swept[list]].filter((id) => !decided.some(({ ids }) => ids.has(id)));
  world.swept = { ...world.swept, [list]: new Set(swept) };
}

export const ACTS: Record<ActName, (world: World, act: Act) => unknown> = {
  sweep: (world) => world.sweep(),
  deliver: (world) => world.deliver(),
  edit: (world, act) => some(world, act, 1 + (act.n % 3)).forEach((id, at) => edit(world, act, id, act.n + at)),
  create: ({ crm }, { list, n }) => crm.create(list, 1 + (n % 3)),
  import({ crm, guarded }, { list, n }) {
    const ids = new Set(crm.create(list, 110 + (n % 20)));
    if (crm.rows(list).some(({ id }) => crm.isStranger(id))) return;
    guarded.push({ list, ids, allowed: Math.max(100, crm.rows(list).length / 2), reported: new Set() });
  },
  remove: (world, act) => remove(world, act, 1 + (act.n % 3)),
  'put back'(world, { list }) {
    world.crm.putBack(list, world.removed[list] ?? []);
    world.removed[list] = [];
  },
  'mass removal': (world, act) => remove(world, act, Math.max(12, Math.ceil(world.crm.rows(act.list).length / 2))),
  async strangers(world, { list, n }) {
    const { crm } = world;
    // What was held when it was swept is not known.
    const isImported = (id: string): boolean => world.guarded.some((one) => one.list === list && one.ids.has(id));
    const known = crm.rows(list).filter(({ id }) => world.swept[list].has(id) && !isImported(id));
    await changeOwner(world, n, () => crm.showStrangers(list, true));
    if (known.length >= 20) {
      const ids = new Set(crm.rows(list).map(({ id }) => id));
      world.guarded.push({ list, ids, allowed: 0, reported: new Set() });
      return;
    }
    // Of a short list they pass, and a sweep that is complete with them begins to count anew.
    world.guarded = world.guarded.filter((one) => one.list !== list);
  },
  own: (world, { list, n }) => changeOwner(world, n, () => world.crm.showStrangers(list, false)),
  accept: (world, act) => decide(world, act, 'accept'),
  discard: (world, act) => decide(world, act, 'discard'),
  pause: (world, act) => world.feed.pause(subscriptionOf(world, act)),
  async resume(world, act) {
    const name = subscriptionOf(world, act);
    if ((await world.feed.resume(name))?.missing === true) world.missed.add(name);
  },
  skip: (world, act) => world.feed.skip(subscriptionOf(world, act)),
  refuse(world, act) {
    const receiver = world.receivers[act.n % world.receivers.length]!;
    for (const id of some(world, act, 1)) receiver.refused.add(`${act.list} ${id}`);
  },
  async 'retry dead'(world, act) {
    for (const { refused } of world.receivers) refused.clear();
    await world.feed.deadLetters.retry({ subscription: subscriptionOf(world, act) });
  },
  async 'drop dead'(world, act) {
    const subscription = subscriptionOf(world, act);
    await nameDead(world);
    await world.feed.deadLetters.drop({ subscription });
  },
  backup: (world) => world.backUp(),
  // As docs/guides/operate.md says.
  async restore(world, act) {
    await world.close();
    const isBack = await world.goBack();
    await world.open();
    if (!isBack) return;
    await world.sweep();
    for (const [nth] of world.subscriptions.entries()) await ACTS.snapshot(world, { ...act, n: nth });
  },
  failover: (world) => world.goBack(),
  async snapshot(world, act) {
    const name = subscriptionOf(world, act);
    // It is to put right what was missed.
    if ((await world.feed.snapshot(name)).length > 0) world.missed.delete(name);
  },
  restart: (world) => world.restart(),
  'rule on': (world) => world.switchRule(true),
  'rule off': (world) => world.switchRule(false),
  'rule stalls': ({ rule }) => rule?.stall(),
  async erase(world, act) {
    // The person is removed in the CRM too, and half of them come back there.
    const [id] = some(world, act, 1);
    if (id === undefined) return;
    world.crm.erased.add(keyOf(act.list, id));
    await world.feed.erase({ workspace: 'acme', list: act.list, id });
    const removed = world.crm.remove(act.list, [id]);
    if (act.n % 2 === 0) world.crm.putBack(act.list, removed);
  },
  async flurry(world, act) {
    for (let nth = 0; nth < 3; nth += 1) {
      for (const id of some(world, act, 1)) edit(world, act, id, act.n + (nth % 2));
      await world.sweep();
    }
  },
  'break page': ({ crm }, { list, n }) => crm.breakPage(list, n % 3),
  'odd record': (world, act) =>
    some(world, act, 1).forEach((id) => world.crm.makeOdd(act.list, id, ODDITIES[act.n % 3]!)),
  mend: ({ crm }) => crm.mend(),
  pass: (world, { n }) => world.pass((1 + (n % 30)) * HOUR_MS),
  step: (world, { n }) => world.step(((n % 3) - 1.5) * HOUR_MS),
  kill: (world, { n }) => world.kill(n),
};

/** Dead letters name their records until they are dropped: what they have named stays named. */
export async function nameDead({ feed, named }: World): Promise<void> {
  for (const { subscription, event } of await feed.deadLetters.list({ limit: 10_000 })) {
    const list = LISTS.find((one) => event.type.startsWith(one === 'people' ? 'crm.person.' : 'crm.todo.'));
    named.add(`${subscription} ${list ?? ''} ${event.subject}`);
  }
}

export async function takeAct(world: World, act: Act): Promise<void> {
  await ACTS[act.do](world, act);
  await world.checkLog();
  for (const { name, shownAbsent, wrong } of world.receivers)
    for (const { list, id, at } of shownAbsent.splice(0)) {
      const { discarded } = await world.feed.lists.explain(list, id);
      if (discarded !== null && Date.parse(discarded) + COMMITTED_MS < Date.parse(at))
        wrong.push(`${name}: a snapshot shows ${list} ${id}, which was discarded`);
    }
}
