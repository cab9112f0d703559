import type { Redis } from 'ioredis';
import type { Keys } from './keys.js';

/** Where the memory of one workspace lives. */
export interface StoreRoom {
  redis: Redis;
  keys: Keys;
  workspace: string;
}
