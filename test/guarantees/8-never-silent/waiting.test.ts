/** Guarantee 8: events that wait for long, and a loop whose turns fail, are reported wherever a person or a program looks. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Changefeed } from '../../../src/actions/feed.js';
import { LIST_NAMES } from '../../../src/crm/lists/lists.js';
import { openQueues } from '../../../src/delivery/queues.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { defineHandler } from '../../../src/delivery/handlers/define.js';
import { silentLog, type Log } from '../../../src/kit/log.js';
import { eventually } from '../../support/eventually.js';
import { fastClock, skippingClock } from '../../support/fast-clock.js';
import { baselined, openFeed } from '../../support/feed.js';
import { startOtherCrm, type OtherCrm } from '../../support/other-crm.js';
import { OPERATE, OPERATOR } from '../../support/page-feed.js';
import { useRedis } from '../../support/redis.js';

/** More than `lateAfter`. */
const LATE_MS = 300_000;

interface Running {
  feed: Changefeed;
  clock: ReturnType<typeof skippingClock>;
  /** Subjects of `problem` lines. */
  logged: string[];
  /** The feed's own events, as another subscription gets them. */
  reported: ChangeEvent[];
}

describe('never silent: events that wait', { timeout: 240_000 }, () => {
  const redis = useRedis();

  async function running(crm: OtherCrm): Promise<Running> {
    const [logged, reported]: [string[], ChangeEvent[]] = [[], []];
    const note = (facts: object, message: string): void => {
      if (message === 'problem' && 'problem' in facts) logged.push(String(facts.problem));
    };
    const log: Log = { ...silentLog, error: note, warn: note, child: () => log };
    const clock = skippingClock(fastClock(10));
    const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, { enabled: list === 'people', interval: '1s' }]));
    const raw = {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists, todos: { watch: false } }],
      http: { port: 0, tokens: { operate: OPERATE } },
      subscriptions: [
        defineHandler({ name: 'ops', on: ['crm.*'], handle: () => undefined }),
        defineHandler({ name: 'on-call', on: ['changefeed.*'], handle: (event) => void reported.push(event) }),
      ],
    };
    const feed = await openFeed(redis, raw, { http: true, clock, log });
    await feed.start();
    await baselined(feed);
    return { feed, clock, logged, reported };
  }
  let names = 0;
  const rename = (crm: OtherCrm): void => {
    names += 1;
    crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: `새 이름 ${names}`, '수정 날짜': new Date().toISOString() };
  };
  const handledAll = (feed: Changefeed): Promise<void> =>
    eventually(async () =>
      expect((await feed.status()).subscriptions[0]).toMatchObject({ lagEvents: 0, lateSince: null }),
    );
  /** Status, log, event, metric and readiness. `lasting` keeps the cause in place. */
  async function isReported(
    kind: string,
    { feed, logged, reported }: Running,
    lasting: () => void | Promise<void> = () => undefined,
  ): Promise<string> {
    const text = async (path: string): Promise<string> =>
      (await fetch(`${feed.pageUrl ?? ''}${path}`, { headers: OPERATOR })).text();
    return await eventually(
      async () => {
        await lasting();
        const found = (await feed.status()).problems.find((one) => one.kind === kind);
        expect(logged).toContain(kind);
        expect(reported.map(({ type }) => type)).toContain(`changefeed.${kind}`);
        expect(await text('/readyz')).toContain(kind);
        expect(await text('/metrics')).toContain(
          `changefeed_problems{kind="${kind}",severity="${found?.severity ?? ''}"} 1`,
        );
        return found?.message ?? '';
      },
      { timeoutMs: 120_000, intervalMs: 200 },
    );
  }

  it('never silent: a queue that is paused without a reason is reported with what to do, and its end too', async () => {
    const crm = await startOtherCrm();
    const all = await running(crm);
    const connect = () => redis.connect({ maxRetriesPerRequest: null });
    const queues = openQueues({ connect, keys: redis.keys, subscriptions: [{ name: 'ops' }], logger: silentLog });
    onTestFinished(() => queues.close());
    const pause = (): Promise<void> => queues.of('ops').pause();
    await pause();
    rename(crm);
    await eventually(async () => expect((await all.feed.status()).subscriptions[0]?.lagEvents).toBeGreaterThan(0));
    // The clock of the test is ahead of that of Redis, which is a problem of its own.
    expect((await all.feed.status()).problems.map(({ kind }) => kind)).not.toContain('delivery.late');
    all.clock.skip(LATE_MS);
    // The service resumes a queue that nobody has paused: what waited may be handled before it is paused again.
    const waiting = async (): Promise<void> => {
      await pause();
      rename(crm);
    };
    await isReported('delivery.late', all, waiting);
    await eventually(async () => {
      await waiting();
      const late = (await all.feed.status()).problems.find(({ kind }) => kind === 'delivery.late');
      expect(late?.message).toMatch(/"ops": its oldest event has waited since .* changefeed resume ops/);
    });

    await all.feed.resume('ops');
    await handledAll(all.feed);
    expect((await all.feed.status()).problems.map(({ kind }) => kind)).not.toContain('delivery.late');
    const over = ({ type, data }: ChangeEvent): boolean =>
      type === 'changefeed.problem.over' && data.notice?.problem === 'delivery.late';
    await eventually(
      () => {
        all.clock.skip(1_000);
        expect(all.reported.filter(over)).toHaveLength(1);
      },
      { timeoutMs: 100_000, intervalMs: 200 },
    );
  });

  it('never silent: events that a person keeps back by disabling their subscription are not (control)', async () => {
    const crm = await startOtherCrm();
    const { feed, clock, reported } = await running(crm);
    await feed.pause('ops', 'moved');
    rename(crm);
    await eventually(async () => expect((await feed.status()).subscriptions[0]?.lagEvents).toBeGreaterThan(0));
    clock.skip(LATE_MS);
    await eventually(() => expect(reported.map(({ type }) => type)).toContain('changefeed.subscription.disabled'));
    // The clock of the test is ahead of that of Redis.
    const kinds = (await feed.status()).problems.map(({ kind }) => kind);
    expect(kinds).toEqual(['subscription.disabled', 'clock.stepped']);
  });

  it('never silent: a loop whose turns fail is reported with its error, and no other loop is', async () => {
    const crm = await startOtherCrm();
    const all = await running(crm);
    // The reader of "ops" asks for backfills before each turn.
    await redis.redis.set(redis.keys.backfills('ops'), 'a value of another type');
    // It must fail for a minute.
    const message = await isReported('loop.failing', all, () => all.clock.skip(2_000));
    expect(message).toMatch(/"dispatch acme to ops".*Last error: .*(type|backfills)/i);
    const failing = (await all.feed.status()).problems.filter(({ kind }) => kind === 'loop.failing');
    expect(failing.map(({ subject }) => subject)).toEqual(['loop:dispatch acme to ops']);

    await redis.redis.del(redis.keys.backfills('ops'));
    const kinds = async (): Promise<string[]> => (await all.feed.status()).problems.map(({ kind }) => kind);
    await eventually(async () => expect(await kinds()).toEqual(['clock.stepped']));
    rename(crm);
    await handledAll(all.feed);
  });
});
