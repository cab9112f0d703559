/** One storm: events on few records, processes that are killed and stopped, and the judgement. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { DeadLetters, type DeadLetter } from '../../src/dispatch/dead-letters.js';
import { openQueues, type Queues } from '../../src/dispatch/queues.js';
import { replay } from '../../src/dispatch/replay.js';
import { systemClock } from '../../src/runtime/clock.js';
import { Keys } from '../../src/state/keys.js';
import { WORKSPACE, aSubscription, appendEvents, changeEvent, fanOutDeps } from '../support/fan-out.js';
import { Crew } from './processes.js';
import { judge, type Verdict } from './checker.js';
import { LOCK_MS, SUBSCRIPTIONS, type Mishap, type StormPlan } from './plan.js';
import { note, readRecord, type Told } from './journal.js';

export interface StormOptions {
  redisUrl: string;
  plan: StormPlan;
  /** The control: processes that ask no gate. */
  ungated?: boolean;
}

export interface StormResult extends Verdict {
  /** What befell the processes and queues, by kind. */
  mishaps: Record<string, number>;
  /** Processes that did not end as they should. */
  unclean: string[];
  /** The handlers' record; gone when there was no violation, or violations are what was wanted. */
  file: string;
  tookMs: number;
}

/** Without any sign of life for so long, what is not handled is lost. */
const STILL_MS = 20_000;
const LOOK_MS = 250;
/** A dead letter that was retried so often stays one (or is dropped, where others wait for it). */
const MOST_RETRIES = 2;

export async function runStorm(options: StormOptions): Promise<StormResult> {
  const startedAt = systemClock.now();
  const dir = await mkdtemp(join(tmpdir(), 'changefeed-storm-'));
  const file = join(dir, 'record.jsonl');
  await writeFile(file, '');
  const scene = new Scene(options, file);
  try {
    const expected = await scene.play();
    const dead = (await scene.deadLetters()).map(({ told }) => told);
    const unclean = await scene.crew.stop();
    const lines = readRecord(file);
    const verdict = judge({ lines, subscriptions: SUBSCRIPTIONS, expected, dead, awayMs: LOCK_MS * 0.45 });
    if (verdict.violations.length === 0 || options.ungated === true) await rm(dir, { recursive: true });
    return { ...verdict, mishaps: scene.counts, unclean, file, tookMs: systemClock.now() - startedAt };
  } finally {
    await scene.close();
  }
}

interface Letter {
  letter: DeadLetter;
  told: Told;
}

class Scene {
  readonly crew: Crew;
  readonly #plan: StormPlan;
  readonly #file: string;
  readonly #redis: Redis;
  readonly #keys = new Keys(`storm-${randomBytes(6).toString('hex')}`);
  readonly #deps: ReturnType<typeof fanOutDeps>;
  readonly #queues: Queues;
  readonly #dead: DeadLetters;
  readonly #ungated: boolean;
  readonly #counts: Record<string, number> = {};
  readonly #retries = new Map<string, number>();
  readonly #expected: Told[] = [];

