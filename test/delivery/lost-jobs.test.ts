import type { Queue } from 'bullmq';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { scheduledJob } from '../../src/delivery/scheduled-job.js';
import { createLostJobs } from '../../src/delivery/run/lost-jobs.js';
import type { JobData } from '../../src/delivery/queues.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { RetryAfterError } from '../../src/delivery/handlers/errors.js';
import type { Handle, Subscription } from '../../src/delivery/handlers/handler.js';
import { createRecordGate, type NewEntry, type RecordGate } from '../../src/delivery/groups/gate.js';
import { eventually } from '../support/eventually.js';
import { aSubscription, fanOutDeps } from '../support/fan-out.js';
import { WORKSPACE, appendEvents, changeEvent, firstChangesOf } from '../support/events.js';
import { heardLog } from '../support/heard-log.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const ADDED = /their jobs were added again/;
const PROMOTED = /by a clock that was ahead/;
const WORKSPACES = [WORKSPACE, 'other'];

/** Deletes keys of the queue as `redis-cli DEL` does. */
async function del(pattern: string): Promise<void> {
  const found = await test.redis.keys(`${test.keys.subscriptionQueuePrefix('s')}:s:${pattern}`);
  expect(found.length).toBeGreaterThan(0);
  await test.redis.del(...found);
}

const WAYS: readonly (readonly [name: string, empty: (queue: Queue<JobData>) => Promise<unknown>])[] = [
  ['drain()', (queue) => queue.drain(true)],
  ['clean()', (queue) => queue.clean(0, 1_000, 'wait')],
  ['obliterate()', (queue) => queue.obliterate({ force: true })],
  ['job.remove()', async (queue) => Promise.all((await queue.getJobs(['waiting'])).map((job) => job.remove()))],
  ['DEL of all keys of the queue', () => del('*')],
  ['DEL of the list of waiting jobs', () => del('wait')],
];

/** A subscription `s`, whose jobs are searched for every 50 ms unless it says otherwise. */
async function fanOut(handle: Handle, more: Partial<Subscription> = {}, lostJobsMs = 50) {
  const { log: logger, heard } = heardLog();
  const warnings = (): string[] =>
    heard.flatMap(({ level, facts, message }) => (level === 'warn' ? [`${Number(facts['added'])} ${message}`] : []));
  let checks = 0;
  const own = createRecordGate(test.redis, test.keys);
  const gate: RecordGate = {
    ...own,
    heads: (...args) => {
      checks += 1;
      return own.heads(...args);
    },
  };
  const extras = { logger, gate, workspaces: WORKSPACES, lostJobsMs };
  const running = await runFanOut(test, [aSubscription('s', handle, more)], extras);
  const queue = running.queues.of('s');
  const pending = async (): Promise<number> => {
    const each = await Promise.all(WORKSPACES.map((workspace) => own.pending('s', workspace)));
    return each.reduce((sum, { events }) => sum + events, 0);
  };
  return {
    ...running,
    ...{ warnings, queue, pending, gate },
    severalChecks: async () => {
      const before = checks;
      await eventually(() => expect(checks).toBeGreaterThan(before + 5));
    },
    put: async (events: readonly ChangeEvent[], jobs: number) => {
      const before = await pending();
      await queue.pause();
      await appendEvents(test, events);
      await eventually(async () => expect(await pending()).toBe(before + events.length));
      await eventually(async () => expect(await queue.getWaitingCount()).toBe(jobs));
    },
  };
}

const line = ({ source, subject, data }: ChangeEvent): string => `${source} ${subject} ${data.sequence}`;
const someEvents = (): ChangeEvent[] =>
  [1, 2, 3].flatMap((sequence) =>
    ['r1', 'r2', 'r3'].flatMap((record) => WORKSPACES.map((workspace) => changeEvent({ record, sequence, workspace }))),
  );
const sequencesOf = (lines: readonly string[], record: string): string[] =>
  lines.filter((one) => one.startsWith(record)).map((one) => one.slice(-1));

