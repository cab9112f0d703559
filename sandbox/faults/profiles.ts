/** Named combinations of faults. Each single fault is also a profile, under its own name. */
import { usage } from '../../src/kit/errors.js';
import { DEFAULT_BEHAVIOUR, type Behaviour } from './behaviour.js';
import { FAULTS, type FaultName } from './faults.js';

/** A behaviour of the sandbox, by name. */
export interface Profile {
  readonly name: string;
  /** Its behaviour, in a sentence. */
  readonly does: string;
  /** The faults that it switches on. */
  readonly faults: readonly FaultName[];
  /** True if all its faults are sound. */
  readonly sound: boolean;
}

const COMBINED = {
  calm: { does: 'As the interface says, with documented defaults where it does not. The default.', faults: [] },
  wild: {
    does: 'Records and ends of lists as in real answers.',
    faults: ['extras', 'todo-names-both', 'source-older-absent', 'end-empty-page'],
  },
  restless: {
    does: 'Everything that can differ in a record without a change, in every request.',
    faults: ['mixed-empties', 'reordered', 'signed-pictures', 'minute-stamps'],
  },
  flaky: {
    does: 'Unreliable connections and proxies.',
    faults: ['html-502', 'truncated', 'dropped', 'gzip'],
  },
  hostile: {
    does: 'All wrong answers that a client can recognise.',
    faults: [
      'json-500',
      'empty-400',
      'html-404',
      'refused-200',
      'listless-200',
      'rate-limited-list',
      'unauthorised',
      'forbidden',
    ],
  },
  crowded: { does: 'A low rate limit, shared with another client.', faults: ['tight-limit', 'foreign-client'] },
  moving: {
    does: 'The workspace changes during every sweep, new records appear before the cursor, cursor records are removed.',
    faults: ['churn', 'order-id', 'cursor-row-deleted', 'renames', 'page-size-7'],
  },
  sliding: {
    does: 'Rows shift between pages while the workspace changes.',
    faults: ['churn', 'cursor-offset', 'page-size-7'],
  },
  forgetful: {
    does: 'Cursors expire during the sweep and then lead to the first page.',
    faults: ['cursor-expiring', 'bad-cursor-first-page', 'slow', 'page-size-7'],
  },
  lagging: {
    does: 'Some answers are out of date while the workspace changes.',
    faults: ['churn', 'stale-replica'],
  },
} as const satisfies Record<string, { does: string; faults: readonly FaultName[] }>;

/** All profiles: the combinations first, then each fault alone. */
export const PROFILES: readonly Profile[] = [
  ...Object.entries(COMBINED).map(([name, { does, faults }]) => profileOf(name, does, faults)),
  ...Object.entries(FAULTS).map(([name, { does }]) => profileOf(name, does, [name as FaultName])),
];

/** @throws ChangefeedError CF_USAGE for an unknown profile */
export function profileNamed(name: string): Profile {
  const profile = PROFILES.find((each) => each.name === name);
  if (profile !== undefined) return profile;
  throw usage(`There is no sandbox profile "${name}". "changefeed sandbox --profile list" shows them all.`);
}

/** @throws ChangefeedError CF_USAGE for an unknown fault */
export function faultNamed(name: string): FaultName {
  if (Object.hasOwn(FAULTS, name)) return name as FaultName;
  const message = `The sandbox knows no fault "${name}". Choose one of: ${Object.keys(FAULTS).join(', ')}.`;
  throw usage(message);
}

/** The defaults, overridden by each fault in turn and then by `given`. Fault schedules are merged. */
export function composed(faults: Iterable<FaultName>, given: Partial<Behaviour>): Behaviour {
  const parts: Partial<Behaviour>[] = [...faults].map((name): Partial<Behaviour> => FAULTS[name].behaviour);
  return [...parts, given].reduce<Behaviour>(
    (so, part) => ({ ...so, ...part, schedules: { ...so.schedules, ...part.schedules } }),
    DEFAULT_BEHAVIOUR,
  );
}

function profileOf(name: string, does: string, faults: readonly FaultName[]): Profile {
  return { name, does, faults, sound: faults.every((fault) => FAULTS[fault].sound) };
}
