/** The role `dispatch` as a part of the process: the dispatcher, and beside it the trimming of the logs it reads. */
import type { Redis } from 'ioredis';
import type { Config } from '../../config/schema.js';
import { readsWorkspace } from '../../dispatch/match.js';
import type { FanOut } from '../fan-out.js';
import type { Clock } from '../../runtime/clock.js';
import type { Part } from '../../runtime/lifecycle.js';
import type { Log } from '../../runtime/log.js';
import { runLoop, type LoopBoard } from '../../runtime/loop.js';
import type { RedisWatch } from '../../runtime/redis-watch.js';
import type { Keys } from '../../state/keys.js';
import { trimLog } from '../../state/retention.js';

/** How often the log is trimmed to its retention. */
const TRIM_INTERVAL_MS = 60_000;

interface TrimmedHouse {
  config: Config;
  keys: Keys;
  redis: Redis;
  log: Log;
  clock: Clock;
  watch: RedisWatch;
  loops: LoopBoard;
}

export function dispatchPart(
  house: TrimmedHouse,
  fanOut: Pick<FanOut, 'dispatcher' | 'operations' | 'subscriptions'>,
): Part {
  const { config, redis, keys, clock, log } = house;
  const { dispatcher, operations } = fanOut;
  const stopping = new AbortController();
  let trimming: Promise<void> | undefined;
  const trimAll = async (): Promise<number> => {
    const disabled = await operations.enforceDisabled();
    for (const { name: workspace } of config.workspaces) {
      const readers = fanOut.subscriptions.filter((one) => readsWorkspace(one, workspace)).map(({ name }) => name);
      const trim = { workspace, readers, retention: config.log.retention, nowMs: clock.now(), disabled };
      const { missedBy, givenUp } = await trimLog(redis, keys, trim);
      await operations.noteMissing(missedBy);
      for (const subscription of givenUp)
        log.warn({ workspace, subscription }, 'unknown to every dispatcher for a week: it holds the log no longer');
    }
    return TRIM_INTERVAL_MS;
  };
  return {
    name: 'dispatcher',
    async start() {
      await dispatcher.start();
      trimming = runLoop({
        name: 'log retention',
        run: trimAll,
        ready: (signal) => house.watch.untilUsable(signal),
        signal: stopping.signal,
        log,
        clock,
        loops: house.loops,
      });
    },
    async stop() {
      stopping.abort();
      await Promise.all([trimming, dispatcher.stop()]);
    },
  };
}
