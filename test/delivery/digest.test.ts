import { describe, expect, it } from 'vitest';
import { momentBefore, nextMoment } from '../../src/delivery/moments.js';
import { planNext, scheduledJob } from '../../src/delivery/scheduled-job.js';
import { isoTime, systemClock } from '../../src/kit/clock.js';
import type { DigestContext, DigestSummary, Subscription } from '../../src/delivery/handlers/handler.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { createOffsetStore } from '../../src/delivery/offsets.js';
import { aSubscription, fanOutDeps } from '../support/fan-out.js';
import { appendEvents, changeEvent, WORKSPACE, changesOf } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { runFanOut, type RunningFanOut } from '../support/running-fan-out.js';
import { useRedis } from '../support/redis.js';
import { bringForward } from '../support/scheduled.js';

const test = useRedis();
const DAILY = { when: { at: '09:00' }, days: [1, 2, 3, 4, 5, 6, 7] } as const;
const offset = (): Promise<string | null> => createOffsetStore(test.redis, test.keys).get(WORKSPACE, 's');

function aDigest(changes: Partial<Subscription> = {}) {
  const digests: DigestSummary[] = [];
  const contexts: DigestContext[] = [];
  const handleDigest: Subscription['handleDigest'] = (digest, context) => {
    digests.push(digest);
    contexts.push(context);
  };
  const subscription = aSubscription('s', () => undefined, {
    digest: DAILY,
    digestOnly: true,
    handleDigest,
    ...changes,
  });
  return { digests, contexts, subscription };
}

const promote = ({ queues }: RunningFanOut): Promise<void> => eventually(() => bringForward(queues.of('s')));

