/** Stops the parts of a process that use Redis: in order while Redis answers, at once when it does not. */
import { ChangefeedError } from '../kit/errors.js';
import { isAborted, sleepUntilAborted, withinTime, type Clock } from '../kit/clock.js';
import type { Log } from '../kit/log.js';
import type { Unfinished } from '../kit/unfinished.js';
import type { Redis } from './client.js';

/** How long a stop waits for an answer: Redis may restart, but a supervisor does not wait much longer. */
const PATIENCE_MS = 3_000;

export interface UsedRedis {
  /** `host:port`. */
  place: string;
  cut: () => void;
  close: () => Promise<void>;
}

export interface StoppedRedis extends UsedRedis {
  redis: Redis;
  unfinished: Unfinished;
  clock: Clock;
  log: Log;
}

/** @throws ChangefeedError CF_STOP_TIMEOUT if Redis gave no answer to work in progress; the error of `stopParts` */
export async function stopWithRedis(stopParts: () => Promise<void>, used: StoppedRedis): Promise<void> {
  const { place, unfinished, log, cut, close } = used;
  const stopped = new AbortController();
  let left: readonly string[] | undefined;
  const watching = isSilent(used, stopped.signal).then((silent) => {
    if (!silent) return;
    left = unfinished.list();
    cut();
  });
  try {
    await stopParts();
  } catch (error) {
    // Work that failed because its connection was cut is already in `left`.
    if (left === undefined || isHanging(error)) throw error;
  } finally {
    stopped.abort();
    await watching;
    await close();
  }
  if (left === undefined) return;
  if (left.length > 0) throw leftUnfinished(place, left);
  log.info({ redis: place }, 'stopped while Redis was away; no work was in progress');
}

/** Waits until Redis gives no answer (true) or the signal aborts (false). */
async function isSilent({ redis, clock }: StoppedRedis, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const isAnswered = redis.ping().then(
      () => true,
      () => false,
    );
    const answer = await withinTime(isAnswered, PATIENCE_MS, { clock, signal });
    if (isAborted(signal)) return false;
    if (answer !== true) return true;
    await sleepUntilAborted(clock, PATIENCE_MS / 3, signal);
  }
}

/** A part did not stop although nothing waits for Redis any more. */
function isHanging(error: unknown): boolean {
  if (!(error instanceof ChangefeedError) || error.code !== 'CF_STOP_TIMEOUT') return true;
  const { late } = error.facts;
  return Array.isArray(late) && late.length > 0;
}

function leftUnfinished(place: string, left: readonly string[]): ChangefeedError {
  return new ChangefeedError('CF_STOP_TIMEOUT', {
    left,
    message:
      `Redis at ${place} gave no answer during the stop, and this work was under way: ${left.join(', ')}. ` +
      `It is repeated after the next start.`,
  });
}
