/** A list whose history is kept, swept on a real Redis. */
import type { CrmRecord, UncheckedRecord } from '../../src/crm/record.js';
import { compileRules, type FieldRules } from '../../src/feed/detect/rules.js';
import { recordsAsOf } from '../../src/feed/history/as-of.js';
import { recordHistory, type RecordHistory } from '../../src/feed/history/record-history.js';
import type { HistoryLimits } from '../../src/feed/store/commit.js';
import { createSweepStore, type SweepStore } from '../../src/feed/store/sweep-store.js';
import { listedApi } from './listed.js';
import type { TestRedis } from './redis.js';
import { sweptList, type SweptListOptions } from './swept-list.js';

export const KEPT: HistoryLimits = { keepMs: 90 * 86_400_000, changes: 1_000 };
const SOON = { confirm: 1, afterMs: 0, maxShare: 1, maxCount: 100 };

/** A list with a history: `show` sweeps it and gives the time after it, ms. */
export function historyList(
  test: TestRedis,
  limits: HistoryLimits | null = KEPT,
  rules: FieldRules = {},
  workspace = 'acme',
) {
  const swept = sweptList(test, listedApi([]), 'people', workspace);
  const { clock } = swept;
  const storeWith = (history: HistoryLimits | null): SweepStore =>
    createSweepStore(test.redis, test.keys, workspace, { history: history && { ...history, clock } });
  const store = storeWith(limits);
  const show = async (records: readonly UncheckedRecord[], more: SweptListOptions = {}): Promise<number> => {
    const options = { store, rules, removals: SOON, minutesLater: 1, ...more };
    await swept.show(records, options);
    return clock.now();
  };
  const compiled = compileRules('people', rules);
  const history = async (id: string, { limit = 50, from = '', atMs = Infinity } = {}): Promise<RecordHistory> =>
    await recordHistory(store, { id, rules: compiled, limit, atMs, ...(from !== '' && { from }) });
  const asOf = async (atMs: number): Promise<CrmRecord[]> => {
    const records: CrmRecord[] = [];
    for await (const one of recordsAsOf(store, { list: 'people', atMs })) records.push(one);
    return records.sort((one, other) => (one.id < other.id ? -1 : 1));
  };
  return { ...swept, store, rules: compiled, show, history, asOf, storeWith };
}
