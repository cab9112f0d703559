/** Sweeps one list of a workspace on a real Redis, and reads its events from the log. */
import { compileRules, type FieldRules, type TodoWatch } from '../../src/feed/detect/rules.js';
import { nameOf, type ListRef } from '../../src/crm/lists/lists.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { systemClock, type Clock } from '../../src/kit/clock.js';
import { silentLog, type Log } from '../../src/kit/log.js';
import { createSweepStore, type SweepStore } from '../../src/feed/store/sweep-store.js';
import type { ListOptions } from '../../src/feed/list/list.js';
import { sweepList } from '../../src/feed/list/loop.js';
import type { SweepSummary } from '../../src/feed/store/sweep-state.js';
import { listedApi, type ListedApi } from './listed.js';
import { loggedEvents, type TestRedis } from './redis.js';

export interface SweptListOptions extends Partial<Omit<ListOptions, 'rules' | 'list'>> {
  rules?: FieldRules;
  watch?: TodoWatch;
  log?: Log;
  source?: string;
  store?: SweepStore;
  minutesLater?: number;
}

export interface SweptList {
  store: SweepStore;
  clock: Clock;
  sweep: (options?: SweptListOptions) => Promise<SweepSummary>;
  /** A sweep once the list shows these records. */
  show: (records: readonly UncheckedRecord[], options?: SweptListOptions) => Promise<SweepSummary>;
  events: () => Promise<ChangeEvent[]>;
  /** `deleted a 2`: verb, subject, sequence. */
  eventLines: () => Promise<string[]>;
}

export function sweptList(redis: TestRedis, api: ListedApi, list: ListRef = 'people', workspace = 'acme'): SweptList {
  // Sweeps are a minute apart by default, which is longer than any replica lag.
  let minutes = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + minutes * 60_000 };
  const ours = createSweepStore(redis.redis, redis.keys, workspace);
  const events = (): Promise<ChangeEvent[]> => loggedEvents(redis, workspace);
  const sweep = async (asked: SweptListOptions = {}): Promise<SweepSummary> => {
    const { rules = {}, watch, log = silentLog, store = ours, source, minutesLater = 1, ...options } = asked;
    minutes += minutesLater;
    const compiled = compileRules(list, rules, watch);
    const result = await sweepList(
      { workspace, source, api, store, clock, log },
      { baseline: 'quiet', pagesAhead: 0, ...options, list: nameOf(list), rules: compiled },
    );
    if (result.outcome === 'held') throw new Error(`held by ${result.holder}`);
    return result.summary;
  };
  return {
    store: ours,
    clock,
    sweep,
    show(records, options) {
      api.records = [...records];
      return sweep(options);
    },
    events,
    async eventLines() {
      return (await events()).map(
        ({ type, subject, data }) => `${type.split('.')[2] ?? ''} ${subject} ${data.sequence}`,
      );
    },
  };
}

/** A list of these records after its first sweep, which is quiet unless the options say otherwise. */
export async function baselined(
  redis: TestRedis,
  records: UncheckedRecord[],
  { pageSize, list, ...options }: SweptListOptions & { pageSize?: number; list?: ListRef } = {},
): Promise<SweptList & { api: ListedApi }> {
  const api = listedApi(records, pageSize);
  const swept = sweptList(redis, api, list);
  await swept.sweep(options);
  return { ...swept, api };
}
