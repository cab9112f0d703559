import { expect, it } from 'vitest';
import { LIST_NAMES } from '../../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import type { Life } from '../../../sandbox/life/life.js';
import type { Sandbox } from '../../../sandbox/sandbox.js';
import { scoreEvents, type Score } from '../../../sandbox/verify/score.js';
import { createSweepStore } from '../../../src/feed/store/sweep-store.js';
import { useChain } from '../../support/chain.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { openFeed } from '../../support/feed.js';
import { loggedEvents, useRedis } from '../../support/redis.js';

const KILLS = 4;

/** New records at the ends of lists, which tails find, and people that they name, which aimed fetches find. */
function live(life: Life): void {
  for (let nth = 0; nth < 3; nth++) {
    life.createMemo();
    life.createTodo();
    life.addActivity();
    life.addHistory();
  }
}

const flaws = ({ recall, falseEvents, orderViolations, sequenceGaps, repeated }: Score): object => ({
  recall,
  falseEvents,
  orderViolations,
  sequenceGaps,
  repeated,
});
const NONE = { recall: 1, falseEvents: 0, orderViolations: 0, sequenceGaps: 0, repeated: 0 };

const redis = useRedis();
const chain = useChain();
const cli = useCli();
const store = () => createSweepStore(redis.redis, redis.keys, 'acme');
const logged = () => redis.redis.xlen(redis.keys.log('acme'));

/** The lease of a killed process lasts 15 s. Nothing else holds a list here. */
async function endLeases(): Promise<void> {
  await redis.redis.del(...LIST_NAMES.map((list) => redis.keys.lease('acme', list)));
}

/** Sweeps everything, so that every change that is not reported yet must be. */
async function sweepAll(config: object): Promise<void> {
  const feed = await openFeed(redis, config);
  for (const { list, outcome } of [...(await feed.sweep()), ...(await feed.sweep())])
    expect({ list, outcome }).toEqual({ list, outcome: 'complete' });
}

const judge = (sandbox: Sandbox, reported: readonly ChangeEvent[]): Score =>
  scoreEvents({ journal: sandbox.journal.lines(), events: reported });

it('nothing lost: every change is reported once and in order', { timeout: 240_000 }, async () => {
  const world = await chain({ sandbox: { people: 300, seed: 3 } });
  const { sandbox } = world;
  // After the first sweep of each list, only shortcuts read.
  const config = world.config('1h', redis.keys.prefix);
  const folder = await cli({ 'changefeed.config.json': config });
  const env = { REDIS_URL: redis.url, LOG_LEVEL: 'info' };
  const poll = () => folder.start(['start', '--only', 'poll'], env);
  let poller = poll();
  await eventually(async () => {
    for (const list of LIST_NAMES) expect((await store().load(list)).state.baselineAt).not.toBeNull();
  });

  for (let kill = 0; kill < KILLS; kill++) {
    const before = await logged();
    live(sandbox.life);
    await eventually(async () => expect(await logged()).toBeGreaterThan(before), { intervalMs: 1 });
    await poller.kill();
    await endLeases();
    poller = poll();
  }
  await poller.kill();
  await endLeases();

  const byShortcuts = await loggedEvents(redis);
  for (const list of LIST_NAMES) expect((await store().load(list)).state.lastSweep?.mode).toBe('baseline');
  expect(byShortcuts.length).toBeGreaterThanOrEqual(KILLS);
  await sweepAll(config);
  const reported = await loggedEvents(redis);
  expect(flaws(judge(sandbox, reported))).toEqual(NONE);

  // Control: one event of a shortcut lost, and one found twice.
  const changes = byShortcuts.filter(({ type }) => /\.(created|updated)$/.test(type));
  const [first] = changes;
  const without = reported.filter(({ id }) => id !== first?.id);
  expect(flaws(judge(sandbox, without))).not.toEqual(NONE);
  expect(flaws(judge(sandbox, [...reported, { ...first!, id: 'again' }]))).not.toEqual(NONE);
});
