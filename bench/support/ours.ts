/** One complete sweep of `people` by Changefeed, without a request limit. */
import type { Redis } from 'ioredis';
import type { Budget } from '../../src/feed/api/budget.js';
import { createReadApi } from '../../src/feed/api/client.js';
import type { ReadApi } from '../../src/feed/api/read-api.js';
import { compileRules } from '../../src/feed/detect/rules.js';
import { silentLog } from '../../src/kit/log.js';
import { systemClock } from '../../src/kit/clock.js';
import { Keys } from '../../src/redis/keys.js';
import type { HistoryLimits } from '../../src/feed/store/commit.js';
import { createSweepStore } from '../../src/feed/store/sweep-store.js';
import { sweepList, type SweepResult } from '../../src/feed/list/loop.js';
import type { Contestant } from './turns.js';

export interface OursOptions {
  url: string;
  redis: Redis;
  /** @defaultValue 'bench' */
  workspace?: string;
  /** @defaultValue no history is kept */
  history?: HistoryLimits;
}

export interface Ours extends Contestant {
  readonly close: () => Promise<void>;
  /** The requests that were in flight at the same time, at most. */
  readonly inFlight: () => number;
  readonly sweepResult: () => Promise<SweepResult>;
}

export const unlimited: Budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };

export function ours({ url, redis, workspace = 'bench', history }: OursOptions): Ours {
  const api: ReadApi = createReadApi({ workspace, baseUrl: url, token: 'bench', budget: unlimited });
  let [inFlight, most] = [0, 0];
  const fetchIfChanged: ReadApi['fetchIfChanged'] = async (...request) => {
    most = Math.max(most, ++inFlight);
    return await api.fetchIfChanged(...request).finally(() => (inFlight -= 1));
  };
  const store = createSweepStore(redis, new Keys('bench'), workspace, {
    history: history === undefined ? null : { ...history, clock: systemClock },
  });
  const deps = { workspace, api: { ...api, fetchIfChanged }, store, clock: systemClock, log: silentLog };
  const rules = compileRules('people');
  const sweepResult = (): Promise<SweepResult> => sweepList(deps, { list: 'people', rules, baseline: 'quiet' });
  return {
    name: 'ours',
    sweepResult,
    sweep: async () => {
      const result = await sweepResult();
      return result.outcome === 'complete' ? result.summary.counts.seen : 0;
    },
    close: () => api.close(),
    inFlight: () => most,
  };
}
