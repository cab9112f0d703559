/** What every process that runs roles does besides: says that it lives, guards the state, and watches for problems. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { House } from './context.js';
import { createSentinel } from '../observability/sentinel.js';
import type { ProcessStatus } from '../observability/processes.js';
import type { Status } from '../observability/status.js';
import { isoTime } from '../runtime/clock.js';
import type { Part } from '../runtime/lifecycle.js';
import { runLoop } from '../runtime/loop.js';
import { createNoticeStore } from '../state/notices.js';
import { createProcessRegistry } from '../state/process-registry.js';
import type { StateGuard } from '../state/state-guard.js';

/** A loss of the state is noticed within one beat. */
const BEAT_MS = 5_000;
/** A process that was killed counts as alive for so long. */
const LIFE_MS = 20_000;

export interface PresenceDeps {
  roles: readonly string[];
  guard: StateGuard;
  status: () => Promise<Status>;
}

export function presencePart(house: House, { roles, guard, status }: PresenceDeps): Part {
  const { config, redis, keys, clock, log, loops, watch } = house;
  const registry = createProcessRegistry(redis, keys);
  const stopping = new AbortController();
  const workspaces = config.workspaces.map(({ name }) => name);
  const startedAt = isoTime(clock.now());
  const id = randomUUID();
  let running: Promise<void>[] = [];

  const describe = (): ProcessStatus => {
    const stalled = [...loops].map(([loop, since]) => ({ loop, since }));
    return { id, pid: process.pid, host: hostname(), startedAt, roles, workspaces, stalled };
  };
  const beat = async (): Promise<number> => {
    // Only those who would write the state anew: a process that only handles must not revive what was forgotten.
    if (roles.includes('poll')) for (const workspace of workspaces) await guard.check(workspace);
    await registry.beat(describe(), LIFE_MS);
    return BEAT_MS;
  };
  const look = createSentinel({ status, notices: createNoticeStore(redis, keys), log, clock });
  return {
    name: 'presence',
    async start() {
      await beat();
      const ready = (signal: AbortSignal): Promise<void> => watch.untilUsable(signal);
      const shared = { ready, signal: stopping.signal, log, clock, loops };
      running = [
        runLoop({ ...shared, name: 'heartbeat', run: beat }),
        runLoop({ ...shared, name: 'sentinel', run: look }),
      ];
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
      await registry.leave(id);
    },
  };
}
