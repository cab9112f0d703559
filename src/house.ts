/** What every part needs of the process. */
import type { Redis } from 'ioredis';
import type { Config } from './config/schema.js';
import type { Clock } from './runtime/clock.js';
import type { Log } from './runtime/log.js';
import type { Keys } from './state/keys.js';

export interface House {
  config: Config;
  keys: Keys;
  redis: Redis;
  connect: () => Redis;
  log: Log;
  clock: Clock;
  attempts: number | undefined;
}
