/** The result of the last comparison of each copy, as the status shows it. */
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';
import { createReads } from '../../redis/reads.js';
import { readJson } from '../../redis/stored.js';
import { keptSchema, type KeptResult } from './verified.js';

export function createVerifiedStore(redis: Redis, keys: Keys) {
  const reads = createReads(redis);
  return {
    async keep(subscription: string, workspace: string, result: KeptResult): Promise<void> {
      await redis.set(keys.verified(subscription, workspace), JSON.stringify(result));
    },
    async read(subscription: string, workspace: string): Promise<KeptResult | null> {
      const key = keys.verified(subscription, workspace);
      const json = (await reads('get', key)) as string | null;
      return json === null ? null : readJson(keptSchema, json, { what: 'what was verified', key });
    },
  };
}
