/** Every process with roles reports that it lives, checks Redis and the state, and watches for problems. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createSentinel } from '../ops/watch/sentinel.js';
import type { Problem, Status } from '../ops/watch/status.js';
import { clockApart } from '../redis/facts.js';
import { isoTime, watchSteps } from '../kit/clock.js';
import type { Part } from '../kit/lifecycle.js';
import { runLoop, type LoopBoard } from '../kit/loop.js';
import { packageVersion } from '../kit/package-files.js';
import { createNoticeStore } from '../log/notices.js';
import { createProcessRegistry, type ProcessStatus } from '../redis/process-registry.js';
import { keepingValid } from './last-valid.js';
import type { AppContext } from '../../workers/context.js';
import type { Workspaces } from '../../workers/workspaces.js';

/** A loss of the state is noticed within this time. */
const BEAT_MS = 5_000;
/** A process that was killed counts as alive for this time. */
const LIFE_MS = 20_000;

interface PresenceDeps {
  roles: readonly string[];
  status: () => Promise<Status>;
  /** Takes over workspaces that came at run time as they are now. */
  refresh: () => Promise<void>;
  /** Calls back after the process has taken over workspaces that came at run time. */
  onTakenOver: (said: () => void) => void;
  /** What is wrong with the files and the book that it reads, and as far as it has taken them over. */
  ofFiles: () => Pick<ProcessStatus, 'refused' | 'rulesMissing' | 'book'>;
}

export function presence(context: AppContext, workspaces: Workspaces, deps: PresenceDeps): Part {
  const { subscriptions, redis, keys, guard, watch, log, clock, loops } = context;
  const registry = createProcessRegistry(redis, keys);
  const stopping = new AbortController();
  const { id, beat, register } = createHeartbeat(context, workspaces, { ...deps, registry });
  let running: Promise<void>[] = [];
  return {
    name: 'presence',
    async start() {
      // Who erases a workspace waits for who is registered; from then on, what is being erased is found before anything runs.
      await register();
      await deps.refresh();
      await beat();
      // Who erases a workspace waits for it. It comes with the next one where Redis is away.
      deps.onTakenOver(() => void beat().catch(() => undefined));
      const notices = createNoticeStore(redis, keys, guard);
      const isExplained = (problem: Problem): boolean => isExplainedBy(workspaces, problem);
      const ready = (signal: AbortSignal): Promise<void> => watch.untilUsable(signal);
      const sentinel = createSentinel({ status: deps.status, notices, subscriptions, isExplained, log, clock });
      const shared = { ready, signal: stopping.signal, log, clock, loops };
      running = [
        runLoop({ ...shared, name: 'heartbeat', run: beat }),
        runLoop({ ...shared, name: 'sentinel', run: sentinel }),
      ];
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
      await registry.leave(id);
    },
  };
}

type Beating = PresenceDeps & { registry: ReturnType<typeof createProcessRegistry> };

function createHeartbeat(context: AppContext, workspaces: Workspaces, { roles, ofFiles, registry }: Beating) {
  const { config, redis, guard, clock, loops, capacity } = context;
  const [stepped, keepValid] = [watchSteps(clock), keepingValid(context)];
  const self = {
    id: randomUUID(),
    version: packageVersion(),
    pid: process.pid,
    host: hostname(),
    startedAt: isoTime(clock.now()),
    roles,
    workspaces: workspaces.names,
  };
  let rules = { rules: config.rules?.revision, rulesSince: self.startedAt };
  const register = async (): Promise<void> => {
    const { count: lists, forMs } = capacity.waiting;
    const revision = config.rules?.revision;
    if (revision !== rules.rules) rules = { rules: revision, rulesSince: isoTime(clock.now()) };
    const facts = {
      ...self,
      ...(revision !== undefined && rules),
      ...ofFiles(),
      ...(lists > 0 && { waiting: { lists, forMs } }),
      clock: { stepped: stepped(), apartMs: await clockApart(redis, clock) },
      ...ofLists(workspaces),
      ...troublesOf(loops),
    };
    await registry.beat(facts, LIFE_MS);
  };
  const beat = async (): Promise<number> => {
    // Only a process that polls creates a state: another must not revive a workspace just removed by `forget`.
    const polls = roles.includes('poll');
    await Promise.all(workspaces.names.map((name) => (polls ? guard.check(name) : guard.look(name))));
    await register();
    await keepValid();
    return BEAT_MS;
  };
  return { id: self.id, beat, register };
}

function troublesOf(loops: LoopBoard): Pick<ProcessStatus, 'stalled' | 'failing'> {
  const all = [...loops].map(([loop, trouble]) => ({ loop, ...trouble }));
  return {
    stalled: all.flatMap(({ loop, since, failed }) => (failed === null ? [{ loop, since }] : [])),
    failing: all.flatMap(({ loop, since, failed }) => (failed === null ? [] : [{ loop, since, ...failed }])),
  };
}

function ofLists(workspaces: Workspaces) {
  return {
    late: workspaces.all().flatMap(({ name: workspace, asked }) => asked.late().map((one) => ({ workspace, ...one }))),
    edits: workspaces.all().flatMap(({ name: workspace, edits }) => edits().map((one) => ({ workspace, ...one }))),
  };
}

/** This process has logged the cause. Another process logs the problem if it does not poll. */
function isExplainedBy(workspaces: Workspaces, { kind, workspace, since }: Problem): boolean {
  const concerned = workspaces.all().filter(({ name }) => workspace === null || name === workspace);
  return concerned.some(({ outages: { away, refused } }) => {
    const outage = { 'api.away': away, 'sweep.failed': away, 'workspace.unauthorized': refused }[kind as string];
    return outage?.explains(Date.parse(since ?? '')) === true;
  });
}
