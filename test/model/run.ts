/** Runs a scenario on a real Redis: processes that die, stall and resume sweep one list until nothing changes any more. */
import type { Redis } from 'ioredis';
import type { UncheckedRecord, CrmRecord } from '../../src/crm/record.js';
import { parsedRow } from '../../src/feed/api/rows.js';
import { digestOfRow } from '../../src/feed/list/records.js';
import { compileRules } from '../../src/feed/detect/rules.js';
import { ChangefeedError, messageOf } from '../../src/kit/errors.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { silentLog } from '../../src/kit/log.js';
import { type Keys, keyOfField } from '../../src/redis/keys.js';
import { createAimQueue, type AimQueue } from '../../src/feed/list/aim-queue.js';
import { createSweepStore, type SweepStore } from '../../src/feed/store/sweep-store.js';
import type { ListOptions } from '../../src/feed/list/list.js';
import { sweepList, watchList } from '../../src/feed/list/loop.js';
import type { RecordWrite, SerialisedRecord, SweepSummary } from '../../src/feed/store/sweep-state.js';
import { miscounted } from '../support/day-counts.js';
import { loggedEvents } from '../support/redis.js';
import { ModelCrm } from './crm.js';
import { CONNECTION_CLOSED, FaultSchedule, faultyRedis, type ProcessFault } from './fault-schedule.js';
import { hintedIds } from './hints.js';
import { newReader, type Reader } from './reader.js';
import type { ActName } from './acts.js';
import { inProcessApi } from './in-process-api.js';
import { RULE_SETS } from './rule-sets.js';
import type { Drift, Scenario, Step } from './scenario.js';
import type { CompleteSweep, IntendedEvent, RunRecord } from './run-record.js';
import { ModelTime } from './time.js';

export interface RunContext {
  redis: Redis;
  keys: Keys;
  workspace: string;
  sabotage?: Sabotage;
}

/** For controls: breaks one promise of the store, or switches one safeguard off. */
export interface Sabotage {
  /** What is in place of the store's functions. */
  store?: (store: SweepStore, context: Pick<RunContext, 'redis' | 'keys' | 'workspace'>) => Partial<SweepStore>;
  options?: (options: ListOptions) => ListOptions;
}

/** Longer than a record counts as new, so that the next sweep may report its removal. */
const SWEEP_INTERVAL_MS = 60_000;
/** A deleted record that is shown again as it was is left alone for so long. */
const LEFT_ALONE_MS = 600_000;
const LEASE_MS = 15_000;
/** One sweep for schema drift, and two more. Everything must be reported by then. */
const MAX_QUIET_SWEEPS = 3;

export async function runScenario(scenario: Scenario, context: RunContext): Promise<RunRecord> {
  const run = new Run(scenario, context);
  for (const step of scenario.steps) await run.take(step);
  await run.stopChanges();
  return await run.record();
}

interface Process {
  faults: FaultSchedule;
  ended: Promise<'ended'>;
}

class Run {
  readonly #scenario: Scenario;
  readonly #context: RunContext;
  readonly #time = new ModelTime();
  readonly #crm: ModelCrm;
  readonly #store: SweepStore;
  readonly #aims: AimQueue;
  /** Of the process that ended last: it goes on with what it has learned, unless it died. */
  #kept: Reader | null = null;
  #late: readonly string[] = [];
  readonly #options: ListOptions;
  readonly #intended: IntendedEvent[] = [];
  readonly #sweeps: CompleteSweep[] = [];
  readonly #unexpected: string[] = [];
  readonly #driftedAt: number[] = [];
  readonly #baselines: { from: number; to: number }[] = [{ from: 0, to: Infinity }];

