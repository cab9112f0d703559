/** A run as plain data, which can be shrunk: the world, its rendering, the configuration, and the steps. */
import fc from 'fast-check';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { RemovalRules } from '../../src/feed/detect/removal.js';
import type { Behaviour, ScheduledFault } from '../../sandbox/faults/behaviour.js';
import type { ProcessFault } from './fault-schedule.js';
import { ACTS, DRIFTING_LISTS, type ActName } from './acts.js';
import { RULE_SETS, type RuleSetName } from './rule-sets.js';

export interface Scenario {
  list: BuiltInList;
  /** Rows of history and activity have no id. */
  withoutIds: boolean;
  seed: number;
  size: number;
  rendering: Partial<Behaviour>;
  apiFaults: Partial<Record<ScheduledFault, number>>;
  /** Mutations after every page until the end of the steps. */
  churn: number;
  attempts: number;
  shortcuts: ModelShortcuts | null;
  config: ModelConfig;
  steps: readonly Step[];
}

export interface ModelShortcuts {
  /** How long the API takes to answer. Time is what makes polls due; ms. */
  latencyMs: number;
  /** What other lists tell about changed records of this one, as activity rows do: at once, later, wrongly, or nothing. */
  named: 'at once' | 'late' | 'wrongly' | 'never';
}

export interface ModelConfig {
  rules: RuleSetName;
  baseline: 'quiet' | 'emit' | 'since';
  removals: RemovalRules;
  creations: { maxShare: number; maxCount: number };
}

export type Step =
  | { do: 'live'; acts: readonly ActName[] }
  /** A sweep. If its process stalls, its lease expires and another process takes over. */
  | { do: 'sweep'; fault: ProcessFault | null; meanwhile: readonly ActName[]; takeoverFault: ProcessFault | null }
  | { do: 'wait'; ms: number }
  | { do: 'watch'; ms: number; fault: ProcessFault | null; meanwhile: readonly ActName[] }
  | { do: 'hint'; which: Hint; nth: number }
  | { do: 'resync' }
  | { do: 'accept' }
  | { do: 'hide'; nth: number }
  | { do: 'drift'; how: Drift };

/** `flood`: all records and as many unknown ids as a hint may have. `hostile`: texts that no list has as ids. */
export type Hint = 'one' | 'unknown' | 'gone' | 'flood' | 'hostile';

/** `emptied`: empty fields that were null are absent from now on. */
export type Drift = 'added' | 'removed' | 'reshaped' | 'emptied';

const HOUR_MS = 3_600_000;

const fault: fc.Arbitrary<ProcessFault> = fc.record({
  at: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 90 })),
  kind: fc.constantFrom(
    'dies-before',
    'dies-after',
    'stalls-before',
    'stalls-after',
    'fails-before',
    'fails-after',
    'sent-twice',
  ),
});

const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { freq: 2 });

function steps(list: BuiltInList, drifts: boolean): fc.Arbitrary<Step[]> {
  const usable = (Object.keys(ACTS) as ActName[]).filter(
    (name) => ACTS[name].lists.includes(list) && (!drifts || ACTS[name].duringDrift === true),
  );
  const acts = (maxLength: number) => fc.array(fc.constantFrom(...usable), { maxLength });
  const live = acts(6).map((done): Step => ({ do: 'live', acts: done }));
  const sweep = fc.record({
    do: fc.constant('sweep' as const),
    fault: sometimes(fault),
    meanwhile: acts(3),
    takeoverFault: sometimes(fault),
  });
  const wait = fc.constantFrom(1_000, 30_000, 2 * HOUR_MS).map((ms): Step => ({ do: 'wait', ms }));
  // Only todos all have the field that is removed or reshaped. With fewer than ten such rows, each would be reported by itself.
  const hows =
    list === 'todo' ? (['added', 'removed', 'reshaped', 'emptied'] as const) : (['added', 'emptied'] as const);
  const drift = fc.constantFrom(...hows).map((how): Step => ({ do: 'drift', how }));
  const watch = fc.record({
    do: fc.constant('watch' as const),
    ms: fc.constantFrom(3_000, 10_000),
    fault: sometimes(fault),
    meanwhile: acts(3),
  });
  const hint = fc.record({
    do: fc.constant('hint' as const),
    which: fc.constantFrom<Hint[]>('one', 'one', 'one', 'unknown', 'gone', 'flood', 'hostile'),
    nth: fc.nat(20),
  });
  const rare = fc.oneof(
    fc.constant<Step>({ do: 'resync' }),
    fc.constant<Step>({ do: 'accept' }),
    fc.nat(20).map((nth): Step => ({ do: 'hide', nth })),
  );
  const any = fc.oneof(
    { arbitrary: sweep, weight: 8 },
    { arbitrary: live, weight: 6 },
    { arbitrary: wait, weight: 2 },
    { arbitrary: watch, weight: 3 },
    { arbitrary: hint, weight: 2 },
    ...(drifts ? [{ arbitrary: drift, weight: 2 }] : [{ arbitrary: rare, weight: 2 }]),
  );
  return fc.array(any, { minLength: 2, maxLength: 14, size: 'max' });
}

