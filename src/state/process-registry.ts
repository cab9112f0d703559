/** The processes that run roles: a key with a lifetime for each, and a set of their ids. */
import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import type { ProcessRegistry } from '../observability/presence.js';
import type { ProcessStatus } from '../observability/status.js';
import { isAlive, thisProcess } from '../runtime/process-identity.js';
import type { Keys } from './keys.js';

export function createProcessRegistry(redis: Redis, keys: Keys): ProcessRegistry {
  return {
    async beat(process, ttlMs) {
      const { token } = thisProcess;
      await redis.set(keys.process(process.id), JSON.stringify({ ...process, token }), 'PX', ttlMs);
      await redis.sadd(keys.processes(), process.id);
    },
    async leave(id) {
      await redis.del(keys.process(id));
      await redis.srem(keys.processes(), id);
    },
    async list() {
      const ids = await redis.smembers(keys.processes());
      const found = await Promise.all(ids.map((id) => redis.get(keys.process(id))));
      const gone = ids.filter((_id, index) => found[index] === null);
      if (gone.length > 0) await redis.srem(keys.processes(), ...gone);
      const stored = found.flatMap((json) => (json === null ? [] : [JSON.parse(json) as StoredProcess]));
      return stored.filter(mayLive).map(({ token: _, ...process }) => process);
    },
  };
}

/** With the start of the process, which tells it from another of the same number. */
type StoredProcess = ProcessStatus & { token: string };

/** A process of this machine that was killed a moment ago still has its key. */
function mayLive({ host, pid, token }: StoredProcess): boolean {
  return host !== hostname() || isAlive({ pid, token });
}
