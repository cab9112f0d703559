/**
 * Runs in every process that has roles: reports in Redis that the process is alive, checks that the state still exists, and watches for
 * problems.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { isoTime, type Clock } from '../runtime/clock.js';
import type { Part } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import { packageVersion } from '../runtime/package-version.js';
import { runLoop, type LoopBoard } from '../runtime/loop.js';
import { createSentinel, type NoticeStore } from './sentinel.js';
import type { Problem, ProcessStatus, Status } from './status.js';

export interface ProcessRegistry {
  /** Records that the process is alive, for `ttlMs`. */
  beat(process: ProcessStatus, ttlMs: number): Promise<void>;
  leave(id: string): Promise<void>;
  /** The processes that are alive. */
  list(): Promise<ProcessStatus[]>;
}

export interface PresenceDeps {
  roles: readonly string[];
  workspaces: readonly string[];
  registry: ProcessRegistry;
  notices: NoticeStore;
  status: () => Promise<Status>;
  isExplained: (problem: Problem) => boolean;
  /** What this process's requests of the last minute were for. */
  spent: () => ProcessStatus['spent'];
  /** Finds out whether the state of a workspace was lost, and creates it if it does not exist. */
  checkState: (workspace: string) => Promise<unknown>;
  /** Resolves when Redis can be used, or when the signal aborts. */
  ready: (signal: AbortSignal) => Promise<void>;
  log: Log;
  clock: Clock;
  loops: LoopBoard;
}

/** A loss of the state is noticed within this time. */
const BEAT_MS = 5_000;
/** A process that was killed counts as alive for this time. */
const LIFE_MS = 20_000;

export function createPresence(deps: PresenceDeps): Part {
  const { roles, workspaces, registry, spent, checkState, ready, log, clock, loops } = deps;
  const stopping = new AbortController();
  const startedAt = isoTime(clock.now());
  const id = randomUUID();
  const version = packageVersion();
  let running: Promise<void>[] = [];

  const beat = async (): Promise<number> => {
    // Only a process that polls: another one must not create the state of a workspace that was just removed by `forget`.
    if (roles.includes('poll')) for (const workspace of workspaces) await checkState(workspace);
    const troubles = [...loops].map(([loop, trouble]) => ({ loop, ...trouble }));
    const facts = {
      id,
      version,
      pid: process.pid,
      host: hostname(),
      startedAt,
      roles,
      workspaces,
      stalled: troubles.flatMap(({ loop, since, failed }) => (failed === null ? [{ loop, since }] : [])),
      failing: troubles.flatMap(({ loop, since, failed }) => (failed === null ? [] : [{ loop, since, ...failed }])),
      spent: spent(),
    };
    await registry.beat(facts, LIFE_MS);
    return BEAT_MS;
  };
  return {
    name: 'presence',
    async start() {
      await beat();
      const shared = { ready, signal: stopping.signal, log, clock, loops };
      running = [
        runLoop({ ...shared, name: 'heartbeat', run: beat }),
        runLoop({ ...shared, name: 'sentinel', run: createSentinel(deps) }),
      ];
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
      await registry.leave(id);
    },
  };
}
