/** Runs one storm: events on few records while processes are killed and stopped. Checks its journal afterwards. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeadLetters, type DeadLetter } from '../../src/delivery/act/dead-letters.js';
import { openQueues, type Queues } from '../../src/delivery/queues.js';
import { replay } from '../../src/delivery/act/replay.js';
import { systemClock } from '../../src/kit/clock.js';
import { Keys } from '../../src/redis/keys.js';
import { aSubscription, fanOutDeps } from '../support/fan-out.js';
import { WORKSPACE, changeEvent, fieldsOf } from '../support/events.js';
import { openClient, parseRedisUrl, scanKeys, type Redis } from '../../src/redis/client.js';
import { classifyRedisError } from '../../src/redis/errors.js';
import type { PrivateRedis } from '../support/private-redis.js';
import { StormProcesses } from './processes.js';
import { checkStorm, type CheckResult } from './checker.js';
import { withinLimit } from './limit.js';
import { LOCK_MS, SUBSCRIPTIONS, type Fault, type StormPlan } from './plan.js';
import { appendEntry, readJournal, type StormEvent } from './journal.js';

export interface StormOptions {
  /** A server of its own: the storm restarts it. */
  redis: Pick<PrivateRedis, 'url' | 'kill' | 'restart'>;
  plan: StormPlan;
  ungated?: boolean;
}

export interface StormResult extends CheckResult {
  faults: Record<string, number>;
  unclean: string[];
  /** The journal. It is deleted when there was no violation, or when violations were expected. */
  file: string;
  tookMs: number;
}

/** When the journal has not grown for this time, events that are not handled count as lost. */
const IDLE_MS = 20_000;
/** On a loaded machine the journal grows also when nothing is handled: processes report that they got no CPU time. */
const FINISH_LIMIT_MS = 120_000;
const LIMIT_PER_EVENT_MS = 60;
const CHECK_INTERVAL_MS = 250;
/** After this many retries, a dead letter stays one, or is dropped if other events wait for it. */
const MOST_RETRIES = 2;

export async function runStorm(options: StormOptions): Promise<StormResult> {
  const startedAt = systemClock.now();
  const dir = await mkdtemp(join(tmpdir(), 'changefeed-storm-'));
  const file = join(dir, 'journal.jsonl');
  await writeFile(file, '');
  const storm = new Storm(options, file);
  try {
    const expected = await storm.run();
    const dead = (await storm.deadLetters()).map(({ event }) => event);
    const unclean = await storm.processes.stop();
    const lines = readJournal(file);
    const result = checkStorm({ lines, subscriptions: SUBSCRIPTIONS, expected, dead, awayMs: LOCK_MS * 0.45 });
    if (result.violations.length === 0 || options.ungated === true) await rm(dir, { recursive: true });
    return { ...result, faults: storm.counts, unclean, file, tookMs: systemClock.now() - startedAt };
  } finally {
    // After a storm that failed, Redis may be away: then its failure counts, and not that of the end.
    await storm.close().catch(() => undefined);
  }
}

interface Letter {
  letter: DeadLetter;
  event: StormEvent;
}

class Storm {
  readonly processes: StormProcesses;
  readonly #server: StormOptions['redis'];
  readonly #plan: StormPlan;
  readonly #file: string;
  readonly #redis: Redis;
  readonly #keys = new Keys(`storm-${randomBytes(6).toString('hex')}`);
  readonly #deps: ReturnType<typeof fanOutDeps>;
  readonly #queues: Queues;
  readonly #dead: DeadLetters;
  readonly #ungated: boolean;
  readonly #counts: Record<string, number> = {};
  readonly #startedAtMs = systemClock.now();
  #appended = 0;
  #doing = 'in the storm';
  #restarting: Promise<void> = Promise.resolve();
  readonly #retries = new Map<string, number>();
  readonly #expected: StormEvent[] = [];

