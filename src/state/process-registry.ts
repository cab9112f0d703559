/** The processes that run roles: one key with TTL for each, and a set of their ids. */
import { hostname } from 'node:os';
import { z } from 'zod';
import { processStatus, type ProcessStatus } from '../observability/status.js';
import type { Redis } from '../redis/client.js';
import { isAlive, thisProcess } from '../runtime/process-identity.js';
import type { Keys } from './keys.js';
import { readJson } from './stored.js';

/** With the time at which the process started: the system gives its pid to another process later. */
const storedProcess = processStatus.extend({ token: z.string() });
type StoredProcess = z.output<typeof storedProcess>;

export function createProcessRegistry(redis: Redis, keys: Keys) {
  return {
    async beat(process: ProcessStatus, ttlMs: number): Promise<void> {
      const { token } = thisProcess;
      await redis.set(keys.process(process.id), JSON.stringify({ ...process, token }), 'PX', ttlMs);
      await redis.sadd(keys.processes(), process.id);
    },
    async leave(id: string): Promise<void> {
      await redis.del(keys.process(id));
      await redis.srem(keys.processes(), id);
    },
    async list(): Promise<ProcessStatus[]> {
      const ids = await redis.smembers(keys.processes());
      const found = await Promise.all(ids.map((id) => redis.get(keys.process(id))));
      const gone = ids.filter((_id, index) => found[index] === null);
      if (gone.length > 0) await redis.srem(keys.processes(), ...gone);
      const stored = found.flatMap((json, index) => {
        const at = { what: 'the report of a process', key: keys.process(ids[index] ?? '') } as const;
        return json === null ? [] : [readJson(storedProcess, json, at)];
      });
      return stored.filter(mayLive).map(({ token: _, ...process }) => process);
    },
  };
}

/** A process of this machine that was just killed still has its key. */
function mayLive({ host, pid, token }: StoredProcess): boolean {
  return host !== hostname() || isAlive({ pid, token });
}
