/** The options of a sandbox. */
import type { Clock } from '../src/kit/clock.js';
import type { Log } from '../src/kit/log.js';
import type { Behaviour } from './faults/behaviour.js';
import type { Sizes } from './world/facts.js';
import { DEAL, LEAD } from './world/lists.js';

/** The size, the pace and the faults of a sandbox. */
export interface SandboxOptions {
  /** @defaultValue 1000 */
  people?: number;
  /** @defaultValue a fifth of the people */
  organizations?: number;
  /** @defaultValue one and a half per person */
  memos?: number;
  /** @defaultValue one and a half per person */
  todos?: number;
  /** Rows of deal history. @defaultValue four per person */
  history?: number;
  /** Rows of people activity. @defaultValue four per person */
  activity?: number;
  /** All six lists together, in the default shares. A size that is also given for a list takes precedence. */
  records?: number;
  /**
   * Further lists: how many records by name. `{ product: 500 }` serves `v2/product` with the array `productList`. A name is a plain
   * lower-case word that none of the six lists has. `deal`, `lead`, `people_history`, `organization_history` and `lead_history` are served
   * without being named, with sizes that follow from the others. @defaultValue none
   */
  lists?: Readonly<Record<string, number>>;
  /** The same seed and `start` give the same records and the same mutations. @defaultValue 1 */
  seed?: number;
  /**
   * The end of the initial records, in ms: they were created before it, and open todos are due in the 14 days before and after it. The
   * same seed and start give the same records and ids. @defaultValue the last midnight (UTC), so that what is overdue means something
   */
  start?: number;
  /** @defaultValue 'sandbox' */
  token?: string;
  /** 0 takes any free port. @defaultValue 0 */
  port?: number;
  /** @defaultValue '127.0.0.1' */
  host?: string;
  /** Mutations per second; 0 for none. @defaultValue 0 */
  rate?: number;
  /** A name from PROFILES: a combination of faults, or a single fault. @defaultValue 'calm' */
  profile?: string;
  /** Names from FAULTS, in addition to the profile. @defaultValue none */
  faults?: readonly string[];
  /** Records per page. @defaultValue 50 */
  pageSize?: number;
  /** Null for no limit. @defaultValue 100 requests in 10 s */
  limit?: { requests: number; perMs: number } | null;
  /** Delay before every answer; ms. @defaultValue 0 */
  latencyMs?: number;
  /** Single switches; they override profile and faults. @defaultValue none */
  behaviour?: Partial<Behaviour>;
  /** Path of a file to write the journal to, as NDJSON. An existing file is overwritten. @defaultValue none */
  journal?: string;
  /** Lines of the journal kept in memory; the oldest are dropped first. @defaultValue 10000 */
  journalKeep?: number;
  /** Starts a control API. Default port: any free one; default token: 'control'. @defaultValue no control API */
  control?: { port?: number; host?: string; token?: string };
  clock?: Clock;
  log?: Log;
}

const DAY_MS = 86_400_000;

export function startOf({ start }: Pick<SandboxOptions, 'start'>, clock: Pick<Clock, 'now'>): number {
  return start ?? Math.floor(clock.now() / DAY_MS) * DAY_MS;
}

/** The switches that the options set, apart from profile and faults. */
export function givenBehaviour({ pageSize, limit, latencyMs, behaviour }: SandboxOptions): Partial<Behaviour> {
  return {
    ...(pageSize !== undefined && { pageSize }),
    ...(limit === null && { limitRequests: 0 }),
    ...(limit !== null && limit !== undefined && { limitRequests: limit.requests, limitWindowMs: limit.perMs }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...behaviour,
  };
}

const DEFAULT_PEOPLE = 1_000;
// Records per person in the default shares, the person included.
const PER_PERSON = 1 + 0.2 + 1.5 + 1.5 + 4 + 4;

export function sizesOf({ records, lists = {}, ...given }: SandboxOptions): Sizes {
  const people =
    given.people ?? (records === undefined ? DEFAULT_PEOPLE : Math.max(1, Math.round(records / PER_PERSON)));
  const organization = given.organizations ?? Math.ceil(people / 5);
  const lead = lists['lead'] ?? Math.ceil(people / 4);
  return {
    [DEAL]: Math.ceil(people / 2),
    people_history: people * 2,
    organization_history: organization * 2,
    lead_history: lead * 2,
    ...lists,
    [LEAD]: lead,
    people,
    organization,
    memo: given.memos ?? Math.round(people * 1.5),
    todo: given.todos ?? Math.round(people * 1.5),
    // Both lists are about people and their deals: without people they are empty.
    history: people === 0 ? 0 : (given.history ?? people * 4),
    activity: people === 0 ? 0 : (given.activity ?? people * 4),
    // One deal for every two people. No endpoint lists them; history and counters refer to them.
    unlistedDeal: Math.ceil(people / 2),
  };
}
