/**
 * The main job on a Redis: a sandbox that changes, the product in this process, and a receiver that keeps the highest sequence of each record.
 * Something may happen to Redis meanwhile. At the end the receiver is compared with what the lists show.
 */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished } from 'vitest';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { SNAPSHOT_COMPLETE } from '../../src/events/notices.js';
import { scoreEvents, type MissedChange } from '../../sandbox/verify/score.js';
import { openClient, parseRedisUrl } from '../../src/redis/client.js';
import { Keys } from '../../src/redis/keys.js';
import { readEverything, type Shown } from '../support/api-state.js';
import { eventually } from '../support/eventually.js';
import { baselined, eventsOf, openFeed } from '../support/feed.js';
import { missingIn, pendingOf, sweptSince } from '../support/quiescence.js';
import { foldsOf, outOfOrderIn, recordsIn, wrongIn } from '../support/receiver.js';
import { served } from '../support/sandbox.js';

export interface MainJob {
  url: string;
  seed: number;
  changes: number;
  forgets?: boolean;
  meanwhile?: (job: { keys: Keys; changed: (count: number) => Promise<void> }) => Promise<void>;
}

export interface Outcome {
  wrong: string[];
  missed: string[];
  invented: number;
  /** New events whose sequence is not above those of the record that were delivered before. */
  outOfOrder: string[];
  reported: number;
  problems: string[];
  pending: number;
}

export const RIGHT: Outcome = {
  ...{ wrong: [], missed: [], invented: 0, outOfOrder: [] },
  ...{ reported: 0, problems: [], pending: 0 },
};

const BUDGET = { requests: 1_000, perSeconds: 1 };
export const WORKSPACE = 'acme';
export const SUBSCRIPTION = 'all';

export async function runMainJob({ url, seed, changes, forgets = false, meanwhile }: MainJob): Promise<Outcome> {
  const keys = new Keys(`test-${randomBytes(6).toString('hex')}`);
  const { sandbox, target } = await served({ people: 40, history: 40, activity: 40, seed, journalKeep: 1_000_000 });
  const delivered: ChangeEvent[] = [];
  const handle = (event: ChangeEvent): void => void delivered.push(event);
  // On a busy machine a sweep takes seconds, in which more records go than the guard lets pass without a person.
  const removals = { after: '1s', maxShare: 1 };
  const lists = Object.fromEntries(LIST_NAMES.map((name) => [name, { removals }]));
  const raw = {
    workspaces: [{ name: WORKSPACE, baseUrl: target.url, token: target.token, budget: BUDGET, lists }],
    subscriptions: [
      defineHandler({ name: SUBSCRIPTION, on: ['crm.*', 'changefeed.*'], afterRewind: 'snapshot', handle }),
    ],
  };
  const feed = await openFeed({ url, keys }, raw);
  await feed.start();
  await baselined(feed);
  const before = await readEverything(target);

  sandbox.rate = 60;
  const until = (count: number): Promise<void> =>
    eventually(() => expect(sandbox.world.mutations).toBeGreaterThanOrEqual(count), { timeoutMs: 240_000 });
  await until(changes / 2);
  await meanwhile?.({ keys, changed: (count) => until(sandbox.world.mutations + count) });
  await until(changes);
  sandbox.rate = 0;
  // The second walk confirms removals. The removal of a new record waits for longer.
  for (let walk = 0; walk < 3; walk += 1) await sweptSince(feed, Date.now());
  await eventually(async () => expect(await missingIn(feed)).toEqual([]), { timeoutMs: 240_000 });
  const redis = openClient(parseRedisUrl(url), {});
  onTestFinished(() => redis.disconnect());
  // Between two lists of a snapshot nothing is pending.
  const left = async (): Promise<number> => (await redis.hlen(keys.backfills(SUBSCRIPTION))) + (await pendingOf(feed));
  await eventually(async () => expect(await left()).toBe(0), { timeoutMs: 240_000 });

  const journal = sandbox.journal.lines();
  const { missed, falseEvents } = scoreEvents({ journal, events: changesOf(delivered), removalAfterMs: 1_000 });
  // A state that no answer of the API showed is not known; nor is a change that only took another unseen one back.
  const isPassing = (change: MissedChange): boolean => {
    const { list, id, visibleAt } = change;
    return (
      missed.some((one) => one !== change && one.list === list && one.id === id) ||
      journal.some((one) => one.line === 'mutation' && one.list === list && one.id === id && one.at > visibleAt)
    );
  };
  const outcome = {
    wrong: wrongIn(recordsIn(foldsOf(delivered).highest, knownBefore(delivered, before)), await readEverything(target)),
    outOfOrder: outOfOrderIn(delivered),
    missed: missed.filter((one) => !isPassing(one)).map(({ list, id, verb }) => `${verb} ${list} ${id}`),
    invented: falseEvents,
    reported: delivered.filter(({ type }) => type === 'changefeed.state.rewound').length,
    problems: (await feed.status()).problems.map(({ kind }) => kind),
    pending: await pendingOf(feed),
  };
  if (forgets) {
    expect(await feed.storedSubscriptions()).toMatchObject([{ subscription: SUBSCRIPTION, workers: 1 }]);
    await feed.stop();
    const other = await openFeed({ url, keys }, raw);
    const { subject: id } = delivered.findLast(({ type }) => type.startsWith('crm.person.'))!;
    const erased = await other.erase({ workspace: WORKSPACE, list: 'people', id });
    expect(erased.kept?.receipts).toBeGreaterThan(0);
    expect((await eventsOf(other)).filter(({ subject }) => subject === id)).toEqual([]);
    expect(await other.forget(WORKSPACE)).toMatchObject({ workspace: WORKSPACE });
    expect(await other.isStored(WORKSPACE)).toBe(false);
  }
  return outcome;
}

const changesOf = (events: readonly ChangeEvent[]): ChangeEvent[] =>
  events.filter(({ type }) => /^crm\..*\.(created|updated|deleted)$/.test(type));

/** What a snapshot shows whole replaces what was known before. */
function knownBefore(delivered: readonly ChangeEvent[], before: Shown): Shown {
  const marks = delivered.filter(({ type }) => type === SNAPSHOT_COMPLETE).map(({ data }) => data.notice?.list);
  return Object.fromEntries(LIST_NAMES.map((list) => [list, marks.includes(list) ? new Map() : before[list]])) as Shown;
}
