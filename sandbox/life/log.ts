/** Mutations of the two lists that only grow: rows written by other mutations, or by themselves. */
import { BURST, changeOf, connection, contactDetails, editBy, happened } from '../world/base-log.js';
import type { ActivityFacts, DealStatus, HistoryFacts } from '../world/facts.js';
import { created, foreignId, pick, type LifeContext } from './context.js';

const DAY_MS = 86_400_000;

/** Adds a contact with a person. A mail that is opened and clicked writes several rows with the same ids. */
export function addActivity(context: LifeContext, person: number, over?: Partial<ActivityFacts>): number {
  const { world, roll } = context;
  return created(context, 'add-activity', (draft) => {
    const ids = Array.from({ length: 6 }, () => foreignId(context));
    const details = contactDetails(roll, world.directory, (salt) => ids[salt] ?? '');
    const first = draft.create('activity', happened(draft.at, person, { ...details, ...over }));
    if (over !== undefined || details.type !== 'email') return first;
    for (const type of ['emailOpen', 'emailLinkClick'])
      draft.create('activity', happened(draft.at, person, { ...details, type }));
    return first;
  });
}

/** An imported activity has an old date. */
export function imported({ now, roll }: LifeContext): Partial<ActivityFacts> {
  return { type: 'meeting', date: now() - (30 + roll.below(300)) * DAY_MS };
}

export function addHistory(context: LifeContext, deal: number, over?: Partial<HistoryFacts>): number {
  const { world, roll } = context;
  return created(context, 'add-history', (draft) => {
    const facts = draft.get('unlistedDeal', deal);
    const connected = facts !== null && roll.chance(0.1) ? connection(facts) : {};
    return draft.create('history', { deal, ...changeOf(roll, null, world), ...connected, ...over });
  });
}

/** Creates a deal: counters change, and the history gets several rows within a second. */
export function createDeal(context: LifeContext, person: number): void {
  const { world, roll } = context;
  world.change('create-deal', context.now(), (draft) => {
    const organization = draft.get('people', person)?.organization ?? null;
    const status = roll.pick(['lead', 'running'] as const);
    const deal = draft.create('unlistedDeal', { person, organization, status });
    for (let nth = 0; nth < BURST; nth++)
      draft.create('history', { createdAt: draft.at + nth * 40, deal, ...changeOf(roll, nth, world) });
  });
}

const STATUSES: Readonly<Record<DealStatus, { text: string; next: readonly [DealStatus, ...DealStatus[]] }>> = {
  lead: { text: '리드', next: ['running', 'lost'] },
  running: { text: '진행중', next: ['won', 'lost'] },
  won: { text: '성사', next: ['running'] },
  lost: { text: '실패', next: ['running'] },
};

/** A deal is won, lost or reopened: counters of its person and organization change, their change timestamps do not. */
export function moveDeal(context: LifeContext, deal: number): void {
  const { world, roll } = context;
  world.change('move-deal', context.now(), (draft) => {
    const facts = draft.get('unlistedDeal', deal);
    if (facts === null) return;
    const status = roll.pick(STATUSES[facts.status].next);
    draft.put('unlistedDeal', deal, { ...facts, status });
    const row = { ...editBy(facts.owner, world.directory), fieldName: '상태', fieldValue: STATUSES[status].text };
    draft.create('history', { deal, ...row });
  });
}

/** A random deal; null when no person with a deal was found. */
export function pickDeal(context: LifeContext): number | null {
  const { world } = context;
  const person = pick(context, 'people', (_facts, index) => world.children('unlistedDeal', 'people', index).length > 0);
  return person === null ? null : (world.children('unlistedDeal', 'people', person)[0] ?? null);
}
