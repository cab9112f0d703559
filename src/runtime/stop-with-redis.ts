/** Stopping what uses Redis: in order while Redis answers, at once when it does not. */
import type { Redis } from 'ioredis';
import { ChangefeedError } from '../errors.js';
import { answersWithin } from './answers-within.js';
import type { Clock } from './clock.js';
import type { Log } from './log.js';
import type { Unfinished } from './unfinished.js';

/** A stop waits so long for an answer: a restarting Redis may still come back, and whoever stops us waits as well. */
const PATIENCE_MS = 3_000;

export interface UsedRedis {
  /** `host:port`. */
  place: string;
  /** Ends all connections at once, whatever they wait for. */
  cut: () => void;
  close: () => Promise<void>;
}

export interface StoppedRedis extends UsedRedis {
  redis: Redis;
  unfinished: Unfinished;
  clock: Clock;
  log: Log;
}

/** @throws ChangefeedError CF_STOP_TIMEOUT when Redis gave no answer and something was under way; what `stopParts` throws */
export async function stopWithRedis(stopParts: () => Promise<void>, used: StoppedRedis): Promise<void> {
  const { place, unfinished, log, cut, close } = used;
  const stopped = new AbortController();
  let left: readonly string[] | undefined;
  const watching = untilSilent(used, stopped.signal).then((isSilent) => {
    if (!isSilent) return;
    left = unfinished.list();
    cut();
  });
  try {
    await stopParts();
  } catch (error) {
    // What failed because its connection was cut has been named in `left`, if it was under way.
    if (left === undefined || hangs(error)) throw error;
  } finally {
    stopped.abort();
    await watching;
    await close();
  }
  if (left === undefined) return;
  if (left.length > 0) throw leftBehind(place, left);
  log.info({ redis: place }, 'stopped while Redis was away; nothing was under way');
}

async function untilSilent({ redis, clock }: StoppedRedis, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const isAnswered = await answersWithin(redis.ping(), PATIENCE_MS, { clock, signal });
    if (!isAnswered) return !isAborted(signal);
    await clock.sleep(PATIENCE_MS / 3, signal).catch(() => undefined);
  }
  return false;
}

/** Something did not stop although nothing was left to wait for in Redis. */
function hangs(error: unknown): boolean {
  if (!(error instanceof ChangefeedError) || error.code !== 'CF_STOP_TIMEOUT') return true;
  const { late } = error.facts;
  return Array.isArray(late) && late.length > 0;
}

function leftBehind(place: string, left: readonly string[]): ChangefeedError {
  return new ChangefeedError('CF_STOP_TIMEOUT', {
    left,
    message: `Redis at ${place} gave no answer while stopping, and this was under way: ${left.join(', ')}. It is taken up at the next start.`,
  });
}

/** Asked through a function: the compiler believes that a signal seen unaborted stays so. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
