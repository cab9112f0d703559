/**
 * Collects the events of one subscription for its batch handler. Each is a job that BullMQ has handed over and whose turn
 * it is; it waits here, in the process, until the batch is full or its first has waited for long enough. When a batch sets
 * out, the events right behind each head come along as far as there is room: a record that changes often fills a batch
 * by itself instead of waiting once per event.
 */
import type { Parked } from './delayed-jobs.js';
import { attemptBatch, type BatchOptions, type Passenger, type RunOutcome } from './batch-attempt.js';
import { systemClock } from '../runtime/clock.js';
import { Interrupt } from './interrupt.js';

/** The head of a lane, and how to get at what stands behind it. */
export interface Head extends Passenger {
  /** Until when nobody else can have its job, in real time; ms. */
  heldUntil: number;
  /** Makes sure of it, and answers until when. @throws when another process has it */
  holdOn(): Promise<number>;
  /** Ids of the jobs right behind it. */
  followers(most: number): Promise<readonly string[]>;
  read(ids: readonly string[]): Promise<readonly Parked[]>;
}

export interface Journey {
  /** The events that came along behind the head, in order. */
  riders: readonly Parked[];
  /** Of the head and then the riders. */
  result: RunOutcome;
}

export interface Batcher {
  /** @throws what Redis throws; the reason when the process stops before the batch has set out */
  join(head: Head): Promise<Journey>;
  /** From now on nobody waits for others. */
  hurry(): void;
  /** Ends what is under way, and what waits. */
  interrupt(): void;
}

interface Waiting {
  head: Head;
  resolve: (journey: Journey) => void;
  reject: (error: unknown) => void;
}

type BatcherOptions = Omit<BatchOptions, 'interrupt'>;

export function createBatcher(options: BatcherOptions): Batcher {
  const { batch, subscription, clock } = options;
  const underWay = new Set<Interrupt>();
  let waiting: Waiting[] = [];
  let linger: AbortController | undefined;
  let ripe = false;
  let hurried = false;

  const setOut = (): void => {
    while (underWay.size < subscription.concurrency && isReady()) {
      const group = waiting.splice(0, batch.size);
      stopLingering();
      const interrupt = new Interrupt();
      underWay.add(interrupt);
      void travel(group, { ...options, interrupt }).finally(() => {
        underWay.delete(interrupt);
        setOut();
      });
    }
    if (waiting.length > 0 && !ripe) startLingering();
  };
  const isReady = (): boolean => waiting.length >= batch.size || (waiting.length > 0 && (ripe || hurried));
  const startLingering = (): void => {
    if (linger !== undefined) return;
    const mine = (linger = new AbortController());
    const ripen = (): void => {
      if (mine.signal.aborted) return;
      ripe = true;
      setOut();
    };
    clock.sleep(batch.lingerMs, mine.signal).then(ripen, () => undefined);
  };
  const stopLingering = (): void => {
    linger?.abort();
    linger = undefined;
    ripe = false;
  };

  return {
    join: (head) =>
      new Promise((resolve, reject) => {
        waiting.push({ head, resolve, reject });
        setOut();
      }),
    hurry() {
      hurried = true;
      setOut();
    },
    interrupt() {
      const left = waiting;
      waiting = [];
      stopLingering();
      for (const { reject } of left) reject(new Error('Changefeed is stopping.'));
      for (const one of underWay) one.abort('stopping');
    },
  };
}

async function travel(group: readonly Waiting[], options: BatchOptions): Promise<void> {
  try {
    const heads = group.map(({ head }) => head);
    const riders = await ridersOf(heads, options.batch.size - heads.length);
    const seated = await stillHeld(group.map((one, index) => ({ ...one, riders: riders[index] ?? [] })));
    const runs = seated.map(({ head, riders }) => [head, ...riders.map(asPassenger)]);
    const results = await attemptBatch(runs, options);
    seated.forEach(({ resolve, riders }, index) => {
      const result = results[index];
      if (result !== undefined) resolve({ riders, result });
    });
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

type Seated = Waiting & { riders: readonly Parked[] };

/**
 * A process that was stopped for a while may have lost events, and their records may be far ahead by now: those stay
 * behind. Between the last look at the time and the handler nothing is waited for but users' `transform`.
 */
async function stillHeld(given: readonly Seated[]): Promise<readonly Seated[]> {
  const isHeld = ({ head }: Seated): boolean => systemClock.now() < head.heldUntil;
  let seated = given;
  while (!seated.every(isHeld)) {
    const kept = await Promise.all(
      seated.map(async (one): Promise<Seated | undefined> => {
        if (isHeld(one)) return one;
        try {
          return { ...one, head: { ...one.head, heldUntil: await one.head.holdOn() } };
        } catch (error) {
          one.reject(error);
          return undefined;
        }
      }),
    );
    seated = kept.filter((one) => one !== undefined);
  }
  return seated;
}

/** A rider has not been tried: what has a past does not come along. */
function asPassenger({ delivery }: Parked): Passenger {
  return { delivery, attempt: 1 };
}

async function ridersOf(heads: readonly Head[], room: number): Promise<readonly (readonly Parked[])[]> {
  if (room <= 0) return [];
  const behind = await Promise.all(heads.map((head) => head.followers(room)));
  let left = room;
  const allotted = behind.map((ids) => {
    const mine = ids.slice(0, left);
    left -= mine.length;
    return mine;
  });
  return await Promise.all(heads.map((head, index) => head.read(allotted[index] ?? [])));
}
