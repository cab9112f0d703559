/** Runs a scenario on a real Redis: one list, swept by processes that die, stall and come back, until all is quiet. */
import type { Redis } from 'ioredis';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { compileRules } from '../../src/detect/rules.js';
import { ChangefeedError, messageOf } from '../../src/errors.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { silentLog } from '../../src/runtime/log.js';
import type { Keys } from '../../src/state/keys.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import type { SweepOptions } from '../../src/sweep/options.js';
import { sweepList, type SweepResult } from '../../src/sweep/run-sweep.js';
import type { SerialisedRecord, SweepStore, SweepSummary } from '../../src/sweep/store.js';
import { ModelCrm } from './crm.js';
import { CONNECTION_CLOSED, Fate, fatefulRedis, type Doom } from './fate.js';
import { inProcessApi } from './in-process-api.js';
import { RULE_SETS } from './rule-sets.js';
import type { Drift, Scenario, Step } from './scenario.js';
import type { CompleteSweep, Meant, Story } from './story.js';
import { ModelTime } from './time.js';

export interface ModelRoom {
  redis: Redis;
  keys: Keys;
  /** A workspace no other run has. */
  workspace: string;
  sabotage?: Sabotage;
}

/** For controls: one promise of the store broken, or one safeguard switched off. Never on the way of a real process. */
export interface Sabotage {
  store?: (store: SweepStore, room: Pick<ModelRoom, 'redis' | 'keys' | 'workspace'>) => SweepStore;
  options?: (options: SweepOptions) => SweepOptions;
}

/** Longer than any replica lags: what came last may be believed by the next sweep. */
const APART_MS = 60_000;
const LEASE_MS = 15_000;
/** The lag's second look, drift's second sweep, and two more: nothing takes longer to come to light. */
const MOST_QUIET_SWEEPS = 4;

export async function runScenario(scenario: Scenario, room: ModelRoom): Promise<Story> {
  const run = new Run(scenario, room);
  for (const step of scenario.steps) await run.take(step);
  await run.quieten();
  return await run.story();
}

interface Process {
  fate: Fate;
  ended: Promise<'ended'>;
}

class Run {
  readonly #scenario: Scenario;
  readonly #room: ModelRoom;
  readonly #time = new ModelTime();
  readonly #crm: ModelCrm;
  /** What a person, or the test itself, looks at Redis with. */
  readonly #store: SweepStore;
  readonly #options: SweepOptions;
  readonly #meant: Meant[] = [];
  readonly #sweeps: CompleteSweep[] = [];
  readonly #surprises: string[] = [];
  readonly #driftedAt: number[] = [];
  readonly #baselines: { from: number; to: number }[] = [{ from: 0, to: Infinity }];

