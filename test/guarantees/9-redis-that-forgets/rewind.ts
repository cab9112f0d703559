/**
 * One run: a sandbox that changes, the product in this process, and a Redis of its own that is saved, killed some time later, and started again
 * from what was saved. Then it is compared what a receiver has that keeps the highest sequence of each record with what the lists show.
 */
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import type { Changefeed } from '../../../src/app/changefeed.js';
import { descriptorOf, LIST_NAMES } from '../../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { defineHandler } from '../../../src/handlers/define.js';
import { differences, readEverything, type Shown } from '../../support/api-state.js';
import { eventually } from '../../support/eventually.js';
import { openFeed } from '../../support/feed.js';
import { startPrivateRedis } from '../../support/redis.js';
import { served } from '../../support/sandbox.js';
import { Keys } from '../../../src/state/keys.js';
import { scoreEvents, type MissedChange } from '../../../src/sandbox/verify/score.js';

export interface RewindOptions {
  /** Changes of the CRM, before and after. */
  changes: number;
  /** Of them, those whose events Redis forgets. */
  forgotten: number;
  /** The time in which Redis is saved, and killed; ms. @defaultValue as fast as the forgotten changes are found */
  forMs?: number;
  seed: number;
  /** The processes end with Redis, and others are started with it. `told`: a person runs `changefeed rewound` before. */
  restarts?: 'none' | 'untold' | 'told';
  perSecond?: number;
}

export interface Outcome {
  /** Of records that the receiver knows wrongly, or not at all: what is wrong. */
  wrong: string[];
  /** Sequences of a record that were used for different contents. */
  usedTwice: string[];
  /** New events whose sequence is not above those of the record that were delivered before. */
  outOfOrder: string[];
  missed: string[];
  invented: number;
  /** Times that it was reported by an event. */
  reported: number;
  /** Problems at the end. */
  problems: string[];
  pending: number;
}

export const RIGHT: Outcome = {
  ...{ wrong: [], usedTwice: [], outOfOrder: [], missed: [], invented: 0 },
  ...{ reported: 1, problems: [], pending: 0 },
};

const BUDGET = { requests: 1_000, perSeconds: 1 };

export async function rewind(options: RewindOptions): Promise<Outcome> {
  const { changes, forgotten, forMs = 0, seed, restarts = 'none', perSecond = 60 } = options;
  const redis = await startPrivateRedis({ settings: ['appendonly no', 'save ""'] });
  const { sandbox, target } = await served({ people: 60, history: 60, activity: 60, seed, journalKeep: 1_000_000 });
  const delivered: ChangeEvent[] = [];
  const lists = Object.fromEntries(LIST_NAMES.map((name) => [name, { removals: { after: '1s' } }]));
  const keys = new Keys();
  const open = (): Promise<Changefeed> =>
    openFeed(
      { url: redis.url, keys },
      {
        workspaces: [{ name: 'acme', baseUrl: target.url, token: target.token, budget: BUDGET, lists }],
        subscriptions: [
          defineHandler({ name: 'all', on: ['crm.*', 'changefeed.*'], handle: (event) => void delivered.push(event) }),
        ],
      },
    );
  let feed = await open();
  await feed.start();
  const swept = (): Promise<void> => sweptSince(feed, Date.now());
  await swept();
  const before = await readEverything(target);
  const mutated = (): number => sandbox.world.mutations;
  const until = (count: number): Promise<void> =>
    eventually(() => expect(mutated()).toBeGreaterThanOrEqual(count), { timeoutMs: 240_000 });

  sandbox.rate = perSecond;
  await until((changes - forgotten) / 2);
  const admin = new Redis(redis.url, { lazyConnect: true, retryStrategy: () => null });
  await admin.connect();
  await admin.save();
  admin.disconnect();
  const saved = delivered.length;
  const [savedAtMs, count] = [Date.now(), mutated()];
  await until(count + forgotten);
  await eventually(() => expect(Date.now() - savedAtMs).toBeGreaterThanOrEqual(forMs));
  // Without a delivery since then, nothing that was told is forgotten.
  await eventually(() => expect(delivered.length).toBeGreaterThan(saved));
  await redis.kill();
  if (restarts !== 'none') await feed.stop().catch(() => undefined);
  await redis.restart();
  if (restarts !== 'none') {
    feed = await open();
    if (restarts === 'told') expect(await feed.rewound()).not.toBeNull();
    await feed.start();
  }
  await until(changes);
  sandbox.rate = 0;
  // The second walk confirms removals, and what may have come from a replica. The removal of a new record waits for longer.
  for (let walk = 0; walk < 3; walk += 1) await swept();
  await eventually(async () => expect(await missingIn(feed)).toEqual([]));
  await eventually(async () => expect(await pendingOf(feed)).toBe(0), { timeoutMs: 200_000 }).catch(() => undefined);
  return judged(delivered, { before, after: await readEverything(target), feed, journal: sandbox.journal.lines() });
}