/** Handles what is in the log up to this entry. */
async function digested(running: RunningFanOut, logId: string | undefined): Promise<void> {
  await promote(running);
  await eventually(async () => expect(await offset()).toBe(logId));
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('digest', () => {
  it.each<[string, Partial<Subscription>, string]>([
    [
      'of several types',
      { on: ['crm.person.*', 'crm.todo.completed'] },
      '&type=crm.person.*%2Ccrm.todo.completed&show=all',
    ],
    [
      'of one list and field',
      { lists: ['people'], fields: ['등급'], class: 'edited' },
      `&list=people&field=${encodeURIComponent('등급')}`,
    ],
  ])('digest: links to the page as it selects, %s', async (_, options, query) => {
    const { digests, subscription } = aDigest(options);
    const running = await runFanOut(test, [subscription], { pageUrl: 'https://status.example.com/' });
    const changes = [{ field: '등급', before: 'B', after: 'A' }];
    const events = [1, 2].map((sequence) => {
      const event = changeEvent({ record: 'a', sequence });
      return { ...event, data: { ...event.data, changes } };
    });
    const ids = await appendEvents(test, events);
    await digested(running, ids.at(-1));
    const { from, to, link } = digests[0] ?? {};
    const period = `&since=${encodeURIComponent(from?.time ?? '')}&until=${encodeURIComponent(to?.time ?? '')}`;
    const address = `https://status.example.com/#/changes?workspace=${WORKSPACE}`;
    expect(link).toBe(`${address}${query.replace(/(&show=all)?$/, `${period}$1`)}`);
  });

  it('digest: handles what is in the log since the last one, once, in its order, and queues no event', async () => {
    const { digests, contexts, subscription } = aDigest({ where: ({ subject }) => subject !== 'c' });
    const running = await runFanOut(test, [subscription]);
    const events = [1, 2, 3].flatMap((sequence) =>
      ['a', 'b', 'c'].map((record) => changeEvent({ record, sequence, verb: sequence === 1 ? 'created' : 'updated' })),
    );
    const ids = await appendEvents(test, events);
    await digested(running, ids.at(-1));
    expect(digests).toHaveLength(1);
    const [digest] = digests;
    expect(digest).toMatchObject({
      id: `digest.${ids[0] ?? ''}.${ids[7] ?? ''}`,
      workspace: WORKSPACE,
      count: 6,
      types: [
        { type: 'crm.person.updated', count: 4 },
        { type: 'crm.person.created', count: 2 },
      ],
      link: null,
    });
    const expected = events.filter(({ subject }) => subject !== 'c').map(({ id }) => id);
    expect(digest?.first.map(({ id }) => id)).toEqual(expected);
    expect((await all(digest!.events())).map(({ id }) => id)).toEqual(expected);
    expect(contexts[0]).toMatchObject({ workspace: { name: WORKSPACE }, subscription: 's', attempt: 1 });
    expect(await running.queues.of('s').getCompletedCount()).toBe(0);
  });

  it('digest: the people in charge are counted, by name where a record has only the id', async () => {
    const { digests, subscription } = aDigest();
    const running = await runFanOut(test, [subscription]);
    const of = (record: string, sequence: number, owner: object) => {
      const event = changeEvent({ record, sequence });
      return { ...event, data: { ...event.data, after: { ...event.data.after, id: record, ...owner } } };
    };
    await appendEvents(test, [
      of('m', 1, { ownerId: 'u1' }),
      of('a', 2, { 담당자: { id: 'u2', name: '이가상' } }),
      of('a', 3, { 담당자: { id: 'u1', name: '김가상' } }),
      of('a', 4, {}),
    ]);
    await promote(running);
    await eventually(() => expect(digests).toHaveLength(1));
    expect(digests[0]?.people).toEqual([
      { id: 'u1', name: '김가상', count: 2 },
      { id: 'u2', name: '이가상', count: 1 },
    ]);
  });

  it('digest: a single event is handled as a single event where there is a handle', async () => {
    const single: string[] = [];
    const { digests, subscription } = aDigest({
      digestOnly: false,
      handle: ({ subject }) => void single.push(subject),
    });
    const running = await runFanOut(test, [subscription]);
    await appendEvents(test, [changeEvent({ record: 'a', sequence: 1 })]);
    await promote(running);
    await eventually(() => expect(single).toEqual(['a']));
    expect(digests).toEqual([]);
  });

  it('digest: where nothing is selected, nothing is handled and the offset moves', async () => {
    const { digests, subscription } = aDigest({ on: ['crm.todo.*'] });
    const running = await runFanOut(test, [subscription]);
    const ids = await appendEvents(test, [changeEvent({ record: 'a', sequence: 1 })]);
    await digested(running, ids[0]);
    expect(digests).toEqual([]);
  });

  it('digest: a failed one is tried again with the same events and id; later ones are in the next', async () => {
    const seen: DigestSummary[] = [];
    const handleDigest = async (digest: DigestSummary): Promise<void> => {
      seen.push(digest);
      if (seen.length > 1) return;
      await appendEvents(test, changesOf('late', 4, 5));
      throw new Error('the chat is away');
    };
    const { subscription } = aDigest({ handleDigest });
    const running = await runFanOut(test, [subscription]);
    await appendEvents(test, changesOf('a', 1, 2, 3));
    await promote(running);
    await eventually(() => expect(seen.map(({ count }) => count)).toEqual([3, 3]));
    expect(seen[1]?.id).toBe(seen[0]?.id);
    await promote(running);
    await eventually(() => expect(seen.map(({ count }) => count)).toEqual([3, 3, 2]));
  });

  it('digest: is no dead letter after its last attempt; the next one begins with the same events', async () => {
    const seen: number[] = [];
    const handleDigest = ({ count }: DigestSummary): void => {
      seen.push(count);
      if (seen.length === 1) throw new PermanentError('too large');
    };
    const { subscription } = aDigest({ handleDigest });
    const running = await runFanOut(test, [subscription]);
    const ids = await appendEvents(test, changesOf('a', 1, 2));
    await promote(running);
    await eventually(() => expect(seen).toEqual([2]));
    expect(await offset()).toBe('0');
    const [failing] = await running.dispatcher.statistics();
    expect(failing).toMatchObject({ dead: 0, failures: 1, delayed: 0 });
    await digested(running, ids[1]);
    expect(seen).toEqual([2, 2]);
    // That it has succeeded is noted after the offset.
    await eventually(async () => {
      const [well] = await running.dispatcher.statistics();
      expect(well).toMatchObject({ failingSince: null, lagEvents: 0, lateSince: null });
    });
  });

  it('digest: five in a row that are given up pause the subscription; a success counts from the start', async () => {
    let isAway = true;
    const handleDigest = (): void => {
      if (isAway) throw new PermanentError('the report server says no');
    };
    const running = await runFanOut(test, [aDigest({ handleDigest }).subscription]);
    const ids = await appendEvents(test, changesOf('a', 1, 2));
    const statistics = async () => (await running.dispatcher.statistics())[0]!;
    const fails = async (failures: number): Promise<void> => {
      await promote(running);
      await eventually(async () => expect((await statistics()).failures).toBe(failures));
    };
    await fails(1);
    isAway = false;
    await digested(running, ids[1]);
    await eventually(async () => expect((await statistics()).failures).toBe(0));
    isAway = true;
    await appendEvents(test, changesOf('a', 3));
    for (const failures of [1, 2, 3, 4]) await fails(failures);
    expect((await statistics()).paused).toBeNull();
    await fails(5);
    await eventually(async () =>
      expect((await statistics()).paused?.reason).toContain('5 digests or reports in a row were given up'),
    );
  });

  it('digest: a crash of its process is a failure, once, and an attempt', async () => {
    const { digests, subscription } = aDigest();
    const running = await runFanOut(test, [subscription]);
    const ids = await appendEvents(test, changesOf('a', 1, 2));
    const crashed = async (times: number): Promise<void> => {
      await eventually(async () => expect(await scheduledJob(running.queues.of('s'), WORKSPACE)).toBeDefined());
      await test.redis.hset(test.keys.job('s', `scheduled.${WORKSPACE}`), 'stc', times);
      await promote(running);
    };
    await crashed(11);
    await eventually(async () => {
      const [status] = await running.dispatcher.statistics();
      expect(status).toMatchObject({ failures: 1, dead: 0 });
      expect(status?.lastError?.message).toContain('crashed 11 times');
    });
    expect([digests.length, await offset()]).toEqual([0, '0']);
    await crashed(1);
    await eventually(async () => expect([digests.length, await offset()]).toEqual([1, ids[1]]));
  });

  it('digest: two processes plan one, and the next moment finds nothing to say', async () => {
    const { digests, subscription } = aDigest();
    const running = await runFanOut(test, [subscription]);
    await runFanOut(test, [subscription]);
    const ids = await appendEvents(test, changesOf('a', 1, 2));
    await digested(running, ids[1]);
    await eventually(async () => expect(await scheduledJob(running.queues.of('s'), WORKSPACE)).toBeUndefined());
    expect(digests).toHaveLength(1);
  });

  it.each([-2, 2])(
    'digest: is planned for its moment by a process whose clock is wrong by %d days, so that no process plans another',
    async (days) => {
      const clock = { ...systemClock, now: () => systemClock.now() + days * 86_400_000 };
      const running = await runFanOut(test, [aDigest().subscription], { clock });
      await appendEvents(test, changesOf('a', 1, 2));
      const job = await eventually(async () => (await scheduledJob(running.queues.of('s'), WORKSPACE))!.toJSON());
      const atMs = nextMoment(DAILY, systemClock.now(), 'Asia/Seoul');
      expect([job.data.atMs, job.timestamp + job.delay]).toEqual([atMs, atMs]);
    },
  );

  it('digest: is sent once by the process that runs at its moment, after all have been restarted', async () => {
    const { digests, subscription } = aDigest();
    const before = await runFanOut(test, [subscription]);
    const ids = await appendEvents(test, changesOf('a', 1, 2));
    await eventually(async () => expect(await scheduledJob(before.queues.of('s'), WORKSPACE)).toBeDefined());
    await before.pool.stop();
    await before.dispatcher.stop();
    await promote(before);
    await runFanOut(test, [subscription]);
    await eventually(async () => expect(await offset()).toBe(ids[1]));
    expect(digests.map(({ count }) => count)).toEqual([2]);
  });

  it('digest: one that is planned for another moment than the option says now is planned anew', async () => {
    const { subscription } = aDigest({ digest: { when: { everyMs: 86_400_000 }, days: [1] } });
    const before = await runFanOut(test, [subscription]);
    await appendEvents(test, changesOf('a', 1, 2));
    const planned = async () => (await scheduledJob(before.queues.of('s'), WORKSPACE))?.data.atMs ?? 0;
    await eventually(async () => expect(await planned()).toBeGreaterThan(0));
    await before.dispatcher.stop();
    await before.pool.stop();
    const hourly = { when: { everyMs: 3_600_000 }, days: DAILY.days } as const;
    await runFanOut(test, [aDigest({ digest: hourly }).subscription]);
    await eventually(async () => expect(await planned()).toBe(nextMoment(hourly, systemClock.now(), 'Asia/Seoul')));
  });

  it('digest: what waits for its moment is neither late nor waiting, and nothing waits until it is handled', async () => {
    const { subscription } = aDigest({ lateAfterMs: 1 });
    const running = await runFanOut(test, [subscription]);
    await appendEvents(test, [changeEvent({ record: 'a', sequence: 1 })]);
    await eventually(async () => expect(await scheduledJob(running.queues.of('s'), WORKSPACE)).toBeDefined());
    const [status] = await running.dispatcher.statistics();
    expect(status).toMatchObject({ waiting: 0, delayed: 0, lagEvents: 1, lagSeconds: 0, lateSince: null });
    expect(await running.dispatcher.waitUntilHandled({ timeoutMs: 0 })).toEqual({ outcome: 'handled' });
  });

  it('digest: a subscription that has none any more goes on at its offset with single events', async () => {
    const { digests, subscription } = aDigest();
    const before = await runFanOut(test, [subscription]);
    await appendEvents(test, changesOf('a', 1, 2));
    await eventually(async () => expect(await scheduledJob(before.queues.of('s'), WORKSPACE)).toBeDefined());
    await before.pool.stop();
    await before.dispatcher.stop();
    const single: number[] = [];
    const running = await runFanOut(test, [aSubscription('s', ({ data }) => void single.push(data.sequence))]);
    await eventually(() => expect(single).toEqual([1, 2]));
    // What was planned is nothing now.
    await promote(running);
    await eventually(async () => expect(await scheduledJob(running.queues.of('s'), WORKSPACE)).toBeUndefined());
    expect([digests.length, single]).toEqual([0, [1, 2]]);
  });

  it('digest: a replay or a snapshot to it is refused in one sentence', async () => {
    const { subscription } = aDigest();
    const { dispatcher } = await runFanOut(test, [subscription]);
    const sentence = 'the subscription "s" handles its events in digests: single events are not sent to it.';
    await expect(dispatcher.replay({ subscription: 's', from: 'beginning' })).rejects.toThrow(`replay: ${sentence}`);
    await expect(dispatcher.snapshot('s', new Map())).rejects.toThrow(`snapshot: ${sentence}`);
  });
});

describe('report', () => {
  const SEOUL = 'Asia/Seoul';
  /** Every day at the time that it was so long ago. */
  const dailyAgo = (agoMs: number) => {
    const at = new Date(systemClock.now() - agoMs + 9 * 3_600_000).toISOString().slice(11, 16);
    return { when: { at }, days: DAILY.days } as const;
  };
  const lastMomentOf = (schedule: ReturnType<typeof dailyAgo>): number =>
    momentBefore(schedule, systemClock.now(), SEOUL);
  const planned = ({ queues }: RunningFanOut) => scheduledJob(queues.of('s'), WORKSPACE);
  /** As if the job had been planned for this moment. */
  const plannedAt = (atMs: number, { queues }: RunningFanOut): Promise<void> =>
    eventually(() => bringForward(queues.of('s'), { atMs }));

  function aReport(schedule: ReturnType<typeof dailyAgo>) {
    const sentSince: string[] = [];
    const report = { what: 'todos' as const, schedule, handle: ({ at }: { at: string }) => void sentSince.push(at) };
    const extras = {
      countFor: (_what: string, { since }: { since: string }) => Promise.resolve({ at: since, refused: '' }),
    };
    return { subscription: aSubscription('s', () => undefined, { report }), extras, sentSince };
  }

  it('report: after a pause of days there is one, of now', async () => {
    const schedule = dailyAgo(1_800_000);
    const { subscription, extras, sentSince } = aReport(schedule);
    const running = await runFanOut(test, [subscription], extras);
    const queue = running.queues.of('s');
    await queue.pause();
    const last = lastMomentOf(schedule);
    const before = momentBefore(schedule, last, SEOUL);
    await plannedAt(momentBefore(schedule, before, SEOUL), running);
    await queue.resume();

    const next = nextMoment(schedule, systemClock.now(), SEOUL);
    await eventually(async () => expect((await planned(running))?.data.atMs ?? next).toBe(next));
    expect(sentSince).toEqual([isoTime(before)]);
  });

  it('report: one whose moment a process does not know waits for another that does, as while a configuration is rolled out', async () => {
    const known = dailyAgo(60_000);
    const old = aReport(dailyAgo(-7_200_000));
    const current = aReport(known);
    const process = await runFanOut(test, [old.subscription], old.extras);
    const atMs = lastMomentOf(known);
    await plannedAt(atMs, process);
    await eventually(async () => {
      expect((await planned(process))?.attemptsStarted).toBe(1);
      expect(await (await planned(process))?.isDelayed()).toBe(true);
    });
    await process.pool.stop();
    await runFanOut(test, [current.subscription], current.extras);
    await (await planned(process))?.promote();

    const since = isoTime(momentBefore(known, atMs, SEOUL));
    await eventually(() => expect([old.sentSince, current.sentSince]).toEqual([[], [since]]));
  });

  it('report: of two processes that know different schedules, neither takes the earlier moment from the other', async () => {
    const [early, late] = [dailyAgo(-7_200_000), dailyAgo(-14_400_000)];
    const first = await runFanOut(test, [aReport(late).subscription]);
    const moment = (schedule: typeof early): number => nextMoment(schedule, systemClock.now(), SEOUL);
    await eventually(async () => expect((await planned(first))?.data.atMs).toBe(moment(late)));
    const second = await runFanOut(test, [aReport(early).subscription]);
    await eventually(async () => expect((await planned(first))?.data.atMs).toBe(moment(early)));
    await second.dispatcher.stop();

    const { log } = fanOutDeps(test);
    await planNext(first.queues.of('s'), { workspace: WORKSPACE, schedule: late }, { log, timeZoneOf: () => SEOUL });
    expect((await planned(first))?.data.atMs).toBe(moment(early));
  });

  it('report: one whose moment no process knows is dropped once no configuration can be under way', async () => {
    const { subscription, extras, sentSince } = aReport(dailyAgo(-7_200_000));
    const running = await runFanOut(test, [subscription], extras);
    await plannedAt(lastMomentOf(dailyAgo(3_700_000)), running);
    await eventually(async () => expect(await planned(running)).toBeUndefined());
    expect(sentSince).toEqual([]);
  });
});
