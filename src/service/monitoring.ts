/** What monitors read of this process: its health, its readiness, and its metrics. */
import type { Progress } from '../../workers/all.js';
import type { Prometheus } from '../ops/watch/prometheus.js';
import type { Status } from '../ops/watch/status.js';
import { withinTime } from '../kit/clock.js';
import { keptFor } from '../kit/gather.js';
import type { HealthAnswer, Monitored, Naming } from '../ops/server/monitoring/routes.js';
import { packageVersion } from '../kit/package-files.js';
import type { AppContext } from '../../workers/context.js';

export interface MonitoredProcess {
  progress: () => Progress;
  status: () => Promise<Status>;
  queues: () => Promise<string[]>;
  prometheus: Prometheus;
}

/** The watchdog starts a stalled turn again. A loop that is still stalled after this time needs a new process. */
const STALLED_FOR_GOOD_MS = 300_000;
/** Several monitors, and everyone who may ask, cause one read of Redis. */
const FRESH_MS = 2_000;
const ANSWER_WITHIN_MS = 3_000;

const TROUBLES = {
  away: 'Redis is away',
  refuses: 'Redis refuses writes',
  evicts: 'Redis may evict keys',
} as const;

export function monitored(context: AppContext, process: MonitoredProcess): Monitored {
  const { clock, loops, watch } = context;
  const { progress, queues, prometheus } = process;
  const version = packageVersion();
  const status = keptFor(FRESH_MS, process.status, clock);
  const health = ({ names }: Naming): HealthAnswer => {
    // A new process would fail in the same way as a loop whose turns fail.
    const forGood = [...loops].filter(
      ([, { aliveMs = Infinity }]) => clock.monotonic() - aliveMs > STALLED_FOR_GOOD_MS,
    );
    const reasons = forGood.map(
      ([loop, { since }]) =>
        `${names === 'shown' ? `the loop "${loop}"` : 'a loop'} has made no progress since ${since}`,
    );
    return { ok: reasons.length === 0, reasons };
  };
  let last: Status | null = null;
  /** Null while Redis cannot be used, or is slow. */
  const readStatus = async (): Promise<Status | null> => {
    if (watch.trouble() !== null) return null;
    const answer = await withinTime(status(), ANSWER_WITHIN_MS, { clock }).catch(() => 'late' as const);
    if (answer === 'late') return null;
    last = answer;
    return answer;
  };
  return {
    health,
    async readiness(naming) {
      const now = await readStatus();
      const trouble = watch.trouble();
      const { phase } = progress();
      const reasons = [
        ...(phase === 'running' ? [] : [`the process is ${phase}`]),
        ...(trouble !== null ? [TROUBLES[trouble]] : now === null ? ['the status cannot be read from Redis'] : []),
        ...health(naming).reasons,
      ];
      const problems = (now?.problems ?? []).map(({ kind, subject }) =>
        naming.names === 'shown' ? `${kind} ${subject}` : kind,
      );
      return { ok: reasons.length === 0, reasons, problems: [...new Set(problems)] };
    },
    async metrics({ byWorkspace = false } = {}) {
      const now = await readStatus();
      const { roles } = progress();
      const isDispatching = now !== null && roles.includes('dispatch');
      const exported = isDispatching ? await queues().catch(() => []) : [];
      const isRedisUp = watch.trouble() === null;
      const facts = { roles, version, queues: exported, byWorkspace, isRedisUp, nowMs: clock.now() };
      const text = await prometheus.text({ ...facts, status: isRedisUp ? (now ?? last) : null });
      return { contentType: prometheus.contentType, text };
    },
  };
}
