/** Named combinations of faults. Each fault alone is a profile too, under its own name. */
import { ChangefeedError } from '../../errors.js';
import { DEFAULT_BEHAVIOUR, type Behaviour } from './behaviour.js';
import { FAULTS, isFaultName, type FaultName } from './faults.js';

export interface Profile {
  readonly name: string;
  readonly does: string;
  readonly faults: readonly FaultName[];
  /** A complete walk shows everything: so of all its faults. */
  readonly sound: boolean;
}

const COMBINED = {
  calm: { does: 'As written, and as documented where that is open. The default.', faults: [] },
  wild: {
    does: 'Bodies and ends of lists as seen in the wild.',
    faults: ['extras', 'todo-names-both', 'source-older-absent', 'end-empty-page'],
  },
  restless: {
    does: 'Everything about a record that may differ without a change, at every request.',
    faults: ['mixed-empties', 'reordered', 'signed-pictures', 'minute-stamps'],
  },
  flaky: {
    does: 'Connections and proxies on a bad day.',
    faults: ['html-502', 'truncated', 'dropped', 'gzip'],
  },
  hostile: {
    does: 'Every wrong answer that says that it is one.',
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
  crowded: { does: 'A tight limit, shared.', faults: ['tight-limit', 'foreign-client'] },
  moving: {
    does: 'The workspace changes under every sweep, new records appear behind the cursor, cursor records vanish.',
    faults: ['churn', 'order-id', 'cursor-row-deleted', 'renames', 'page-size-7'],
  },
  sliding: {
    does: 'Rows shift under the cursor while the workspace changes.',
    faults: ['churn', 'cursor-offset', 'page-size-7'],
  },
  forgetful: {
    does: 'Cursors expire within the sweep and then lead to the first page.',
    faults: ['cursor-expiring', 'bad-cursor-first-page', 'slow', 'page-size-7'],
  },
  lagging: {
    does: 'Some answers are older than others while the workspace changes.',
    faults: ['churn', 'stale-replica'],
  },
} as const satisfies Record<string, { does: string; faults: readonly FaultName[] }>;

/** All profiles: the combinations first, then each fault alone. */
export const PROFILES: readonly Profile[] = [
  ...Object.entries(COMBINED).map(([name, { does, faults }]) => profileOf(name, does, faults)),
  ...Object.entries(FAULTS).map(([name, { does }]) => profileOf(name, does, [name as FaultName])),
];

/** @throws ChangefeedError CF_USAGE when there is no such profile */
export function profileNamed(name: string): Profile {
  const profile = PROFILES.find((each) => each.name === name);
  if (profile !== undefined) return profile;
  const names = PROFILES.map((each) => each.name).join(', ');
  throw new ChangefeedError('CF_USAGE', { message: `There is no sandbox profile "${name}". Choose one of: ${names}.` });
}

/** @throws ChangefeedError CF_USAGE when there is no such fault */
export function faultNamed(name: string): FaultName {
  if (isFaultName(name)) return name;
  const message = `The sandbox knows no fault "${name}". Choose one of: ${Object.keys(FAULTS).join(', ')}.`;
  throw new ChangefeedError('CF_USAGE', { message });
}

/** The defaults, then each fault in turn, then what was given: the last word counts. Schedules of mishaps add up. */
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