  constructor(scenario: Scenario, room: ModelRoom) {
    this.#scenario = scenario;
    this.#room = room;
    this.#store = createSweepStore(room.redis, room.keys, room.workspace);
    this.#crm = new ModelCrm(scenario, this.#time);
    const { baseline, images, removals, creations, rules } = scenario.config;
    this.#options = {
      list: scenario.list,
      rules: compileRules(scenario.list, RULE_SETS[rules].rules),
      baseline: baseline === 'since' ? { since: new Date(this.#time.now()).toISOString() } : baseline,
      images,
      removals,
      creations,
    };
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'sweep') {
      await this.#sweep(step);
      return;
    }
    if (step.do === 'resync') {
      await this.#resync();
      return;
    }
    if (step.do === 'accept-removals') await this.#store.acceptRemovals(this.#scenario.list);
    else if (step.do === 'accept-creations') await this.#store.acceptCreations(this.#scenario.list);
    else if (step.do === 'live') this.#crm.live(step.acts);
    else if (step.do === 'wait') this.#time.pass(step.ms);
    else if (this.#isBaselined && step.do === 'hide')
      this.#crm.hide(step.nth, this.#scenario.config.removals.confirm - 1);
    else if (this.#isBaselined && step.do === 'drift') this.#drift(step.how);
  }

  /** Nothing goes wrong any more, and nothing happens: now every sweep must be complete, and all must come to light. */
  async quieten(): Promise<void> {
    this.#crm.quieten();
    const { confirm } = this.#scenario.config.removals;
    const quietSince = this.#time.now();
    // A cursor that died with the last process costs one sweep.
    let mayFail = 1;
    for (let complete = 0; complete < confirm + MOST_QUIET_SWEEPS;) {
      this.#time.pass(APART_MS);
      const before = this.#sweeps.length;
      await this.#sweep({ doom: null, meanwhile: [], rival: null });
      if (this.#sweeps.length > before) complete += 1;
      else if (--mayFail < 0) return void this.#surprises.push('a sweep stays incomplete although nothing is wrong');
      if (isUneventful(this.#sweeps.at(-1), quietSince)) return;
      if (complete === confirm) await this.#store.acceptRemovals(this.#scenario.list);
      // Held in one of these sweeps, reported by the next.
      await this.#store.acceptCreations(this.#scenario.list);
    }
  }

  async story(): Promise<Story> {
    const { list } = this.#scenario;
    const [entries, membership, held, stored, schema, known] = await Promise.all([
      this.#room.redis.xrange(this.#room.keys.log(this.#room.workspace), '-', '+'),
      this.#store.membership(list),
      this.#store.quarantinedKeys(list),
      this.#store.load(list),
      this.#store.schema(list),
      this.#known(),
    ]);
    return {
      scenario: this.#scenario,
      journal: this.#crm.sandbox.journal.lines(),
      events: entries.map(([, [, json = '']]) => JSON.parse(json) as ChangeEvent),
      meant: this.#meant,
      sweeps: this.#sweeps,
      baselines: this.#baselines,
      driftedAt: this.#driftedAt,
      surprises: this.#surprises,
      end: { truth: this.#crm.truth(), known, membership, held, stored, schema },
    };
  }

  get #isBaselined(): boolean {
    return this.#baselines.every(({ to }) => to !== Infinity);
  }

  async #resync(): Promise<void> {
    if (!this.#isBaselined) return;
    await this.#store.forgetBaseline(this.#scenario.list);
    this.#baselines.push({ from: this.#time.now(), to: Infinity });
  }

  #drift(how: Drift): void {
    if (this.#driftedAt.length > 0) return;
    this.#driftedAt.push(this.#time.now());
    this.#crm.sandbox.behave(how === 'emptied' ? { empties: 'absent' } : { drift: how });
  }

  /** One process sweeps; when it stands still, another one takes over from it before it goes on. */
  async #sweep({ doom, meanwhile, rival }: Omit<Extract<Step, { do: 'sweep' }>, 'do'>): Promise<void> {
    const first = this.#process(doom);
    if ((await this.#until(first)) === 'stalled') {
      await this.#leaseRunsOut();
      this.#crm.live(meanwhile);
      const second = this.#process(rival);
      const then = await this.#until(second);
      await this.#goesOn(first);
      if (then === 'stalled') await this.#goesOn(second);
    }
    await this.#leaseRunsOut();
  }

  async #goesOn(process: Process): Promise<void> {
    process.fate.wake();
    await this.#until(process);
  }

  #process(doom: Doom | null): Process {
    const { list, attempts, withoutIds } = this.#scenario;
    const { redis, keys, workspace, sabotage } = this.#room;
    const fate = new Fate(doom);
    const last = new Map<string, UncheckedRecord>();
    const shown = (_list: string, all: readonly UncheckedRecord[]): readonly UncheckedRecord[] => {
      const records = this.#crm.asShown(all);
      for (const record of records) last.set(String(record['id']), record);
      return withoutIds ? records.map(({ id: _, ...record }) => record) : records;
    };
    const api = inProcessApi({ sandbox: this.#crm.sandbox, clock: this.#time.driving, fate, attempts, shown });
    const own = fatefulRedis(redis, fate);
    const honest = patient(createSweepStore(own, keys, workspace));
    const store = this.#heard(sabotage?.store?.(honest, { redis: own, keys, workspace }) ?? honest, last);
    const deps = { workspace, api, store, clock: this.#time.following, log: silentLog };
    const sweep = sweepList(deps, sabotage?.options?.(this.#options) ?? { ...this.#options, list });
    const ended = sweep.then(
      (result) => this.#judgeResult(result, doom),
      (error: unknown) => this.#judgeError(error, doom),
    );
    return { fate, ended: ended.then(() => 'ended' as const) };
  }

  /** Until it has ended, or fate strikes it; then what it has brought to an end is noted. */
  async #until({ fate, ended }: Process): Promise<'ended' | 'died' | 'stalled'> {
    const how = await Promise.race([ended, fate.struck()]);
    const { lastSweep } = (await this.#store.load(this.#scenario.list)).state;
    if (lastSweep !== null && this.#sweeps.at(-1)?.sweepId !== lastSweep.sweepId) this.#complete(lastSweep);
    return how;
  }

  #complete(summary: SweepSummary): void {
    const { sweepId, mode } = summary;
    const [startedAt, endedAt] = [Date.parse(summary.startedAt), Date.parse(summary.completedAt)];
    this.#sweeps.push({ sweepId, mode, startedAt, endedAt, hidden: this.#crm.swept(), summary });
    const learning = this.#baselines.at(-1);
    if (mode === 'baseline' && learning !== undefined) learning.to = Math.min(learning.to, endedAt);
  }

  /** What a dead process held is free when its life is over. */
  async #leaseRunsOut(): Promise<void> {
    const { redis, keys, workspace } = this.#room;
    if ((await redis.del(keys.lease(workspace, this.#scenario.list))) > 0) this.#time.pass(LEASE_MS);
  }

  #judgeResult(result: SweepResult, doom: Doom | null): void {
    // Passed by, because somebody sweeps: itself, unknowingly, when its call for the lease was sent twice.
    if (result.outcome === 'held' && doom === null) this.#surprises.push('a list was held that nobody swept');
  }

  #judgeError(error: unknown, doom: Doom | null): void {
    const code = error instanceof ChangefeedError ? error.code : undefined;
    if (code === 'CF_SWEEP_INCOMPLETE') return;
    if (code === 'CF_LEASE_LOST' && doom?.blow.startsWith('stalls') === true) return;
    if (messageOf(error) === CONNECTION_CLOSED && doom?.blow.startsWith('fails') === true) return;
    this.#surprises.push(`a sweep ended with ${code ?? 'an error'}: ${messageOf(error)}`);
  }

  /** The store, with every event noted that is about to be written. */
  #heard(store: SweepStore, last: ReadonlyMap<string, UncheckedRecord>): SweepStore {
    const note = (event: ChangeEvent | null): void => {
      if (event !== null) this.#meant.push({ event, shown: (last.get(event.subject) ?? null) as CrmRecord | null });
    };
    return {
      ...store,
      commitPage: (list, commit) => {
        for (const event of [...commit.writes.map((write) => write.event), ...(commit.events ?? [])]) note(event);
        return store.commitPage(list, commit);
      },
      commitRemovals: (list, commit) => {
        for (const { event } of commit.writes) note(event);
        return store.commitRemovals(list, commit);
      },
    };
  }

  async #known(): Promise<Map<string, SerialisedRecord>> {
    const { redis, keys, workspace } = this.#room;
    const { list } = this.#scenario;
    const names = await redis.hkeys(keys.records(workspace, list));
    const states = await this.#store.records(list, names);
    return new Map(names.flatMap((name, nth) => (states[nth] == null ? [] : [[name, states[nth]] as const])));
  }
}

/** Redis counts a lease in real time, which is not the model's: however slow the machine, it runs out only where the run says so. */
function patient(store: SweepStore): SweepStore {
  return {
    ...store,
    acquire: (list, ttlMs) => store.acquire(list, ttlMs * 1_000),
    renew: (list, token, ttlMs) => store.renew(list, token, ttlMs * 1_000),
  };
}

/** Nothing happened, and nothing is left to be decided: one more sweep would say the same. */
function isUneventful(last: CompleteSweep | undefined, quietSince: number): boolean {
  if (last === undefined || last.startedAt < quietSince || last.mode === 'baseline') return false;
  const { summary } = last;
  if (summary.carried !== undefined) return false;
  const { seen, unchanged, ignored, missing } = summary.counts;
  return unchanged + ignored === seen && missing === 0 && summary.counts.deleted === 0;
}