  constructor({ redisUrl, plan, ungated = false }: StormOptions, file: string) {
    const connect = (): Redis => new Redis(redisUrl, { maxRetriesPerRequest: null });
    this.#plan = plan;
    this.#file = file;
    this.#ungated = ungated;
    this.#redis = connect();
    this.#deps = fanOutDeps({ redis: this.#redis, keys: this.#keys, connect });
    this.#queues = openQueues({ ...this.#deps, subscriptions: SUBSCRIPTIONS });
    this.#dead = new DeadLetters(this.#queues, this.#deps.gate);
    this.crew = new Crew({ url: redisUrl, prefix: this.#keys.prefix, seed: plan.seed, file, ungated });
  }

  get counts(): Record<string, number> {
    return { ...this.#counts, ...this.crew.counts };
  }

  /** Answers what must have been handled when it is over. */
  async play(): Promise<readonly Told[]> {
    const { size, mishaps, events } = this.#plan;
    for (const { name: subscription } of SUBSCRIPTIONS) {
      this.#expected.push(...events.map(({ record, sequence }) => ({ subscription, record, sequence, replay: false })));
    }
    await this.#append(0, Math.floor(events.length / 3));
    await this.crew.start(size);
    const startedAt = systemClock.now();
    const at = (ms: number): Promise<void> => systemClock.sleep(Math.max(0, startedAt + ms - systemClock.now()));
    await Promise.all([
      this.#appendRest(at),
      ...mishaps.map(async ({ atMs, mishap }) => {
        await at(atMs);
        await this.#suffer(mishap);
      }),
    ]);
    this.crew.calm();
    await this.#settle();
    return this.#expected;
  }

  async #appendRest(at: (ms: number) => Promise<void>): Promise<void> {
    const { events, size } = this.#plan;
    const from = Math.floor(events.length / 3);
    const bursts = 20;
    for (let burst = 0; burst < bursts; burst += 1) {
      await at((size.stormMs * 0.8 * burst) / bursts);
      const [first, last] = [burst, burst + 1].map((n) => from + Math.floor(((events.length - from) * n) / bursts));
      await this.#append(first ?? from, last ?? events.length);
    }
  }

  async #append(from: number, to: number): Promise<void> {
    await appendEvents(this.#redis, this.#keys, this.#plan.events.slice(from, to).map(changeEvent));
  }

  async #suffer(mishap: Mishap): Promise<void> {
    if ('role' in mishap) {
      await this.crew.suffer(mishap);
      return;
    }
    const { subscription } = mishap;
    if (mishap.kind === 'pause') {
      await this.#queues.of(subscription).pause();
      await systemClock.sleep(mishap.forMs);
      await this.#queues.of(subscription).resume();
    }
    if (mishap.kind === 'retry') await this.#retryAll(subscription);
    if (mishap.kind === 'replay' && !this.#ungated) await this.#replay(mishap);
    this.#counts[mishap.kind] = (this.#counts[mishap.kind] ?? 0) + 1;
  }

  async #retryAll(subscription: string): Promise<void> {
    for (const { letter, told } of await this.deadLetters(subscription)) {
      const key = `${subscription} ${letter.id}`;
      const retries = (this.#retries.get(key) ?? 0) + 1;
      if (retries > MOST_RETRIES) continue;
      this.#retries.set(key, retries);
      note(this.#file, { kind: 'retried', ...told });
      await this.#dead.retry({ subscription, ids: [letter.id] });
    }
  }

  async #replay({ subscription, share }: Extract<Mishap, { kind: 'replay' }>): Promise<void> {
    const log = await this.#deps.log.read(
      WORKSPACE,
      '0',
      Math.max(1, Math.floor(this.#plan.events.length * share * 0.2)),
    );
    const { order, whenDead } = SUBSCRIPTIONS.find(({ name }) => name === subscription)!;
    const { reached } = await replay(
      { subscription, from: 'beginning', to: log.at(-1)!.logId },
      {
        ...this.#deps,
        queue: this.#queues.of(subscription),
        subscription: aSubscription(subscription, () => undefined, { order, whenDead }),
      },
    );
    const last = reached[WORKSPACE];
    const sent = log.slice(0, log.findIndex(({ logId }) => logId === last) + 1);
    this.#expected.push(
      ...sent.map(({ event: { subject, data } }) => {
        return { subscription, record: subject, sequence: data.sequence, replay: true };
      }),
    );
  }

  /** Until everything is handled or given up, or nothing moves any more. */
  async #settle(): Promise<void> {
    let size = 0;
    let movedAt = systemClock.now();
    while (!(await this.#isSettled())) {
      for (const { name, whenDead } of SUBSCRIPTIONS) {
        await this.#retryAll(name);
        if (whenDead === 'hold') await this.#dropHopeless(name);
      }
      const grown = (await stat(this.#file)).size;
      if (grown !== size) movedAt = systemClock.now();
      size = grown;
      if (systemClock.now() - movedAt > STILL_MS) return;
      await systemClock.sleep(LOOK_MS);
    }
  }

  async #dropHopeless(subscription: string): Promise<void> {
    for (const { letter, told } of await this.deadLetters(subscription)) {
      if ((this.#retries.get(`${subscription} ${letter.id}`) ?? 0) < MOST_RETRIES) continue;
      note(this.#file, { kind: 'dropped', ...told });
      await this.#dead.drop({ subscription, ids: [letter.id] });
    }
  }

  async #isSettled(): Promise<boolean> {
    const tail = await this.#deps.log.tail(WORKSPACE);
    for (const { name, whenDead } of SUBSCRIPTIONS) {
      if ((await this.#deps.offsets.get(WORKSPACE, name)) !== tail) return false;
      if ((await this.#deps.gate.pending(name, WORKSPACE)).events > 0) return false;
      const counts = await this.#queues.of(name).getJobCounts('waiting', 'active', 'delayed', 'prioritized');
      if (Object.values(counts).some((count) => count > 0)) return false;
      const letters = await this.deadLetters(name);
      if (whenDead === 'hold' && letters.length > 0) return false;
      if (letters.some(({ letter }) => (this.#retries.get(`${name} ${letter.id}`) ?? 0) < MOST_RETRIES)) return false;
    }
    return true;
  }

  async deadLetters(subscription?: string): Promise<Letter[]> {
    const letters = await this.#dead.list({ limit: 100_000, ...(subscription === undefined ? {} : { subscription }) });
    // Oldest first, as `retry` of all would take them.
    return letters.toReversed().map((letter) => {
      const { event, replay } = letter;
      const { subject: record, data } = event;
      return { letter, told: { subscription: letter.subscription, record, sequence: data.sequence, replay } };
    });
  }

  async close(): Promise<void> {
    await this.crew.abandon();
    await this.#queues.close();
    await this.#deps.log.close();
    for await (const found of this.#redis.scanStream({ match: `${this.#keys.prefix}:*`, count: 1_000 })) {
      if ((found as string[]).length > 0) await this.#redis.unlink(...(found as string[]));
    }
    this.#redis.disconnect();
  }
}