/** Waits until every list was read completely, from its first page on. */
async function sweptSince(feed: Changefeed, ms: number): Promise<void> {
  await eventually(async () => {
    const starts = (await feed.status()).workspaces.flatMap(({ lists }) =>
      lists.map(({ lastSweep }) => (lastSweep === null ? 0 : Date.parse(lastSweep.completedAt) - lastSweep.tookMs)),
    );
    expect(Math.min(...starts)).toBeGreaterThan(ms);
  });
}

async function missingIn(feed: Changefeed): Promise<string[]> {
  const lists = (await feed.status()).workspaces.flatMap((one) => one.lists);
  return lists.filter(({ lastSweep }) => lastSweep?.counts['missing'] !== 0).map(({ list }) => list);
}

async function pendingOf(feed: Changefeed): Promise<number> {
  const { subscriptions } = await feed.status();
  return subscriptions.reduce((sum, { lagEvents, waiting, active }) => sum + lagEvents + waiting + active, 0);
}

interface Judged {
  before: Shown;
  after: Shown;
  feed: Changefeed;
  journal: Parameters<typeof scoreEvents>[0]['journal'];
}

/**
 * Without what came and went while Redis was away: the page that showed it could not be committed. Whether the last state of each record arrived is
 * compared with the lists.
 */
function lasting(missed: readonly MissedChange[], journal: Judged['journal']): MissedChange[] {
  return missed.filter(
    ({ list, id, visibleAt }) =>
      !journal.some((one) => one.line === 'mutation' && one.list === list && one.id === id && one.at > visibleAt),
  );
}

async function judged(delivered: readonly ChangeEvent[], { before, after, feed, journal }: Judged): Promise<Outcome> {
  const changes = delivered.filter(({ type }) => /^crm\..*\.(created|updated|deleted)$/.test(type));
  const copies = new Map<string, ChangeEvent>();
  const ids = new Set<string>();
  const contents = new Map<string, string>();
  const usedTwice = new Set<string>();
  const outOfOrder: string[] = [];
  for (const event of changes) {
    const { subject, data, id } = event;
    const key = `${event.type.split('.')[1] ?? ''} ${subject}`;
    const said = JSON.stringify([event.type, data.before, data.after]);
    const one = `${key} ${data.sequence}`;
    if ((contents.get(one) ?? said) !== said) usedTwice.add(one);
    contents.set(one, said);
    const copy = copies.get(key);
    if (!ids.has(id) && copy !== undefined && data.sequence <= copy.data.sequence) outOfOrder.push(one);
    ids.add(id);
    if (copy === undefined || data.sequence > copy.data.sequence) copies.set(key, event);
  }
  const wrong: string[] = [];
  for (const list of LIST_NAMES) {
    const { object } = descriptorOf(list);
    const known = new Map(before[list]);
    for (const [key, { data, subject }] of copies) {
      if (!key.startsWith(`${object} `)) continue;
      if (data.after === null) known.delete(subject);
      else known.set(subject, data.after);
    }
    const nothing = { ...before, ...Object.fromEntries(LIST_NAMES.map((name) => [name, new Map()])) };
    const differing = differences({ ...nothing, [list]: known }, { ...nothing, [list]: after[list] });
    wrong.push(
      ...differing.map(({ id, fields, ...one }) => {
        const what = one.before === null ? 'unknown' : one.after === null ? 'a ghost' : fields.join(', ');
        return `${list} ${id}: ${what}`;
      }),
    );
  }
  const score = scoreEvents({ journal, events: changes, removalAfterMs: 1_000 });
  return {
    wrong,
    usedTwice: [...usedTwice],
    outOfOrder,
    missed: lasting(score.missed, journal).map(({ list, id, verb }) => `${verb} ${list} ${id}`),
    invented: score.falseEvents,
    reported: delivered.filter(({ type }) => type === 'changefeed.state.rewound').length,
    problems: (await feed.status()).problems.map(({ kind }) => kind),
    pending: await pendingOf(feed),
  };
}