  constructor({ redis, plan, ungated = false }: StormOptions, file: string) {
    const connect = (): Redis => {
      const client = openClient(parseRedisUrl(redis.url), {
        maxRetriesPerRequest: null,
        // The command is sent again, to the master.
        reconnectOnError: (error) => classifyRedisError(error) === 'read-only' && 2,
      });
      // The storm restarts Redis: lost connections are expected.
      return client.on('error', () => undefined);
    };
    this.#server = redis;
    this.#plan = plan;
    this.#file = file;
    this.#ungated = ungated;
    this.#redis = connect();
    this.#deps = fanOutDeps({ redis: this.#redis, keys: this.#keys, connect });
    this.#queues = openQueues({ ...this.#deps, subscriptions: SUBSCRIPTIONS });
    this.#dead = new DeadLetters(this.#queues, this.#deps);
    this.processes = new StormProcesses({ url: redis.url, prefix: this.#keys.prefix, seed: plan.seed, file, ungated });
  }

  get counts(): Record<string, number> {
    return { ...this.#counts, ...this.processes.counts };
  }

  async run(): Promise<readonly StormEvent[]> {
    const { size, faults, events } = this.#plan;
    for (const { name: subscription } of SUBSCRIPTIONS) {
      this.#expected.push(...events.map(({ record, sequence }) => ({ subscription, record, sequence, replay: false })));
    }
    await this.#append(0, Math.floor(events.length / 3));
    await this.processes.start(size);
    const startedAt = systemClock.now();
    const at = (ms: number): Promise<void> => systemClock.sleep(Math.max(0, startedAt + ms - systemClock.now()));
    await Promise.all([
      this.#appendRest(at),
      ...faults.map(async ({ atMs, fault }) => {
        await at(atMs);
        await this.#within(`the fault ${JSON.stringify(fault)}`, this.#apply(fault));
      }),
    ]);
    this.processes.calm();
    await this.#within(
      'all events to be handled',
      this.#finish(),
      FINISH_LIMIT_MS + this.#plan.events.length * LIMIT_PER_EVENT_MS,
    );
    return this.#expected;
  }

  #within<T>(what: string, work: Promise<T>, ms?: number): Promise<T> {
    const state = (): string => `At that time: ${this.#doing}.\n${this.processes.state()}`;
    return withinLimit(what, work, { ...(ms !== undefined && { ms }), state });
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
    // With ids of their own: a command that is repeated after Redis was restarted must not append an event twice.
    for (const spec of this.#plan.events.slice(from, to)) {
      const logId = `${this.#startedAtMs + (this.#appended += 1)}-0`;
      await this.#redis
        .xadd(this.#keys.log(WORKSPACE), logId, ...fieldsOf(changeEvent(spec)))
        .catch((error: unknown) => {
          if (!String(error).includes('equal or smaller')) throw error;
        });
    }
  }

  async #apply(fault: Fault): Promise<void> {
    if ('role' in fault) {
      await this.processes.apply(fault);
      return;
    }
    if (fault.kind === 'redis') {
      // One restart at a time: two would need the same port.
      this.#restarting = this.#restarting.then(() => this.#restartRedis(fault));
      await this.#restarting;
      return;
    }
    const { subscription } = fault;
    if (fault.kind === 'pause') {
      await this.#queues.of(subscription).pause();
      await systemClock.sleep(fault.forMs);
      await this.#queues.of(subscription).resume();
    }
    if (fault.kind === 'retry') await this.#retryAll(subscription);
    // Repeated after Redis was restarted, it would be another replay.
    if (fault.kind === 'replay' && !this.#ungated)
      await (this.#restarting = this.#restarting.then(() => this.#replay(fault)));
    this.#counts[fault.kind] = (this.#counts[fault.kind] ?? 0) + 1;
  }

  async #restartRedis({ kill }: Extract<Fault, { kind: 'redis' }>): Promise<void> {
    const sinceMs = systemClock.now();
    // One that ends meanwhile could not store what it handled last.
    const present = this.processes.pids();
    if (kill) await this.#server.kill();
    await this.#server.restart();
    await this.#redis.ping();
    this.processes.cutOff(sinceMs, present);
    this.#counts['redis'] = (this.#counts['redis'] ?? 0) + 1;
  }

  async #retryAll(subscription: string): Promise<void> {
    for (const { letter, event } of await this.deadLetters(subscription)) {
      const key = `${subscription} ${letter.id}`;
      const retries = (this.#retries.get(key) ?? 0) + 1;
      if (retries > MOST_RETRIES) continue;
      this.#retries.set(key, retries);
      appendEntry(this.#file, { kind: 'retried', ...event });
      await repeated(() => this.#dead.retry({ subscription, ids: [letter.id] }));
    }
  }

  async #replay({ subscription, share }: Extract<Fault, { kind: 'replay' }>): Promise<void> {
    const limit = Math.max(1, Math.floor(this.#plan.events.length * share * 0.2));
    const log = await this.#deps.log.read(WORKSPACE, { limit });
    const { order, whenDead } = SUBSCRIPTIONS.find(({ name }) => name === subscription)!;
    const { reached } = await replay(
      { subscription, from: 'beginning', to: log.at(-1)!.logId },
      {
        ...this.#deps,
        clock: systemClock,
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

  async #finish(): Promise<void> {
    let size = 0;
    let grewAt = systemClock.now();
    while (!(await this.#isFinished())) {
      for (const { name, whenDead } of SUBSCRIPTIONS) {
        this.#doing += `, then dead letters of ${name}`;
        await this.#retryAll(name);
        if (whenDead === 'hold') await this.#dropExhausted(name);
      }
      const grown = (await stat(this.#file)).size;
      if (grown !== size) grewAt = systemClock.now();
      size = grown;
      if (systemClock.now() - grewAt > IDLE_MS) return;
      await systemClock.sleep(CHECK_INTERVAL_MS);
    }
  }

  async #dropExhausted(subscription: string): Promise<void> {
    for (const { letter, event } of await this.deadLetters(subscription)) {
      if ((this.#retries.get(`${subscription} ${letter.id}`) ?? 0) < MOST_RETRIES) continue;
      appendEntry(this.#file, { kind: 'dropped', ...event });
      await repeated(() => this.#dead.drop({ subscription, ids: [letter.id] }));
    }
  }

  async #isFinished(): Promise<boolean> {
    this.#doing = 'asking what is left';
    const left = await this.#left();
    this.#doing = `left: ${left ?? 'nothing'}`;
    return left === null;
  }

  async #left(): Promise<string | null> {
    const tail = await this.#deps.log.tail(WORKSPACE);
    for (const { name, whenDead } of SUBSCRIPTIONS) {
      const offset = await this.#deps.offsets.get(WORKSPACE, name);
      if (offset !== tail) return `${name} has read the log up to ${String(offset)} of ${tail}`;
      const { events, oldest } = await this.#deps.gate.pending(name, WORKSPACE);
      const counts = await this.#queues.of(name).getJobCounts('waiting', 'active', 'delayed', 'prioritized');
      if (events > 0 || Object.values(counts).some((count) => count > 0))
        return `${name} has ${events} pending events, the oldest ${String(oldest)}, and the jobs ${JSON.stringify(counts)}`;
      const letters = await this.deadLetters(name);
      if (whenDead === 'hold' && letters.length > 0) return `${name} holds ${letters.length} dead letters`;
      if (letters.some(({ letter }) => (this.#retries.get(`${name} ${letter.id}`) ?? 0) < MOST_RETRIES))
        return `${name} has dead letters to retry`;
    }
    return null;
  }

  async deadLetters(subscription?: string): Promise<Letter[]> {
    const letters = await this.#dead.list({ limit: 100_000, ...(subscription === undefined ? {} : { subscription }) });
    // Oldest first, the order in which `retry` takes them.
    return letters.toReversed().map((letter) => {
      const { event: source, replay } = letter;
      const { subject: record, data } = source;
      return { letter, event: { subscription: letter.subscription, record, sequence: data.sequence, replay } };
    });
  }

  async close(): Promise<void> {
    await this.processes.abandon();
    await this.#within('Redis to delete the keys of the storm', this.#deleteKeys()).finally(() =>
      this.#redis.disconnect(),
    );
  }

  async #deleteKeys(): Promise<void> {
    for await (const found of scanKeys(this.#redis, { match: `${this.#keys.prefix}:*`, count: 1_000 }))
      await Promise.all(found.map((key) => this.#redis.unlink(key)));
    await this.#queues.close();
    await this.#deps.log.close();
  }
}

/** As a person does whose command was cut off by a restart of Redis. */
async function repeated(act: () => Promise<unknown>): Promise<void> {
  await act().catch((error: unknown) => {
    if (classifyRedisError(error) !== 'lost') throw error;
    return act();
  });
}