describe.each(['record', 'none'] as const)('order %s: jobs that were removed by hand', (order) => {
  it.each(WAYS)('lost jobs: after %s, every event is handled once and in order', async (_name, empty) => {
    const lines: string[] = [];
    const { put, queue, pending, warnings } = await fanOut((event) => void lines.push(line(event)), { order });
    const events = someEvents();
    const jobs = order === 'none' ? 9 : 3;
    await put(events, 2 * jobs);
    await empty(queue);
    // Without it, the queue stays paused where its pause was not removed too.
    await queue.resume();

    await eventually(async () => expect(await pending()).toBe(0));
    expect([...lines].sort()).toEqual(events.map(line).sort());
    const ordered = WORKSPACES.map((name) => sequencesOf(lines, `/workspaces/${name} r1`).join(''));
    expect(order === 'none' ? ['123', '123'] : ordered).toEqual(['123', '123']);
    const added = (): number[] =>
      warnings()
        .filter((one) => ADDED.test(one))
        .map((one) => parseInt(one));
    await eventually(() => expect(added()).toEqual([2 * jobs]));
  });

  it('lost jobs: a single job that was removed from a busy queue; the one that runs is not disturbed', async () => {
    const lines: string[] = [];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const handle: Handle = async (event, { signal }) => {
      if (event.subject === 'r1') await released;
      signal.throwIfAborted();
      lines.push(line(event));
    };
    const { append, put, queue, pending, warnings } = await fanOut(handle, { order, concurrency: 1 });
    await append(1);
    await eventually(async () => expect(await queue.getActiveCount()).toBe(1));
    const [lost, other] = firstChangesOf('r2', 'r3');
    await put([lost!, other!], 2);
    const removed = (await queue.getWaiting()).find(({ id = '' }) => id.startsWith(lost!.id));
    await removed?.remove();
    // The list of active jobs is gone too; the job that runs has its lock.
    await del('active');
    await eventually(() => expect(warnings()).toHaveLength(1));
    release();
    await queue.resume();

    await eventually(async () => expect(await pending()).toBe(0));
    expect(lines.toSorted()).toEqual(['r1', 'r2', 'r3'].map((record) => `/workspaces/acme ${record} 1`));
    expect(warnings()[0]).toMatch(/^1 .*added again/);
  });

  it('lost jobs: a job is added by the second check that misses it, because a run that lost it may not know yet', async () => {
    const { put, queue, queues, gate } = await fanOut(() => undefined, { order }, 3_600_000);
    await put([changeEvent({ record: 'r1', sequence: 1 })], 1);
    const subscriptions = [aSubscription('s', () => undefined, { order })];
    const findLostJobs = createLostJobs({ ...fanOutDeps(test), subscriptions, queues, gate });
    const waitingAfterCheck = async (): Promise<number> => {
      await findLostJobs(() => undefined);
      return await queue.getWaitingCount();
    };
    expect(await waitingAfterCheck()).toBe(1);
    expect(await waitingAfterCheck()).toBe(1);
    await queue.drain();
    expect(await waitingAfterCheck()).toBe(0);
    expect(await waitingAfterCheck()).toBe(1);
  });

  it('lost jobs: those of a replay and of a retried dead letter', async () => {
    const lines: string[] = [];
    let fails = true;
    const handle: Handle = (event, { replay }) => {
      if (fails) throw new Error('no luck');
      lines.push(`${replay ? 'replayed ' : ''}${event.data.sequence}`);
    };
    const retry = { attempts: 1, delayMs: 1, maxDelayMs: 1 };
    const { append, dispatcher, dead, queue, pending } = await fanOut(handle, { order, retry });
    await append(1, 2);
    await eventuallyDead(dead, 2);
    fails = false;
    await queue.pause();
    expect(await dead.retry()).toBe(2);
    expect(await dispatcher.replay({ subscription: 's', from: 'beginning' })).toMatchObject({ events: 2 });
    await queue.drain(true);
    await queue.resume();

    await eventually(async () => expect(await pending()).toBe(0));
    expect(order === 'none' ? lines.toSorted() : lines).toEqual(['1', '2', 'replayed 1', 'replayed 2']);
  });

  // As after Redis went back: BullMQ has completed the job, and would ignore another one with its id.
  it.each(['completed', 'failed'])('lost jobs: that of a head is %s, and is replaced', async (state) => {
    const seen: number[] = [];
    let fails = state === 'failed';
    const handle: Handle = ({ data }) => {
      if (fails) throw new Error('no luck');
      seen.push(data.sequence);
    };
    const retry = { attempts: 1, delayMs: 1, maxDelayMs: 1 };
    const { append, queue, pending, warnings } = await fanOut(handle, { order, retry, start: 'now' });
    await append(1);
    const [job] = await eventually(async () => {
      const jobs = await queue.getJobs([state === 'failed' ? 'failed' : 'completed']);
      expect(jobs).toHaveLength(1);
      return jobs;
    });
    fails = false;
    seen.length = 0;
    const entry = { id: job!.id!, logId: job!.data.logId, atMs: 1, kind: 'logged' as const, type: job!.name };
    const back: NewEntry = { ...entry, group: job!.data.group, serial: '0-1' };
    await createRecordGate(test.redis, test.keys).enter('s', {
      workspace: WORKSPACE,
      source: 'back',
      readAt: null,
      entries: [back],
    });
    await append(2);

    await eventually(async () => expect(await pending()).toBe(0));
    expect(seen.toSorted()).toEqual([1, 2]);
    expect(warnings()).toEqual([expect.stringMatching(/^1 .*added again/)]);
  });

  it('lost jobs: those of a paused queue are not lost', async () => {
    const { put, queue, severalChecks, warnings } = await fanOut(() => undefined, { order });
    await put(someEvents(), order === 'none' ? 18 : 6);
    const jobs = async () => (await queue.getJobs(['waiting'])).map(({ id, timestamp }) => `${id} ${timestamp}`);
    const before = await jobs();
    await severalChecks();
    expect({ jobs: await jobs(), warnings: warnings() }).toEqual({ jobs: before, warnings: [] });
  });
});

