/** What one history happens in: a CRM, a Redis, a feed that can be opened again, receivers, and a clock that runs fast. */
import type pg from 'pg';
import { parseConfig } from '../../src/config/parse.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Changefeed } from '../../src/actions/feed.js';
import { openChangefeed } from '../../src/service/changefeed.js';
import { fastClock, skippingClock } from '../support/fast-clock.js';
import { keyOf, LISTS, CopyCrm } from './crm.js';
import type { CopyList, History } from './history.js';
import { Memories } from './memories.js';
import { countOf, Receiver } from './receivers.js';
import { Inbox, Processes, type CopyTask } from './processes.js';
import type { BackedUpRedis } from './redis.js';
import { Rule } from './rule.js';

export interface Lane {
  redis: BackedUpRedis;
  /** Null: there is no PostgreSQL. */
  database: { url: string; pool: pg.Pool } | null;
}

/** Waits are shorter by this, but none is skipped. */
const FASTER = 8;
/** More than a record counts as new, and than a removal waits for. */
const BETWEEN_SWEEPS_MS = 15_000;
/** Of the fast clock. */
const PATIENCE_MS = FASTER * 60_000;

/** New records that may be reported until a person decides: of strangers none, of an import as many as the guard lets pass. */
interface Guarded {
  list: CopyList;
  ids: ReadonlySet<string>;
  allowed: number;
  reported: Set<string>;
}

const NOTHING_SWEPT = { people: new Set<string>(), todo: new Set<string>() };

export class World {
  readonly crm: CopyCrm;
  readonly clock;
  readonly receivers: Receiver[];
  readonly rule: Rule | null;
  readonly wrong: string[] = [];
  /** By subscription and record: what status named before it went, such as a dead letter that was dropped. */
  readonly named = new Set<string>();
  /** Records that could not be read when a person accepted what was held. */
  readonly declaredGone = new Set<string>();
  /** By subscription: `resume` said that the log dropped events which it had not read. */
  readonly missed = new Set<string>();
  /** Redis went back twice to one backup, by a clock that is behind it: nothing says how high the sequences were that are lost (decision 11). */
  sequencesMayBeLow = false;
  /** By record: Redis went back, and the feed may not know any more that it was erased. A receiver may keep it out. */
  readonly forgottenErasures = new Set<string>();
  removed: Partial<Record<CopyList, Parameters<CopyCrm['putBack']>[1]>> = {};
  guarded: Guarded[] = [];
  /** Own records that the last complete sweep has seen; none since Redis went back. */
  swept: Record<CopyList, ReadonlySet<string>> = NOTHING_SWEPT;
  feed!: Changefeed;
  readonly memories = new Memories();
  readonly #history: History;
  readonly #lane: Lane;
  readonly #began = { factor: FASTER, nowMs: Date.now(), atMs: performance.timeOrigin + performance.now() };
  readonly #crmClock = skippingClock(fastClock(FASTER, this.#began));
  readonly #inbox: Inbox;
  /** Null: this process does the work. */
  readonly #processes: Processes | null;
  #skippedMs = 0;
  /** The latest time at which an epoch may have begun. */
  #epochMs = Number.NEGATIVE_INFINITY;
  /** Since the last backup. */
  #hasGoneBack = false;
  #steppedMs = 0;
  #baseUrl = '';
  #checkedTo = '0';
  readonly #checked = new Set<string>();
  readonly #closedDue: string[] = [];
  /** The ticks at which the last two sweeps began. */
  #sweptAt: [number, number] = [0, 0];

