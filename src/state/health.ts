/** The circuit breaker of each subscription: one hash, deleted when the subscription is enabled again. */
import { randomBytes } from 'node:crypto';
import type { DisableOutcome, Health, HealthStore } from '../dispatch/ports.js';
import { describe } from '../errors.js';
import type { Redis } from '../redis/client.js';
import { isoTime } from '../runtime/clock.js';
import { printable } from '../runtime/printable.js';
import type { Keys } from './keys.js';
import { loadScript, unexpectedAnswer, type Script } from './scripts.js';
import { readNumber } from './stored.js';

const noteFailure = loadScript('note-failure');
const disableSubscription = loadScript('disable-subscription');

/**
 * Failures further apart do not belong to one outage: a subscription with one event a week must not be disabled by two failures.
 * Twice the longest wait that a receiver can request with `Retry-After`.
 */
const LONGEST_PAUSE_MS = 2 * 86_400_000;

export function createHealthStore(redis: Redis, keys: Keys): HealthStore {
  return {
    async read(subscription) {
      const key = keys.health(subscription);
      return toHealth(key, await redis.hgetall(key));
    },
    // Reasons quote endpoints and people: they are stored as they may be shown.
    async failed(subscription, { nowMs, succeededAtMs, disableAfterMs, reason, error }) {
      const last = [printable(error.message), error.workspace];
      const args = [nowMs, succeededAtMs, disableAfterMs, LONGEST_PAUSE_MS, printable(reason), ...last];
      const word = await noteFailure.run(redis, [keys.health(subscription)], args);
      return word === 'failing' ? word : switched(noteFailure, word);
    },
    async disable(subscription, { atMs, reason }) {
      const word = await disableSubscription.run(redis, [keys.health(subscription)], [atMs, printable(reason)]);
      return switched(disableSubscription, word);
    },
    async enable(subscription) {
      const hash = keys.health(subscription);
      const [[error, fields] = []] = (await redis.multi().hgetall(hash).del(hash).exec()) ?? [];
      if (error) throw error;
      return toHealth(hash, fields as Record<string, string>).disabled;
    },
    async missed(subscription) {
      const key = keys.health(subscription);
      // The client sends a command again when its reply was lost. The token shows that the mark is its own.
      const own = randomBytes(6).toString('hex');
      await redis.hsetnx(key, 'missing', own);
      return (await redis.hget(key, 'missing')) === own;
    },
  };
}

function switched(script: Script, word: unknown): DisableOutcome {
  if (word === 'disabling' || word === 'disabled') return word;
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
    disabled: disabledAtMs === null ? null : { at: isoTime(disabledAtMs), reason, missing: missing !== undefined },
  };
}
