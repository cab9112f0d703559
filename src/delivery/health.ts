/** The circuit breaker of each subscription: one hash, deleted when the subscription is resumed. */
import { randomBytes } from 'node:crypto';
import type { SubscriptionStatus } from './ask/subscription-status.js';
import { describe } from '../kit/errors.js';
import type { Redis } from '../redis/client.js';
import { isoTime } from '../kit/clock.js';
import { SKEW_MS } from '../kit/stored-time.js';
import { printable } from '../kit/printable.js';
import type { Keys } from '../redis/keys.js';
import { loadScript, unexpectedAnswer, type Script } from '../redis/scripts.js';
import { readNumber } from '../redis/stored.js';

const noteFailure = loadScript('note-failure', import.meta.url);
const pauseSubscription = loadScript('pause-subscription', import.meta.url);

/** Twice the longest `Retry-After`. A subscription with one event a week must not be paused by two failures. */
const LONGEST_GAP_MS = 2 * 86_400_000;

/** Why and since when a subscription is paused. */
export type Paused = NonNullable<SubscriptionStatus['paused']>;
/** It may name records, so it is shown and removed with its workspace. */
type LastError = NonNullable<SubscriptionStatus['lastError']>;

interface Health {
  /** The first failure since the last success, ms; null: the last attempt that ended has succeeded. */
  failingSinceMs: number | null;
  /** Failed attempts since then, and the message of the last one. */
  failures: number;
  lastError: LastError | null;
  paused: Paused | null;
}

/** `pausing`: this call has paused it (true for one call only). `paused`: it was paused before. */
type PauseOutcome = 'pausing' | 'paused';

interface FailureNote {
  nowMs: number;
  /** How long failures may go on before the subscription is paused; 0: without limit. */
  disableAfterMs: number;
  reason: string;
  error: LastError;
}

export type HealthStore = ReturnType<typeof createHealthStore>;

export function createHealthStore(redis: Redis, keys: Keys) {
  return {
    async read(subscription: string): Promise<Health> {
      const key = keys.health(subscription);
      return toHealth(key, await redis.hgetall(key));
    },
    async failed(
      subscription: string,
      { nowMs, disableAfterMs, reason, error }: FailureNote,
    ): Promise<'failing' | PauseOutcome> {
      // Reasons quote endpoints and people: they are stored as they may be shown.
      const last = [printable(error.message), error.workspace];
      const args = [nowMs, disableAfterMs, LONGEST_GAP_MS, printable(reason), ...last, SKEW_MS];
      const word = await noteFailure.run(redis, [keys.health(subscription)], args);
      return word === 'failing' ? word : switched(noteFailure, word);
    },
    succeeded: async (subscription: string): Promise<void> => {
      await redis.hdel(keys.health(subscription), 'failingSince');
    },
    /** A digest was given up. @returns how many in a row */
    digestOver: (subscription: string): Promise<number> => redis.hincrby(keys.health(subscription), 'digestsOver', 1),
    async pause(subscription: string, { atMs, reason }: { atMs: number; reason: string }): Promise<PauseOutcome> {
      const word = await pauseSubscription.run(redis, [keys.health(subscription)], [atMs, printable(reason)]);
      return switched(pauseSubscription, word);
    },
    /** Clears its failures too. Returns how it was paused, or null. */
    async resume(subscription: string): Promise<Paused | null> {
      const hash = keys.health(subscription);
      const [[error, fields] = []] = (await redis.multi().hgetall(hash).del(hash).exec()) ?? [];
      if (error) throw error;
      return toHealth(hash, fields as Record<string, string>).paused;
    },
    /** Notes that retention dropped events a paused subscription has not read. Returns true the first time. */
    async missed(subscription: string): Promise<boolean> {
      const key = keys.health(subscription);
      // The client sends a command again when its reply was lost. The token shows that the mark is its own.
      const own = randomBytes(6).toString('hex');
      await redis.hsetnx(key, 'missing', own);
      return (await redis.hget(key, 'missing')) === own;
    },
  };
}

function switched(script: Script, word: unknown): PauseOutcome {
  if (word === 'pausing' || word === 'paused') return word;
  throw unexpectedAnswer(script, describe(word));
}

type Fields = Partial<Record<string, string>>;

function toHealth(
  key: string,
  { failingSince, failures = '0', lastError, lastErrorIn, disabledAt, reason = '', missing }: Fields,
): Health {
  const numberIn = (field: string, text: string): number =>
    readNumber(text, { what: 'a number of the circuit breaker', key, field });
  const disabledAtMs = disabledAt === undefined ? null : numberIn('disabledAt', disabledAt);
  return {
    failingSinceMs: failingSince === undefined ? null : numberIn('failingSince', failingSince),
    failures: numberIn('failures', failures),
    lastError: lastError === undefined ? null : { workspace: lastErrorIn ?? '', message: lastError },
    paused: disabledAtMs === null ? null : { at: isoTime(disabledAtMs), reason, missing: missing !== undefined },
  };
}
