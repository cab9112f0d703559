/** What monitors read of this process: its health, its readiness, and its metrics. */
import type { Progress } from '../../workers/all.js';
import type { Prometheus } from '../ops/watch/prometheus.js';
import type { Status } from '../ops/watch/status.js';
import { withinTime } from '../kit/clock.js';
import type { HealthAnswer, Monitored, Naming } from '../ops/server/monitoring/routes.js';
import { packageVersion } from '../kit/package-files.js';
import type { AppContext } from '../../workers/context.js';
import type { ObservedStatus } from './status.js';

export interface MonitoredProcess {
  progress: () => Progress;
  status: ObservedStatus;
  queues: () => Promise<string[]>;
  prometheus: Prometheus;
}

/** The watchdog starts a stalled turn again. A loop that is still stalled after this time needs a new process. */
const STALLED_FOR_GOOD_MS = 300_000;
/** A probe waits for a second. Where the status takes longer to read, as of 500 workspaces, the last one answers if it is not older than that. */
const SOON_MS = 400;
const RECENT_MS = 30_000;
const ANSWER_WITHIN_MS = 3_000;

const TROUBLES = {
  away: 'Redis is away',
  refuses: 'Redis refuses writes',
  evicts: 'Redis may evict keys',
} as const;

export function monitored(context: AppContext, process: MonitoredProcess): Monitored {
  const { clock, loops, watch } = context;
  const { progress, queues, prometheus, status } = process;
  const version = packageVersion();
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
  /** Null while Redis cannot be used, or is slow. */
  const readStatus = async (): Promise<Status | null> => {
    if (watch.trouble() !== null) return null;
    const reading = status.read();
    const within = (ms: number) => withinTime(reading, ms, { clock }).catch(() => 'failed' as const);
    const soon = await within(SOON_MS);
    const last = status.last();
    if (soon === 'late' && last !== null && last.ageMs < RECENT_MS) return last.status;
    const answer = soon === 'late' ? await within(ANSWER_WITHIN_MS - SOON_MS) : soon;
    return typeof answer === 'string' ? null : answer;
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
      const text = await prometheus.text({
        ...facts,
        status: isRedisUp ? (now ?? status.last()?.status ?? null) : null,
      });
      return { contentType: prometheus.contentType, text };
    },
  };
}