  constructor(scenario: Scenario, context: RunContext) {
    this.#scenario = scenario;
    this.#context = context;
    this.#store = createSweepStore(context.redis, context.keys, context.workspace);
    this.#aims = createAimQueue(context);
    this.#crm = new ModelCrm(scenario, this.#time);
    const { baseline, removals, creations, rules } = scenario.config;
    this.#options = {
      list: scenario.list,
      rules: compileRules(scenario.list, RULE_SETS[rules].rules),
      baseline: baseline === 'since' ? { since: new Date(this.#time.now()).toISOString() } : baseline,
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
    if (step.do === 'watch') {
      await this.#watch(step);
      return;
    }
    if (step.do === 'accept') await this.#store.acceptHeld(this.#scenario.list);
    else if (step.do === 'live') await this.#live(step.acts);
    else if (step.do === 'hint') await this.#hint(step);
    else if (step.do === 'wait') this.#time.advance(step.ms);
    else if (this.#isBaselined && step.do === 'hide')
      this.#crm.hide(step.nth, this.#scenario.config.removals.confirm - 1);
    else if (this.#isBaselined && step.do === 'drift') this.#drift(step.how);
  }

  async stopChanges(): Promise<void> {
    this.#crm.stopChanges();
    this.#time.advance(LEFT_ALONE_MS);
    const { confirm } = this.#scenario.config.removals;
    const quietSince = this.#time.now();
    // A cursor that expired with the last process costs one sweep.
    let failuresLeft = 1;
    for (let complete = 0; complete < confirm + MAX_QUIET_SWEEPS;) {
      this.#time.advance(SWEEP_INTERVAL_MS);
      const before = this.#sweeps.length;
      await this.#sweep({ fault: null, meanwhile: [], takeoverFault: null });
      if (this.#sweeps.length > before) complete += 1;
      else if (--failuresLeft < 0)
        return void this.#unexpected.push('a sweep is incomplete although there are no faults');
      if (isUneventful(this.#sweeps.at(-1), quietSince)) return;
      // Requests ahead of a process that died may have deleted rows behind its checkpoint, so the removals may be held later.
      // New records held by one of these sweeps are reported by the next one.
      await this.#store.acceptHeld(this.#scenario.list);
    }
  }

  get #journalLength(): number {
    return this.#crm.sandbox.journal.lines().length;
  }

  async record(): Promise<RunRecord> {
    const { list } = this.#scenario;
    this.#unexpected.push(...(await miscounted(this.#context)));
    const [events, membership, stored, schema, records] = await Promise.all([
      loggedEvents(this.#context, this.#context.workspace),
      this.#store.membership(list),
      this.#store.load(list),
      this.#store.schema(list),
      this.#storedRecords(),
    ]);
    return {
      scenario: this.#scenario,
      journal: this.#crm.sandbox.journal.lines(),
      events,
      intended: this.#intended,
      sweeps: this.#sweeps,
      baselines: this.#baselines,
      driftedAt: this.#driftedAt,
      unexpected: this.#unexpected,
      end: { truth: this.#crm.truth(), records, membership, stored, schema },
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

  /** One process sweeps. If it stalls, another one takes over before the first one resumes. */
  async #sweep({ fault, meanwhile, takeoverFault }: Omit<Extract<Step, { do: 'sweep' }>, 'do'>): Promise<void> {
    const first = this.#process(fault);
    if ((await this.#runUntilInterrupted(first)) === 'stalled') {
      await this.#expireLease();
      this.#crm.act(meanwhile);
      const second = this.#process(takeoverFault);
      const then = await this.#runUntilInterrupted(second);
      await this.#resume(first);
      if (then === 'stalled') await this.#resume(second);
    }
    await this.#expireLease();
  }

  async #resume(process: Process): Promise<void> {
    process.faults.resume();
    await this.#runUntilInterrupted(process);
  }

  /** The list waits for its next sweep. A process that stalls is overtaken by a sweep before it resumes. */
  async #watch({ ms, fault, meanwhile }: Omit<Extract<Step, { do: 'watch' }>, 'do'>): Promise<void> {
    if (this.#scenario.shortcuts === null) return;
    const first = this.#process(fault, ms);
    if ((await this.#runUntilInterrupted(first)) === 'stalled') {
      await this.#expireLease();
      this.#crm.act(meanwhile);
      await this.#runUntilInterrupted(this.#process(null));
      await this.#resume(first);
    }
    await this.#expireLease();
  }

  /** @param watchMs uses the shortcuts only, for this long @defaultValue sweeps */
  #process(fault: ProcessFault | null, watchMs?: number): Process {
    const { list, attempts, withoutIds, shortcuts: scheme } = this.#scenario;
    const { redis, keys, workspace, sabotage } = this.#context;
    const faults = new FaultSchedule(fault);
    const shown = new Map<string, UncheckedRecord>();
    const visible = (_list: string, all: readonly UncheckedRecord[]): readonly UncheckedRecord[] => {
      const records = this.#crm.visible(all);
      const given = withoutIds ? records.map(({ id: _, ...record }) => record) : records;
      given.forEach((record, at) =>
        shown.set(digestOfRow(parsedRow(record), this.#options.rules), records[at] ?? record),
      );
      return given;
    };
    const api = inProcessApi({
      sandbox: this.#crm.sandbox,
      clock: this.#time.autoAdvancing,
      faults,
      attempts,
      latencyMs: scheme?.latencyMs ?? 0,
      visible,
    });
    const connection = faultyRedis(redis, faults);
    const scope = { redis: connection, keys, workspace };
    const original = withLongLeases(createSweepStore(connection, keys, workspace));
    const store = this.#recordingEvents({ ...original, ...sabotage?.store?.(original, scope) }, shown);
    const deps = { workspace, api, store, clock: this.#time.waiting, log: silentLog };
    const options = sabotage?.options?.(this.#options) ?? { ...this.#options, list };
    const reader = scheme === null ? null : this.#reader({ store, queue: createAimQueue(scope) });
    const shortcuts = reader?.shortcuts ?? null;
    const work = async (): Promise<void> => {
      if (watchMs !== undefined && shortcuts !== null) {
        const untilMs = this.#time.now() + watchMs;
        const clock = this.#time.betweenSweeps;
        const used = { ...options, shortcuts, untilMs };
        const { outcome } = await watchList({ ...deps, clock }, used);
        this.#checkOutcome(outcome, fault);
        return;
      }
      const { outcome } = await sweepList(deps, { ...options, ...(shortcuts !== null && { shortcuts }) });
      this.#checkOutcome(outcome, fault);
    };
    const ended = work().then(
      () => (this.#kept = reader),
      (error: unknown) => this.#checkError(error, fault),
    );
    return { faults, ended: ended.then(() => 'ended' as const) };
  }

  #reader(connection: Reader['connection']): Reader {
    const kept = this.#kept;
    this.#kept = null;
    if (kept === null) return newReader(this.#scenario.list, this.#context.workspace, connection);
    Object.assign(kept.connection, connection);
    return kept;
  }

  async #live(acts: readonly ActName[]): Promise<void> {
    const before = this.#journalLength;
    this.#crm.act(acts);
    const ids = this.#crm.sandbox.journal
      .lines()
      .slice(before)
      .flatMap((line) => ('id' in line ? [line.id] : []));
    const named = this.#scenario.shortcuts?.named ?? 'never';
    if (named === 'never') return;
    const queued =
      named === 'late' ? this.#late : named === 'wrongly' ? [...this.#crm.truth().keys()].slice(0, ids.length) : ids;
    this.#late = ids;
    await this.#aims.add(this.#scenario.list, queued, this.#time.now());
  }

  async #hint({ which, nth }: Extract<Step, { do: 'hint' }>): Promise<void> {
    const hinted = hintedIds(which, { nth, there: [...this.#crm.truth().keys()], gone: this.#crm.goneIds() });
    await this.#aims.add(this.#scenario.list, hinted, this.#time.now());
  }

  /** Waits until the process ends or a fault interrupts it, then records the sweep that it completed. */
  async #runUntilInterrupted({ faults, ended }: Process): Promise<'ended' | 'died' | 'stalled'> {
    const how = await Promise.race([ended, faults.interrupted()]);
    const { lastSweep } = (await this.#store.load(this.#scenario.list)).state;
    if (lastSweep !== null && this.#sweeps.at(-1)?.sweepId !== lastSweep.sweepId) this.#complete(lastSweep);
    return how;
  }

  #complete(summary: SweepSummary): void {
    const { sweepId, mode } = summary;
    const [startedAt, endedAt] = [Date.parse(summary.startedAt), Date.parse(summary.completedAt)];
    this.#sweeps.push({ sweepId, mode, startedAt, endedAt, hidden: this.#crm.sweepEnded(), summary });
    const baseline = this.#baselines.at(-1);
    if (mode === 'baseline' && baseline !== undefined) baseline.to = Math.min(baseline.to, endedAt);
  }

  async #expireLease(): Promise<void> {
    const { redis, keys, workspace } = this.#context;
    if ((await redis.del(keys.lease(workspace, this.#scenario.list))) > 0) this.#time.advance(LEASE_MS);
  }

  #checkOutcome(outcome: 'held' | 'complete' | 'done', fault: ProcessFault | null): void {
    // A process whose lease request was sent twice finds the list held by itself. Without a fault nothing else may hold it.
    if (outcome === 'held' && fault === null)
      this.#unexpected.push('a list was held although no other process swept it');
  }

  #checkError(error: unknown, fault: ProcessFault | null): void {
    const code = error instanceof ChangefeedError ? error.code : undefined;
    if (code === 'CF_SWEEP_INCOMPLETE') return;
    if (code === 'CF_LEASE_LOST' && fault?.kind.startsWith('stalls') === true) return;
    if (messageOf(error) === CONNECTION_CLOSED && fault?.kind.startsWith('fails') === true) return;
    this.#unexpected.push(`a sweep ended with ${code ?? 'an error'}: ${messageOf(error)}`);
  }

  #recordingEvents(store: SweepStore, shown: ReadonlyMap<string, UncheckedRecord>): SweepStore {
    const intend = (event: ChangeEvent | null, digest?: string): void => {
      if (event === null) return;
      // The record whose text was classified; other answers may have been received since.
      this.#intended.push({ event, shown: (shown.get(digest ?? '') ?? null) as CrmRecord | null });
    };
    const intendAll = (writes: readonly RecordWrite[]): void => {
      for (const { event, state } of writes) intend(event, state?.digest);
    };
    return {
      ...store,
      commit: (list, commit) => {
        intendAll(commit.writes);
        for (const event of commit.events ?? []) intend(event);
        return store.commit(list, commit);
      },
    };
  }

  async #storedRecords(): Promise<Map<string, SerialisedRecord>> {
    const { redis, keys, workspace } = this.#context;
    const { list } = this.#scenario;
    const fields = await redis.hkeysBuffer(keys.records(workspace, list));
    const names = fields.map(keyOfField);
    const states = await this.#store.records(list, names);
    return new Map(names.flatMap((name, nth) => (states[nth] == null ? [] : [[name, states[nth]] as const])));
  }
}

/** Redis measures leases in real time, the model does not. Long leases expire only where the run says so, on any machine. */
function withLongLeases(store: SweepStore): SweepStore {
  return {
    ...store,
    acquire: (list, ttlMs) => store.acquire(list, ttlMs * 1_000),
    renew: (list, token, ttlMs) => store.renew(list, token, ttlMs * 1_000),
  };
}

function isUneventful(last: CompleteSweep | undefined, quietSince: number): boolean {
  if (last === undefined || last.startedAt < quietSince || last.mode === 'baseline') return false;
  const { summary } = last;
  const { seen, unchanged, ignored, missing } = summary.counts;
  return unchanged + ignored === seen && missing === 0 && summary.counts.deleted === 0;
}