describe('jobs that were removed by hand', () => {
  it('lost jobs: a dead letter that is held is not run again; when it is removed too, the next event goes on', async () => {
    const seen: number[] = [];
    const handle: Handle = ({ data }) => {
      seen.push(data.sequence);
      if (data.sequence === 1) throw new Error('no luck');
    };
    const retry = { attempts: 1, delayMs: 1, maxDelayMs: 1 };
    const { append, dead, queue, pending, severalChecks, warnings } = await fanOut(handle, { whenDead: 'hold', retry });
    await append(1, 2, 3);
    await eventuallyDead(dead, 1);
    await severalChecks();
    expect({ seen, pending: await pending(), dead: await dead.count(), warnings: warnings() }).toEqual({
      ...{ seen: [1], pending: 2, dead: 1, warnings: [] },
    });

    await queue.clean(0, 10, 'failed');
    await eventually(async () => expect(await pending()).toBe(0));
    expect(seen).toEqual([1, 2, 3]);
    await eventually(() => expect(warnings()).toEqual([expect.stringContaining('the events behind them go on')]));
  });

  it('lost jobs: a head that waits until its record is quiet still waits, and is merged', async () => {
    const merged: (number | undefined)[][] = [];
    const handle: Handle = ({ data }) => void merged.push([data.merged?.firstSequence, data.sequence]);
    const settle = { stillMs: 1_500, atMostMs: 60_000 };
    const { append, queue, pending, warnings } = await fanOut(handle, { settle });
    await append(1, 2);
    await eventually(async () => expect(await queue.getDelayedCount()).toBe(1));
    await queue.drain(true);
    await eventually(() => expect(warnings()).toHaveLength(1));
    await append(3);

    await eventually(async () => expect(await pending()).toBe(0));
    expect(merged).toEqual([[1, 3]]);
  });

  it('lost jobs: the keys of Redis are searched once for all workspaces of a subscription, with signs of life', async () => {
    const workspaces = Array.from({ length: 20 }, (_, index) => `w${index}`);
    const { queue, queues, gate } = await fanOut(() => undefined, {}, 3_600_000);
    await queue.pause();
    for (const workspace of workspaces) {
      const { subject: record } = changeEvent({ record: 'r1', sequence: 1, workspace });
      const entry = {
        id: `evt_${workspace}.1-1`,
        logId: '1-1',
        atMs: 1,
        kind: 'logged' as const,
        type: 'crm.x.updated',
      };
      const entries: NewEntry[] = [{ ...entry, group: `${workspace}/people/${record}`, serial: '1-1' }];
      await gate.enter('s', { workspace, source: workspace, readAt: null, entries });
    }
    const scans = vi.spyOn(test.redis, 'scanStream');
    onTestFinished(() => scans.mockRestore());
    const alive = vi.fn();
    const subscriptions = [aSubscription('s', () => undefined)];
    const findLostJobs = createLostJobs({ ...fanOutDeps(test), subscriptions, workspaces, queues, gate });
    const search = (): Promise<void> => findLostJobs(alive);
    await search();
    expect(scans).toHaveBeenCalledTimes(1);
    expect(alive.mock.calls.length).toBeGreaterThan(workspaces.length);
    await search();
    expect(await queue.getWaitingCount()).toBe(workspaces.length);
  });
});