const rendering: fc.Arbitrary<Partial<Behaviour>> = fc.record({
  pageSize: fc.constantFrom(1, 2, 3, 5, 7),
  end: fc.constantFrom('null', 'missing', 'empty-text', 'empty-page'),
  cursor: fc.constantFrom('last-id', 'last-id', 'expiring', 'snapshot', 'single-use'),
  cursorLifetimeMs: fc.constantFrom(300_000, 3_600_000),
  cursorOfGoneRecord: fc.constantFrom('good', 'bad'),
  badCursor: fc.constantFrom('refuse', 'refuse-empty'),
  order: fc.constantFrom('creation', 'id'),
  todoNames: fc.constantFrom('written', 'wild', 'both'),
  extras: fc.boolean(),
  stamps: fc.constantFrom('ms', 'ms', 'minute', 'still'),
  empties: fc.constantFrom('null', 'absent', 'mixed'),
  sequence: fc.constantFrom('kept', 'reordered'),
  pictures: fc.constantFrom('kept', 'signed'),
  historySource: fc.constantFrom('present', 'older-absent'),
});

/** The faults under which a list API is still sound. */
const API_FAULTS = [
  'rate-limited',
  'unauthorised',
  'empty-400',
  'html-404',
  'html-502',
  'json-500',
  'refused-200',
  'listless-200',
  'truncated',
  'dropped',
  'cursor-row-deleted',
  'rename',
] as const satisfies readonly ScheduledFault[];

const apiFaults = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...API_FAULTS), fc.constantFrom(0.03, 0.1, 0.3)), {
    maxLength: 3,
    selector: ([name]) => name,
  })
  .map((pairs): Scenario['apiFaults'] => Object.fromEntries(pairs));

const shortcuts: fc.Arbitrary<ModelShortcuts> = fc.record({
  latencyMs: fc.constantFrom(0, 400, 1_500),
  named: fc.constantFrom('at once', 'at once', 'late', 'wrongly', 'never'),
});

const config: fc.Arbitrary<ModelConfig> = fc.record({
  rules: fc.constantFrom(...(Object.keys(RULE_SETS) as RuleSetName[])),
  baseline: fc.constantFrom('quiet', 'quiet', 'quiet', 'emit', 'since'),
  removals: fc.record({
    confirm: fc.constantFrom(2, 2, 1, 3),
    afterMs: fc.constantFrom(0, 30_000),
    maxShare: fc.constantFrom(0.2, 0.5),
    maxCount: fc.constantFrom(10, 1, 3),
  }),
  // Strict limits too: in a world this small the default limits hold only replaced lists.
  creations: fc.record({
    maxShare: fc.constantFrom(0.5, 0.3, 0.3, 0, 1),
    maxCount: fc.constantFrom(100, 1, 0, 0),
  }),
});

export function scenarios(lists: readonly BuiltInList[]): fc.Arbitrary<Scenario> {
  return fc.constantFrom(...lists).chain((list) => {
    const mayDrift = DRIFTING_LISTS.includes(list);
    const drifting = mayDrift ? fc.constantFrom(false, false, false, true) : fc.constant(false);
    return drifting.chain((drifts) => ofList(list, drifts));
  });
}

function ofList(list: BuiltInList, drifts: boolean): fc.Arbitrary<Scenario> {
  const scenario = fc.record({
    list: fc.constant(list),
    withoutIds: list === 'history' || list === 'activity' ? fc.constantFrom(false, false, true) : fc.constant(false),
    seed: fc.nat(100_000),
    size: drifts ? fc.integer({ min: 14, max: 24 }) : fc.nat(14),
    rendering,
    apiFaults,
    churn: drifts ? fc.constant(0) : fc.constantFrom(0, 0, 1, 2),
    attempts: fc.integer({ min: 1, max: 4 }),
    shortcuts: fc.option(shortcuts, { freq: 3 }),
    config,
    steps: steps(list, drifts),
  });
  return scenario.map((one) => walkable(drifts ? ofDrift(one) : one));
}

/** With `collapse: false`, drift is reported per record, and the judge could not distinguish it from edits. */
function ofDrift(scenario: Scenario): Scenario {
  const { 'cursor-row-deleted': _, ...left } = scenario.apiFaults;
  const { config: given } = scenario;
  return {
    ...scenario,
    apiFaults: left,
    config: { ...given, rules: given.rules === 'no-collapse' ? 'none' : given.rules },
  };
}

const ROWS_OF_AN_ACT = 4;

/** A list that grows by a page or more for every page of the walk has no end. Shortcuts read up to as many pages, and so do requests ahead. One
 * act of churn may write several rows of a history. */
function walkable(scenario: Scenario): Scenario {
  const { churn, shortcuts: used, rendering: given } = scenario;
  const read = used === null ? 1 : 4;
  return churn * read * ROWS_OF_AN_ACT < (given.pageSize ?? Infinity) ? scenario : { ...scenario, churn: 0 };
}
