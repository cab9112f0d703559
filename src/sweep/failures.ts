/** Keeps the last failure of each list for the schedule and the status, and logs when a failure begins, lasts and ends. */
import { ChangefeedError, type ErrorCode } from '../errors.js';
import type { ListName } from '../crm/lists/lists.js';
import type { ObservedTry } from '../api/with-observer.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import type { Outage } from '../runtime/outage.js';
import { classifyRedisError } from '../runtime/redis-errors.js';
import { failureAfter, usualPeriodMs, type Pace, type ScheduleStore } from './schedule.js';

export interface FailureLog {
  /**
   * Called after each try of a page. Repeated failures are noted before the sweep gives up, because that may take a minute and
   * the status must show the failure earlier.
   */
  tried(tried: ObservedTry): Promise<void>;
  /** A sweep of the list was complete. */
  succeeded(list: ListName): Promise<void>;
  /**
   * A sweep failed. `quiet`: the caller reports it.
   * @throws `error`, when it is not about the list (for example, Redis does not answer)
   */
  failed(list: ListName, attempt: { error: unknown; pace: Pace; quiet?: boolean }): Promise<void>;
}

export interface FailureLogDeps {
  workspace: string;
  schedule: ScheduleStore;
  /** While the API does not answer, the outage is logged once for all lists. */
  outage: Pick<Outage, 'holds'>;
  log: Log;
  clock: Clock;
}

/** With the pauses between them, about five seconds. */
const TRIES = 4;

/** How often a lasting failure is logged again. The status shows it all the time. */
const REPEAT_MS = 600_000;

export function createFailureLog({ workspace, schedule, outage, log, clock }: FailureLogDeps): FailureLog {
  /** List → when its failure was last logged by this process, ms. */
  const logged = new Map<ListName, { code: string; atMs: number }>();
  const isNews = (list: ListName, code: string): boolean => {
    const last = logged.get(list);
    return last?.code !== code || clock.now() - last.atMs >= REPEAT_MS;
  };
  /** Lists whose current page has failed several times. */
  const struggling = new Set<ListName>();
  return {
    async tried({ list, code, status, attempt }) {
      if (code === null) {
        if (struggling.delete(list)) await schedule.clearFailure(list);
      } else if (attempt >= TRIES && !struggling.has(list)) {
        struggling.add(list);
        const answer = status === null ? 'gave no answer' : `answered ${status}`;
        const message = `Workspace "${workspace}", list "${list}": the API ${answer} ${attempt} times in a row. The page is tried again.`;
        const { failure: before } = await schedule.times(list);
        const at = isoTime(clock.now());
        const since = before?.since ?? at;
        const attempts = before?.attempts ?? 0;
        await schedule.noteFailure(list, { code, message, page: null, since, at, attempts, retryAt: at });
      }
    },
    async succeeded(list) {
      const wasLogged = logged.delete(list);
      const failure = await schedule.clearFailure(list);
      if (failure === null) return;
      const forMs = clock.now() - Date.parse(failure.since);
      const facts = { workspace, list, attempts: failure.attempts, forMs };
      // The end of an outage is logged once for all lists.
      const level = wasLogged || failure.code !== 'CF_UNAVAILABLE' ? 'info' : 'debug';
      log[level](facts, 'sweeps of the list are complete again');
    },
    async failed(list, { error, pace, quiet = false }) {
      if (!(error instanceof ChangefeedError) || isAboutRedis(error)) throw error;
      if (error.code === 'CF_LEASE_LOST') {
        // What leases are for: no alarm. After Redis was away for longer than a lease, it may be this process that goes on.
        log.info(
          { workspace, list, code: error.code },
          'the lease of the list was lost; the sweep goes on with the next one',
        );
        return;
      }
      struggling.delete(list);
      const { failure: before, lastSweep } = await schedule.times(list);
      const attempt = { nowMs: clock.now(), periodMs: usualPeriodMs(pace, lastSweep), random: Math.random() };
      const failure = failureAfter(before, error, attempt);
      await schedule.noteFailure(list, failure);
      const { code, page, attempts, since, retryAt, message } = failure;
      const facts = { workspace, list, code, page, attempts, since, retryAt, error: message };
      const isOutage = code === 'CF_UNAVAILABLE' && outage.holds;
      if (quiet || isOutage || !isNews(list, code)) {
        log.debug(facts, 'sweep incomplete');
        return;
      }
      log.error(facts, 'sweep incomplete');
      logged.set(list, { code, atMs: clock.now() });
    },
  };
}

const ABOUT_REDIS: ReadonlySet<ErrorCode> = new Set(['CF_REDIS_EVICTS', 'CF_REDIS_REFUSES', 'CF_REDIS_UNREACHABLE']);

/**
 * Such a failure says nothing about the list, and the Redis watch reports it. A sweep that stopped at a page is judged by its cause: the
 * request budget and the stored pages are in Redis. Any other error of ours is judged by its code: the cause of `CF_UNAVAILABLE`, for
 * example, is a broken connection to the API, and its message may quote what the API says of its own Redis.
 */
function isAboutRedis(error: unknown): boolean {
  let about = error;
  while (about instanceof ChangefeedError && about.code === 'CF_SWEEP_INCOMPLETE') about = about.cause;
  if (about instanceof ChangefeedError) return ABOUT_REDIS.has(about.code);
  if (classifyRedisError(about) !== 'other') return true;
  return about instanceof Error && about.cause !== undefined && isAboutRedis(about.cause);
}
