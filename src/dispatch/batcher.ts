/**
 * Collects the events of one subscription for its batch handler. Each event is a job that BullMQ has handed over and that is
 * the head of its ordering group. It waits here, in the process, until the batch is full or its first member has waited long
 * enough. Then the batch is flushed: the events directly behind each head join as far as there is room, so that a record with
 * many changes fills a batch instead of waiting once per event.
 */
import { systemClock } from '../runtime/clock.js';
import { Interrupt } from './attempt.js';
import { attemptBatch, type BatchOptions, type GroupOutcome, type Member } from './batch-attempt.js';
import type { Delivery, GroupEntry } from './ports.js';

/** The head of an ordering group, with access to its followers. */
export interface BatchHead extends Member {
  /** It is handled at once in a batch of its own. */
  alone: boolean;
  /** Until when the job is locked for this process, in real time; ms. */
  lockedUntil: number;
  /** Extends the lock. Returns until when it lasts. @throws when another process has the job */
  extendLock(): Promise<number>;
  followers(most: number): Promise<readonly GroupEntry[]>;
  load(entries: readonly GroupEntry[]): Promise<readonly Delivery[]>;
}

export interface BatchResult {
  /** The events that joined the batch behind the head, in order. */
  followers: readonly Delivery[];
  outcome: GroupOutcome;
}

export type Batcher = ReturnType<typeof createBatcher>;

interface Waiting {
  head: BatchHead;
  resolve: (result: BatchResult) => void;
  reject: (error: unknown) => void;
}

export function createBatcher(options: Omit<BatchOptions, 'interrupt'>) {
  const { batch, subscription, clock } = options;
  const running = new Set<Interrupt>();
  const waiting: Waiting[] = [];
  let linger: AbortController | undefined;
  let due = false;
  let flushing = false;

  const isReady = (): boolean => waiting.length >= batch.size || (waiting.length > 0 && (due || flushing));
  const start = (members: readonly Waiting[]): void => {
    const interrupt = new Interrupt();
    running.add(interrupt);
    void runBatch(members, { ...options, interrupt }).finally(() => {
      running.delete(interrupt);
      flushReady();
    });
  };
  const flushReady = (): void => {
    while (running.size < subscription.concurrency && isReady()) {
      const members = waiting.splice(0, batch.size);
      stopLingering();
      start(members);
    }
    if (waiting.length > 0 && !due) startLingering();
  };
  const startLingering = (): void => {
    if (linger !== undefined) return;
    const mine = (linger = new AbortController());
    const end = (): void => {
      if (mine.signal.aborted) return;
      due = true;
      flushReady();
    };
    clock.sleep(batch.lingerMs, mine.signal).then(end, () => undefined);
  };
  const stopLingering = (): void => {
    linger?.abort();
    linger = undefined;
    due = false;
  };

  return {
    /** @throws the errors of Redis; an error when the process stops before the batch is flushed */
    join: (head: BatchHead) =>
      new Promise<BatchResult>((resolve, reject) => {
        if (head.alone) start([{ head, resolve, reject }]);
        else waiting.push({ head, resolve, reject });
        flushReady();
      }),
    /** From now on batches do not wait to fill. */
    flush(): void {
      flushing = true;
      flushReady();
    },
    /** Aborts the running batches and rejects the waiting events. */
    interrupt(): void {
      stopLingering();
      for (const { reject } of waiting.splice(0)) reject(new Error('Changefeed is stopping.'));
      for (const one of running) one.abort('stopping');
    },
  };
}

async function runBatch(waiting: readonly Waiting[], options: BatchOptions): Promise<void> {
  try {
    const heads = waiting.map(({ head }) => head);
    const followers = await followersOf(heads, options.batch.size - heads.length);
    const members = await keepLocked(waiting.map((one, index) => ({ ...one, followers: followers[index] ?? [] })));
    // Followers have not been attempted: only a head has a job.
    const groups = members.map(({ head, followers }) => [
      head,
      ...followers.map((delivery): Member => ({ delivery, attempt: 1 })),
    ]);
    const outcomes = await attemptBatch(groups, options);
    for (const [index, outcome] of outcomes.entries())
      members[index]?.resolve({ followers: members[index].followers, outcome });
  } catch (error) {
    for (const { reject } of waiting) reject(error);
  }
}

type WaitingGroup = Waiting & { followers: readonly Delivery[] };

/**
 * Removes the groups whose lock was lost: a process that was suspended may have lost events, and other events of their
 * records may have run. Between the last check of the lock and the handler, only the user's `transform` is awaited.
 */
async function keepLocked(given: readonly WaitingGroup[]): Promise<readonly WaitingGroup[]> {
  const isLocked = ({ head }: WaitingGroup): boolean => systemClock.now() < head.lockedUntil;
  let groups = given;
  while (!groups.every(isLocked)) {
    const extended = await Promise.all(
      groups.map(async (one): Promise<WaitingGroup | undefined> => {
        if (isLocked(one)) return one;
        try {
          return { ...one, head: { ...one.head, lockedUntil: await one.head.extendLock() } };
        } catch (error) {
          one.reject(error);
          return undefined;
        }
      }),
    );
    groups = extended.filter((one) => one !== undefined);
  }
  return groups;
}

async function followersOf(heads: readonly BatchHead[], room: number): Promise<readonly (readonly Delivery[])[]> {
  if (room <= 0) return [];
  const behind = await Promise.all(heads.map((head) => head.followers(room)));
  let free = room;
  const taken = behind.map((all) => {
    const mine = all.slice(0, free);
    free -= mine.length;
    return mine;
  });
  return await Promise.all(heads.map((head, index) => head.load(taken[index] ?? [])));
}
