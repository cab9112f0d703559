/** The CRM of a run: a sandbox that changes as the scenario says, and the part of it that a client sees. */
import type { UncheckedRecord, CrmRecord } from '../../src/crm/record.js';
import { ChangefeedError } from '../../src/kit/errors.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { Behaviour } from '../../sandbox/faults/behaviour.js';
import { rendered } from '../../sandbox/faults/rendering.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import type { FactsOf } from '../../sandbox/world/facts.js';
import { ACTS, type ActName } from './acts.js';
import type { Scenario } from './scenario.js';
import type { ModelTime } from './time.js';

type Facts = FactsOf[BuiltInList];

export class ModelCrm {
  readonly sandbox: Sandbox;
  readonly #scenario: Scenario;
  readonly #time: ModelTime;
  readonly #gone: { index: number; facts: Facts }[] = [];
  #hiding: { id: string; sweeps: number } | null = null;
  #hidden = new Set<string>();
  #justHidden: ReadonlySet<string> = new Set();

  constructor(scenario: Scenario, time: ModelTime) {
    this.#scenario = scenario;
    this.#time = time;
    this.sandbox = sandboxOf(scenario, time);
  }

  act(acts: readonly ActName[]): void {
    for (const act of acts) {
      const before = this.#rows();
      if (act === 'restore') this.#restore();
      else runIfPossible(() => ACTS[act].run(this.sandbox.life));
      const after = this.#rows();
      for (const [index, facts] of before) if (!after.has(index)) this.#gone.push({ index, facts });
    }
  }

  goneIds(): string[] {
    return this.#gone.map(({ index }) => this.sandbox.world.idOf(this.#scenario.list, index));
  }

  stopChanges(): void {
    this.sandbox.behave({ churn: 0, schedules: {} });
    this.#hiding = null;
  }

  /** Hides one record from the next `sweeps` complete sweeps. One sweep more would be a removal. */
  hide(nth: number, sweeps: number): void {
    const ids = [...this.truth().keys()].filter((one) => !this.#justHidden.has(one));
    const id = ids[nth % Math.max(1, ids.length)];
    if (id !== undefined && sweeps > 0) this.#hiding ??= { id, sweeps };
  }

  visible(records: readonly UncheckedRecord[]): readonly UncheckedRecord[] {
    const hiding = this.#hiding?.id;
    // The last record of a page stays: an empty page would be the end of the list.
    if (hiding === undefined || records.length < 2 || !records.some(({ id }) => id === hiding)) return records;
    this.#hidden.add(hiding);
    return records.filter(({ id }) => id !== hiding);
  }

  /** Call it at the end of a complete sweep. @returns the ids that were hidden from it */
  sweepEnded(): ReadonlySet<string> {
    const hidden = this.#hidden;
    this.#hidden = new Set();
    this.#justHidden = hidden;
    if (this.#hiding !== null && --this.#hiding.sweeps === 0) this.#hiding = null;
    return hidden;
  }

  truth(): Map<string, CrmRecord> {
    const { world, behaviour } = this.sandbox;
    const { list } = this.#scenario;
    const indexes = world.order(list).slice(0, Infinity);
    const records = indexes.flatMap((index) => world.image(list, index) ?? []);
    return new Map(records.map((record) => [record.id, rendered(list, record, behaviour)]));
  }

  /** A deleted record reappears unchanged, as after a change of permissions or a restore from the recycle bin. */
  #restore(): void {
    const back = this.#gone.pop();
    if (back === undefined) return;
    this.sandbox.world.change('restore', this.#time.forWorld.now(), (draft) =>
      draft.put(this.#scenario.list, back.index, back.facts),
    );
  }

  #rows(): Map<number, Facts> {
    const { world } = this.sandbox;
    const { list } = this.#scenario;
    const rows = world.order(list).slice(0, Infinity);
    return new Map(
      rows.flatMap((index) => {
        const facts = world.facts(list, index);
        return facts === null ? [] : [[index, facts] as const];
      }),
    );
  }
}

const SIZE_OF = {
  people: 'people',
  organization: 'organizations',
  memo: 'memos',
  todo: 'todos',
  history: 'history',
  activity: 'activity',
} as const satisfies Record<BuiltInList, string>;

function sandboxOf({ list, seed, size, rendering, apiFaults, churn }: Scenario, time: ModelTime): Sandbox {
  // With fewer people and organizations a few deletions would empty a field on nearly all rows, which is schema drift.
  const sizes = { people: 24, organizations: 16, memos: 4, todos: 4, history: 4, activity: 4, [SIZE_OF[list]]: size };
  const schedules = Object.entries(apiFaults).map(([name, share]) => [name, { share }]);
  return createSandbox({
    ...sizes,
    seed,
    limit: null,
    clock: time.forWorld,
    start: Date.UTC(2026, 0, 1),
    journalKeep: 1_000_000,
    behaviour: {
      ...rendering,
      ...snapshotLifetime(rendering),
      churn,
      schedules: Object.fromEntries(schedules) as Behaviour['schedules'],
    },
  });
}

/** A snapshot cursor must live as long as the budget takes to read a list that has grown long. */
function snapshotLifetime({ cursor }: Partial<Behaviour>): Partial<Behaviour> {
  return cursor === 'snapshot' ? { cursorLifetimeMs: 600_000 } : {};
}

function runIfPossible(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    // No record is left that this act could apply to.
    if (!(error instanceof ChangefeedError && error.code === 'CF_USAGE')) throw error;
  }
}
