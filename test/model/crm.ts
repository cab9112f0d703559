/** The CRM of a run: a sandbox that lives as the scenario says, and what of it a client is shown. */
import type { UncheckedRecord } from '../../src/crm/record.js';
import { ChangefeedError } from '../../src/errors.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { Behaviour } from '../../src/sandbox/faults/behaviour.js';
import { rendered } from '../../src/sandbox/faults/rendering.js';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import type { FactsOf } from '../../src/sandbox/world/facts.js';
import { ACTS, type ActName } from './acts.js';
import type { Scenario } from './scenario.js';
import type { ModelTime } from './time.js';

type Facts = FactsOf[BuiltInList];

export class ModelCrm {
  readonly sandbox: Sandbox;
  readonly #scenario: Scenario;
  readonly #time: ModelTime;
  /** Facts of rows that are gone, the last one last. */
  readonly #gone: { index: number; facts: Facts }[] = [];
  /** A record that the next complete sweeps are not shown. */
  #hiding: { id: string; looks: number } | null = null;
  #hidden = new Set<string>();
  /** Those that the last complete sweep was not shown. */
  #justHidden: ReadonlySet<string> = new Set();

  constructor(scenario: Scenario, time: ModelTime) {
    this.#scenario = scenario;
    this.#time = time;
    this.sandbox = sandboxOf(scenario, time);
  }

  live(acts: readonly ActName[]): void {
    for (const act of acts) {
      const before = this.#rows();
      if (act === 'restore') this.#restore();
      else tolerate(() => ACTS[act].run(this.sandbox.life));
      const after = this.#rows();
      for (const [index, facts] of before) if (!after.has(index)) this.#gone.push({ index, facts });
    }
  }

  /** From now on nothing goes wrong, and nothing happens. */
  quieten(): void {
    this.sandbox.behave({ churn: 0, schedules: {} });
    this.#hiding = null;
  }

  /** The next complete sweeps, `looks` of them, are not shown this one. Twice in a row would be a removal. */
  hide(nth: number, looks: number): void {
    const ids = [...this.truth().keys()].filter((one) => !this.#justHidden.has(one));
    const id = ids[nth % Math.max(1, ids.length)];
    if (id !== undefined && looks > 0) this.#hiding ??= { id, looks };
  }

  asShown(records: readonly UncheckedRecord[]): readonly UncheckedRecord[] {
    const hiding = this.#hiding?.id;
    // Not the last one of a page: an empty page would be the end of the list.
    if (hiding === undefined || records.length < 2 || !records.some(({ id }) => id === hiding)) return records;
    this.#hidden.add(hiding);
    return records.filter(({ id }) => id !== hiding);
  }

  /** A sweep has come to its end. @returns the ids of those that it was not shown */
  swept(): ReadonlySet<string> {
    const hidden = this.#hidden;
    this.#hidden = new Set();
    this.#justHidden = hidden;
    if (this.#hiding !== null && --this.#hiding.looks === 0) this.#hiding = null;
    return hidden;
  }

  /** What is true of the list now, as it is shown to all. */
  truth(): Map<string, CrmRecord> {
    const { world, behaviour } = this.sandbox;
    const { list } = this.#scenario;
    const indexes = world.order(list).slice(0, Infinity);
    const records = indexes.flatMap((index) => world.image(list, index) ?? []);
    return new Map(records.map((record) => [record.id, rendered(list, record, behaviour)]));
  }

  /** A record that was gone is shown again, just as it was: permitted again, or brought back from the bin. */
  #restore(): void {
    const back = this.#gone.pop();
    if (back === undefined) return;
    this.sandbox.world.change('restore', this.#time.ofWorld.now(), (draft) =>
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

function sandboxOf({ list, seed, size, shown, mishaps, churn }: Scenario, time: ModelTime): Sandbox {
  // So many people and organizations that the few deleted do not empty a field on nearly all rows: that would be drift.
  const sizes = { people: 24, organizations: 16, memos: 4, todos: 4, history: 4, activity: 4, [SIZE_OF[list]]: size };
  const schedules = Object.entries(mishaps).map(([name, share]) => [name, { share }]);
  return createSandbox({
    ...sizes,
    seed,
    limit: null,
    clock: time.ofWorld,
    journalKeep: 1_000_000,
    behaviour: {
      ...shown,
      ...walkable(shown),
      churn,
      schedules: Object.fromEntries(schedules) as Behaviour['schedules'],
    },
  });
}

/** A snapshot of a list that has grown long must live as long as the budget takes to walk it. */
function walkable({ cursor }: Partial<Behaviour>): Partial<Behaviour> {
  return cursor === 'snapshot' ? { cursorLifetimeMs: 600_000 } : {};
}

function tolerate(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    // There is nobody left to whom this could be done.
    if (!(error instanceof ChangefeedError && error.code === 'CF_USAGE')) throw error;
  }
}