describe('jobs that were planned by another clock', () => {
  const DAY_MS = 86_400_000;
  const WAIT_MS = 1_500;
  const retry = { attempts: 50, delayMs: 1, maxDelayMs: 1 };
  const settle = { stillMs: WAIT_MS, atMostMs: 60_000 };

  /** Until it is put back, in this process only; Redis has another clock. */
  function clockAheadBy(ms: number) {
    const wall = vi
      .spyOn(Date, 'now')
      .mockImplementation(() => Math.floor(performance.timeOrigin + performance.now()) + ms);
    onTestFinished(() => wall.mockRestore());
    return { putBack: () => wall.mockRestore() };
  }

  function failing(retryAfter: number) {
    const attempts: { attempt: number; atMs: number }[] = [];
    const handle: Handle = (_event, { attempt }) => {
      attempts.push({ attempt, atMs: performance.now() });
      if (attempt === 1) throw new RetryAfterError('busy', { retryAfter });
    };
    return { attempts, handle };
  }

  it('lost jobs: a retry keeps its wait when the clock has been put back', async () => {
    const { attempts, handle } = failing(WAIT_MS);
    const clock = clockAheadBy(DAY_MS);
    const { append, queue, pending, warnings, severalChecks } = await fanOut(handle, { retry });
    await append(1);
    await eventually(async () => expect(await queue.getDelayedCount()).toBe(1));
    await severalChecks();
    clock.putBack();

    await eventually(async () => expect(await pending()).toBe(0));
    const [first, second] = attempts;
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(WAIT_MS - 5);
    expect(warnings().filter((one) => PROMOTED.test(one))).toHaveLength(1);
  });

  it('lost jobs: an event that waits for its record to be quiet keeps its wait when the clock has been put back', async () => {
    const handled: number[] = [];
    const clock = clockAheadBy(DAY_MS);
    const { append, queue, pending } = await fanOut(() => void handled.push(performance.now()), { settle });
    const enteredMs = performance.now();
    await append(1);
    await eventually(async () => expect(await queue.getDelayedCount()).toBe(1));
    clock.putBack();

    await eventually(async () => expect(await pending()).toBe(0));
    expect(handled).toHaveLength(1);
    expect(handled[0]! - enteredMs).toBeGreaterThanOrEqual(WAIT_MS - 5);
  });

  it('lost jobs: a wait that the receiver has set is not cut short, and no attempt is used up', async () => {
    const { attempts, handle } = failing(DAY_MS);
    const clock = clockAheadBy(DAY_MS);
    const { append, queue, warnings, severalChecks } = await fanOut(handle, { retry });
    await append(1);
    await eventually(async () => expect(await queue.getDelayedCount()).toBe(1));
    clock.putBack();
    await eventually(() => expect(warnings().filter((one) => PROMOTED.test(one))).toHaveLength(1));
    await eventually(async () => expect(await queue.getDelayedCount()).toBe(1));
    await severalChecks();

    expect(attempts.map(({ attempt }) => attempt)).toEqual([1]);
    expect(warnings().filter((one) => PROMOTED.test(one))).toHaveLength(1);
  });

  // A worker whose clock is a minute ahead takes it a minute too early, as here.
  it('lost jobs: a retry that another clock takes before its time is put back', async () => {
    const { attempts, handle } = failing(DAY_MS);
    const { append, queue } = await fanOut(handle, { retry });
    await append(1);
    const delayed = async () => {
      const [job] = await queue.getDelayed();
      expect(job?.attemptsMade).toBe(1);
      return job!;
    };
    const before = await eventually(delayed);
    await before.promote();
    await eventually(async () => expect((await delayed()).attemptsStarted).toBe(2));
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1]);
  });

  // A worker whose clock is ahead takes it too early, as here.
  it('lost jobs: a digest that another clock takes before its moment is put back', async () => {
    const digest = { when: { everyMs: DAY_MS }, days: [1, 2, 3, 4, 5, 6, 7] } as const;
    const digests: number[] = [];
    const handleDigest: Subscription['handleDigest'] = ({ count }) => void digests.push(count);
    const more = { digest, digestOnly: true, handleDigest };
    const { append, queue, severalChecks } = await fanOut(() => undefined, more);
    await append(1);
    const planned = () => scheduledJob(queue, WORKSPACE);
    await eventually(async () => expect(await planned()).toBeDefined());
    const beforeMs = Date.now();
    await (await planned())?.promote();
    await eventually(async () => expect(await planned()).toMatchObject({ attemptsStarted: 1, attemptsMade: 0 }));
    await severalChecks();

    const job = (await planned())!;
    expect(await job.isDelayed()).toBe(true);
    const putBackAtMs = (job.data.atMs ?? 0) - job.delay;
    expect(putBackAtMs).toBeGreaterThanOrEqual(beforeMs - 5);
    expect(putBackAtMs).toBeLessThanOrEqual(Date.now() + 5);
    expect(digests).toEqual([]);
  });

  it('lost jobs: a retry for which the receiver has set the time waits for it', async () => {
    const handle: Handle = () => {
      throw new RetryAfterError('busy', { retryAfter: DAY_MS });
    };
    const { append, queue, warnings, severalChecks } = await fanOut(handle);
    await append(1);
    await eventually(async () => expect(await queue.getDelayedCount()).toBe(1));
    await severalChecks();
    const promoted = warnings().filter((one) => PROMOTED.test(one));
    expect({ delayed: await queue.getDelayedCount(), promoted }).toEqual({ delayed: 1, promoted: [] });
  });
});
