/** What a run is made of, as plain data that shrinks: a world, how it is shown, what is asked of detection, and what happens. */
import fc from 'fast-check';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { Behaviour, ScheduledFault } from '../../src/sandbox/faults/behaviour.js';
import type { Doom } from './fate.js';
import { ACTS, DRIFTING_LISTS, type ActName } from './acts.js';
import { RULE_SETS, type RuleSetName } from './rule-sets.js';

export interface Scenario {
  list: BuiltInList;
  /** Rows of history and activity carry no id. */
  withoutIds: boolean;
  seed: number;
  /** Records of the list at the start. */
  size: number;
  shown: Partial<Behaviour>;
  /** Share of requests that meet each mishap. */
  mishaps: Partial<Record<ScheduledFault, number>>;
  /** Mutations after every page while life goes on. */
  churn: number;
  /** Tries per page. */
  attempts: number;
  config: ModelConfig;
  steps: readonly Step[];
}

export interface ModelConfig {
  rules: RuleSetName;
  images: boolean;
  baseline: 'quiet' | 'emit' | 'since';
  removals: { confirm: number; maxShare: number; maxCount: number };
  creations: { maxShare: number; maxCount: number };
}

export type Step =
  | { do: 'live'; acts: readonly ActName[] }
  /** A sweep; when its process dies or stands still, its lease runs out and another takes over. */
  | { do: 'sweep'; doom: Doom | null; meanwhile: readonly ActName[]; rival: Doom | null }
  | { do: 'wait'; ms: number }
  | { do: 'resync' }
  | { do: 'accept-removals' }
  | { do: 'accept-creations' }
  /** The next complete sweep does not show this record (of those it would), as when a replica lags. */
  | { do: 'hide'; nth: number }
  | { do: 'drift'; how: Drift };

/** `emptied`: empty fields, null so far, are absent from now on. */
export type Drift = 'added' | 'removed' | 'reshaped' | 'emptied';

const HOUR_MS = 3_600_000;

const doom: fc.Arbitrary<Doom> = fc.record({
  at: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 90 })),
  blow: fc.constantFrom(
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
    doom: sometimes(doom),
    meanwhile: acts(3),
    rival: sometimes(doom),
  });
  const wait = fc.constantFrom(1_000, 30_000, 2 * HOUR_MS).map((ms): Step => ({ do: 'wait', ms }));
  // Only todos all have the field that goes: of a form that fewer than ten rows have, each is told by itself.
  const hows =
    list === 'todo' ? (['added', 'removed', 'reshaped', 'emptied'] as const) : (['added', 'emptied'] as const);
  const drift = fc.constantFrom(...hows).map((how): Step => ({ do: 'drift', how }));
  const seldom = fc.oneof(
    fc.constant<Step>({ do: 'resync' }),
    fc.constant<Step>({ do: 'accept-removals' }),
    fc.constant<Step>({ do: 'accept-creations' }),
    fc.nat(20).map((nth): Step => ({ do: 'hide', nth })),
  );
  const any = fc.oneof(
    { arbitrary: sweep, weight: 8 },
    { arbitrary: live, weight: 6 },
    { arbitrary: wait, weight: 2 },
    ...(drifts ? [{ arbitrary: drift, weight: 2 }] : [{ arbitrary: seldom, weight: 2 }]),
  );
  return fc.array(any, { minLength: 2, maxLength: 14, size: 'max' });
}

const shown: fc.Arbitrary<Partial<Behaviour>> = fc.record({
  pageSize: fc.constantFrom(1, 2, 3, 5, 7),
  end: fc.constantFrom('null', 'missing', 'empty-text', 'empty-page'),
  cursor: fc.constantFrom('last-id', 'last-id', 'expiring', 'snapshot', 'single-use'),
  cursorOfGoneRecord: fc.constantFrom('good', 'bad'),
  badCursor: fc.constantFrom('refuse', 'refuse-empty'),
  order: fc.constantFrom('creation', 'id'),
  todoNames: fc.constantFrom('written', 'wild', 'both'),
  extras: fc.boolean(),
  stamps: fc.constantFrom('ms', 'ms', 'minute', 'still'),
  stampsFollow: fc.boolean(),
  empties: fc.constantFrom('null', 'absent', 'mixed'),
  sequence: fc.constantFrom('kept', 'reordered'),
  pictures: fc.constantFrom('kept', 'signed'),
  historySource: fc.constantFrom('present', 'older-absent'),
});

/** Those that a list API can have and still be sound. */
const MISHAPS = [
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

const mishaps = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...MISHAPS), fc.constantFrom(0.03, 0.1, 0.3)), {
    maxLength: 3,
    selector: ([name]) => name,
  })
  .map((pairs): Scenario['mishaps'] => Object.fromEntries(pairs));

const config: fc.Arbitrary<ModelConfig> = fc.record({
  rules: fc.constantFrom(...(Object.keys(RULE_SETS) as RuleSetName[])),
  images: fc.constantFrom(true, true, true, false),
  baseline: fc.constantFrom('quiet', 'quiet', 'quiet', 'emit', 'since'),
  removals: fc.record({
    confirm: fc.constantFrom(2, 2, 1, 3),
    maxShare: fc.constantFrom(0.2, 0.5),
    maxCount: fc.constantFrom(10, 1, 3),
  }),
  // Strict ones too: in a world this small the default holds replaced lists alone.
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
    shown,
    mishaps,
    churn: drifts ? fc.constant(0) : fc.constantFrom(0, 0, 1, 2),
    attempts: fc.integer({ min: 1, max: 4 }),
    config,
    steps: steps(list, drifts),
  });
  return scenario.map((one) => walkable(decidable(drifts ? ofDrift(one) : one)));
}

/** With records known by digests alone, or when asked not to, drift is told record by record: no judge could tell it from edits. */
function ofDrift(scenario: Scenario): Scenario {
  const { 'cursor-row-deleted': _, ...left } = scenario.mishaps;
  const { config: given } = scenario;
  return {
    ...scenario,
    mishaps: left,
    config: { ...given, images: true, rules: given.rules === 'no-collapse' ? 'none' : given.rules },
  };
}

/** A list that grows by more than a page for every page that is read has no end. */
function walkable(scenario: Scenario): Scenario {
  const { churn, shown: given } = scenario;
  return churn < (given.pageSize ?? Infinity) ? scenario : { ...scenario, churn: 0 };
}

/** Without images an event does not say what was before: that somebody was renamed could not be told from an edit. */
function decidable(scenario: Scenario): Scenario {
  if (scenario.config.images) return scenario;
  const { rename: _, ...left } = scenario.mishaps;
  return { ...scenario, mishaps: left };
}
