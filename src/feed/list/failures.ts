/** The last failure of each list, for schedule and status; logs when one begins, lasts and ends. */
import { ChangefeedError, type ErrorCode } from '../../kit/errors.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { ApiOutages } from '../api/retry.js';
import type { ObservedTry } from '../api/one-try.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import { Episode } from '../../kit/episode.js';
import { classifyRedisError } from '../../redis/errors.js';
import type { ListFailure } from '../store/sweep-state.js';
import { failureAfter, usualPeriodMs, type Pace } from './schedule.js';
import type { ScheduleStore } from '../store/schedule.js';

export interface FailureLogDeps {
  workspace: string;
  schedule: ScheduleStore;
  lists: readonly ListName[];
  /** While the API does not answer or refuses the token, this is logged once for all lists. */
  outages: Readonly<Record<keyof ApiOutages, Pick<Episode, 'holds'>>>;
  log: Log;
  clock: Clock;
}

/** About five seconds with the pauses between them. */
const TRIES = 4;

/** A token that is refused for all lists is noticed before this attempt. From it on, the failure is the list's own. */
const OWN_REFUSAL = 4;

export function createFailureLog(deps: FailureLogDeps) {
  const { workspace, schedule, outages, log, clock } = deps;
  const words = { begins: 'sweep incomplete', ends: 'sweeps of the list are complete again' };
  const logged = new Map(
    deps.lists.map((list) => [list, new Episode({ ...words, facts: { workspace, list }, log, clock })]),
  );
  /** Lists whose current page has failed several times, and whether this was noted as a failure of all lists. */
  const struggling = new Map<ListName, boolean>();
  const failing = new Set<ListName>();
  let hasRead = false;
  return {
    isFailing: (list: ListName) => failing.has(list),
    /** The API answers again, or accepts the token: what was noted of all lists is over, and they are due at once. */
    recovered: () => clearShared(deps),
    /** Noted before the sweep gives up, which may take a minute: the status shows it earlier. */
    async tried(tried: ObservedTry): Promise<void> {
      const { list, code, attempt } = tried;
      if (code === null) {
        // What an earlier process has noted of all lists is over too.
        if (!hasRead) await clearShared(deps);
        hasRead = true;
        if (struggling.delete(list)) await schedule.clearFailure(list);
        return;
      }
      const shared = isShared(code, outages);
      if (attempt < TRIES || struggling.get(list) === shared || struggling.get(list) === true) return;
      struggling.set(list, shared);
      await noteStruggle({ ...tried, code, shared }, deps);
    },
    async succeeded(list: ListName): Promise<void> {
      failing.delete(list);
      await schedule.clearFailure(list);
      logged.get(list)?.over();
    },
    /** `quiet`: the caller reports it. @throws `error`, when it is not about the list (Redis does not answer) */
    async failed(
      list: ListName,
      { error, pace, quiet = false }: { error: unknown; pace: Pace; quiet?: boolean },
    ): Promise<void> {
      if (!(error instanceof ChangefeedError) || isAboutRedis(error)) throw error;
      if (error.code === 'CF_LEASE_LOST') {
        // Leases are for this: no alarm. After an outage of Redis this process may itself go on.
        log.info(
          { workspace, list, code: error.code },
          'the lease of the list was lost; the sweep goes on with the next one',
        );
        return;
      }
      struggling.delete(list);
      failing.add(list);
      const failure = await noteFailed(list, { error, pace }, deps);
      const { code, page, attempts, since, retryAt, message, shared } = failure;
      const { sweepId } = error.facts;
      const facts = { sweepId, code, page, attempts, since, retryAt, error: message };
      const isEarly = code === 'CF_UNAUTHORISED' && attempts < OWN_REFUSAL;
      const isReported = quiet || shared !== undefined || isEarly;
      if (isReported || logged.get(list)?.failed(facts, { kind: code }) !== true)
        log.debug({ workspace, list, ...facts }, 'sweep incomplete');
    },
  };
}

async function clearShared({ lists, schedule }: FailureLogDeps): Promise<void> {
  for (const list of lists) {
    const { failure } = await schedule.times(list);
    if (failure?.shared !== undefined) await schedule.clearFailure(list);
  }
}

function isShared(code: string, { away, refused }: FailureLogDeps['outages']): boolean {
  return (code === 'CF_UNAVAILABLE' && away.holds) || (code === 'CF_UNAUTHORISED' && refused.holds);
}

type Struggle = Pick<ObservedTry, 'list' | 'attempt' | 'what'> & { code: string; shared: boolean };

async function noteStruggle(
  { list, code, attempt, what = 'the API gave no answer', shared }: Struggle,
  { workspace, schedule, clock }: FailureLogDeps,
): Promise<void> {
  const message = `Workspace "${workspace}", list "${list}": ${what}, ${attempt} times in a row. The page is tried again.`;
  const { failure: before } = await schedule.times(list);
  const at = isoTime(clock.now());
  const since = before?.since ?? at;
  const attempts = before?.attempts ?? 0;
  const failure = { code, message, page: null, since, at, attempts, retryAt: at, ...(shared && { shared: what }) };
  await schedule.noteFailure(list, failure);
}

async function noteFailed(
  list: ListName,
  { error, pace }: { error: ChangefeedError; pace: Pace },
  { schedule, outages, clock }: FailureLogDeps,
): Promise<ListFailure> {
  const { failure: before, lastSweep } = await schedule.times(list);
  const attempt = { nowMs: clock.now(), periodMs: usualPeriodMs(pace, lastSweep), random: Math.random() };
  const own = failureAfter(before, error, attempt);
  const failure = isShared(own.code, outages) ? { ...own, shared: whatOf(error) } : own;
  await schedule.noteFailure(list, failure);
  return failure;
}

/** Says what the API did, by the error of its answer. */
function whatOf({ cause, facts, message }: ChangefeedError): string {
  const { what } = cause instanceof ChangefeedError ? cause.facts : facts;
  return typeof what === 'string' ? what : message;
}

const ABOUT_REDIS: ReadonlySet<ErrorCode> = new Set(['CF_REDIS_EVICTS', 'CF_REDIS_REFUSES', 'CF_REDIS_UNREACHABLE']);

/** Judged by a stopped sweep's cause, else by the code: causes of `CF_UNAVAILABLE` may quote the API's own Redis. */
function isAboutRedis(error: unknown): boolean {
  let about = error;
  while (about instanceof ChangefeedError && about.code === 'CF_SWEEP_INCOMPLETE') about = about.cause;
  if (about instanceof ChangefeedError) return ABOUT_REDIS.has(about.code);
  if (classifyRedisError(about) !== 'other') return true;
  return about instanceof Error && about.cause !== undefined && isAboutRedis(about.cause);
}