  constructor(
    history: History,
    lane: Lane,
    readonly schema: string,
  ) {
    this.#history = history;
    this.#lane = lane;
    this.clock = skippingClock(this.#crmClock);
    this.crm = new CopyCrm(history.served, () => this.#crmClock.now());
    const names = history.second === 'settled' ? ['mirror', 'settled'] : ['mirror'];
    this.rule = history.second === 'rule' ? new Rule(schema) : null;
    this.receivers = names.map((name) => new Receiver(name, this.crm));
    this.#inbox = new Inbox(this.receivers);
    this.#processes = history.polling === 'processes' ? new Processes() : null;
  }

  get redis(): BackedUpRedis {
    return this.#lane.redis;
  }

  /** Null: no receiver is a database. */
  get tables(): pg.Pool | null {
    return this.#history.second === 'tables' ? (this.#lane.database?.pool ?? null) : null;
  }

  get subscriptions(): string[] {
    return [...this.receivers.map(({ name }) => name), ...(this.tables === null ? [] : ['tables'])];
  }

  async begin(): Promise<void> {
    this.#baseUrl = await this.crm.start();
    await this.rule?.start();
    await this.#inbox.start();
    await this.redis.clear();
    this.#epochMs = this.clock.now();
    await this.open();
    await this.sweep();
    await this.deliver();
  }

  async open(): Promise<void> {
    const config = parseConfig(this.#config(), { source: 'the history', redisUrl: this.redis.url });
    const http = this.rule === null ? false : ('/changefeed' as const);
    // A new subscription begins at the end of the log: the clock of Redis, by which it would look back, does not run fast.
    const configReadAtMs = this.clock.monotonic() + PATIENCE_MS;
    this.feed = await openChangefeed({ config, clock: this.clock, attempts: 2, http, configReadAtMs });
    await this.#processes?.start(this.#task());
    const { polling } = this.#history;
    // With processes, this one handles nothing.
    const roles = polling === 'service' ? (['poll', 'dispatch', 'handle'] as const) : (['dispatch', 'handle'] as const);
    await this.feed.start(polling === 'processes' ? ['dispatch'] : roles);
  }

  async close(): Promise<void> {
    await this.#processes?.stop();
    await this.feed.stop();
  }

  /** One of two processes, and the connections to the tables. */
  async kill(nth: number): Promise<void> {
    await this.tables?.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'crm-changefeed' AND query LIKE $1`,
      [`%${this.schema}%`],
    );
    await this.#processes?.kill(nth, this.#task());
  }

  /** @param meanwhile what changes while it is stopped: a token belongs to the configuration */
  async restart(meanwhile?: () => void): Promise<void> {
    await this.close();
    meanwhile?.();
    await this.open();
  }

  /** All clocks go forward. */
  pass(ms: number): void {
    this.#crmClock.skip(ms);
    this.#skippedMs += ms;
    this.#processes?.tell({ skip: ms });
  }

  /** The clocks of the feed do, as if a person had set them. */
  step(ms: number): void {
    this.clock.step(ms);
    this.memories.stepped();
    this.#steppedMs += ms;
    this.#processes?.tell({ step: ms });
  }

  /** Whether each list was complete. */
  async sweep(): Promise<boolean> {
    this.pass(BETWEEN_SWEEPS_MS);
    this.#sweptAt = [this.#sweptAt[1], this.crm.tick];
    const sweeps = await this.feed.sweep();
    for (const { list, outcome } of sweeps) {
      const own = this.crm.rows(list as CopyList).filter(({ id }) => !this.crm.isStranger(id));
      if (outcome === 'complete') this.swept = { ...this.swept, [list]: new Set(own.map(({ id }) => id)) };
    }
    await this.memories.keep(this.feed, this.clock.now());
    return sweeps.every(({ outcome }) => outcome === 'complete');
  }

  /** Until nothing waits, except for paused subscriptions. */
  async deliver(): Promise<void> {
    this.rule?.answer();
    const waited = await this.feed.waitUntilHandled({ timeoutMs: PATIENCE_MS });
    if (waited.outcome === 'timeout') this.wrong.push(`events wait for ever: ${JSON.stringify(waited.unhandled)}`);
  }

  async switchRule(on: boolean): Promise<void> {
    const { rule } = this;
    if (rule === null) return;
    await rule.switch(this.feed, on);
    // Processes of their own take it over a little later, unless they are opened again.
    if (this.#processes === null) rule.hasStopped();
    else await this.restart(() => rule.hasStopped());
  }

  backUp(): Promise<void> {
    this.#hasGoneBack = false;
    this.memories.backedUp(this.clock.now());
    return this.redis.backUp();
  }

  /** Redis goes back to the last backup. @returns false where there is none */
  async goBack(): Promise<boolean> {
    if (!(await this.redis.goBack())) return false;
    this.memories.wentBack();
    const nowMs = this.clock.now();
    this.sequencesMayBeLow ||= this.#hasGoneBack && nowMs <= this.#epochMs;
    this.#hasGoneBack = true;
    this.#epochMs = Math.max(this.#epochMs, nowMs);
    for (const key of this.crm.erased) this.forgottenErasures.add(key);
    this.#checkedTo = '0';
    this.rule?.wentBack();
    for (const receiver of this.receivers) receiver.wentBack();
    // The feed may report what it has forgotten that it reported.
    this.guarded = [];
    this.swept = NOTHING_SWEPT;
    return true;
  }

  /** What was logged since the last call was true, and is not more than the guards let pass. */
  async checkLog(): Promise<void> {
    for await (const { logId, event } of this.feed.tail({ from: this.#checkedTo, follow: false })) {
      this.#checkedTo = logId;
      if (!this.#checked.has(event.id)) this.#check(event);
      this.#checked.add(event.id);
      this.rule?.logged(event.id);
    }
    const closed = this.#closedDue.splice(0);
    if (closed.length > 0) this.wrong.push(`due events of ${countOf(closed)} todos that the CRM does not show open`);
  }

  #check({ type, subject, data }: ChangeEvent): void {
    if (/^crm\.todo\.(due_soon|overdue)$/u.test(type) && !this.crm.wasOpenSince(subject, this.#sweptAt[0]))
      this.#closedDue.push(subject);
    const list = type.startsWith('crm.person.') ? 'people' : 'todo';
    const wasThere = !this.crm.wasAbsentSince(list, subject, this.crm.firstShown(list, subject));
    if (type.endsWith('.deleted') && wasThere && !this.declaredGone.has(keyOf(list, subject)))
      this.wrong.push(`${type} ${subject}, which was never absent`);
    if (!type.endsWith('.created') || data.after === null) return;
    for (const { list: guardedList, ids, allowed, reported } of this.guarded) {
      if (guardedList !== list || !ids.has(subject)) continue;
      reported.add(subject);
      if (reported.size === allowed + 1)
        this.wrong.push(`${type}: more than the guard allows (${allowed} of ${ids.size})`);
    }
  }

  async end(): Promise<void> {
    await this.close();
    await this.crm.stop();
    this.#inbox.stop();
    this.rule?.stop();
  }

  #task(): CopyTask {
    const clock = { clock: this.#began, skippedMs: this.#skippedMs, steppedMs: this.#steppedMs };
    return { config: this.#config(), redisUrl: this.redis.url, ...clock };
  }

  #config(): object {
    const lists = Object.fromEntries(
      ['people', 'organization', 'memo', 'todo', 'history', 'activity'].map((list) => [
        list,
        (LISTS as readonly string[]).includes(list) ? { removals: { after: '1s' } } : false,
      ]),
    );
    const all = { on: ['crm.*', 'changefeed.*'], start: 'snapshot', afterRewind: 'snapshot' } as const;
    const url = this.#lane.database?.url;
    return {
      workspaces: [
        { name: 'acme', baseUrl: this.#baseUrl, token: 'own', budget: { requests: 1_000, perSeconds: 1 }, lists },
      ],
      ...this.rule?.config(),
      // A paused subscription soon misses what it has not read.
      log: { retention: { events: 1 } },
      subscriptions: [
        ...this.receivers.map(({ name, handle }) => {
          const own = { ...all, name, ...(name === 'settled' && { settle: '20ms' as const }) };
          return this.#processes === null
            ? defineHandler({ ...own, handle })
            : { ...own, ...this.#inbox.subscription(name) };
        }),
        ...(this.tables === null
          ? []
          : [{ handler: 'postgres', name: 'tables', url, schema: this.schema, start: 'snapshot', history: true }]),
      ],
    };
  }
}
