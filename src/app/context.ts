/** What every part needs of the process. */
import type { Redis } from 'ioredis';
import type { Config, WorkspaceConfig } from '../config/schema.js';
import type { Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { LoopBoard } from '../runtime/loop.js';
import type { RedisWatch } from '../runtime/redis-watch.js';
import type { Unfinished } from '../runtime/unfinished.js';
import type { Keys } from '../state/keys.js';

export interface House {
  /** As the process was started. */
  config: Config;
  /** What a reload replaces. */
  current: { workspaces: readonly WorkspaceConfig[] };
  keys: Keys;
  redis: Redis;
  connect: () => Redis;
  /** Whether Redis can be used now. */
  watch: RedisWatch;
  unfinished: Unfinished;
  log: Log;
  clock: Clock;
  attempts: number | undefined;
  loops: LoopBoard;
}
