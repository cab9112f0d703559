/** The circuit breaker of each subscription: one hash, deleted when the subscription is enabled again. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Disabled, FailureNote, Health, HealthStore, DisableOutcome } from '../dispatch/ports.js';
import { describe } from '../errors.js';
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

export class RedisHealthStore implements HealthStore {
  readonly #redis: Redis;
  readonly #keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async read(subscription: string): Promise<Health> {
    const key = this.#keys.health(subscription);
    return toHealth(key, await this.#redis.hgetall(key));
  }

  // Reasons quote endpoints and people: they are stored as they may be shown.
  async failed(subscription: string, note: FailureNote): Promise<'failing' | DisableOutcome> {
    const { nowMs, succeededAtMs, disableAfterMs, reason, error } = note;
    const last = [printable(error.message), error.workspace];
    const args = [nowMs, succeededAtMs, disableAfterMs, LONGEST_PAUSE_MS, printable(reason), ...last];
    const word = await noteFailure.run(this.#redis, [this.#keys.health(subscription)], args);
    return word === 'failing' ? word : switched(noteFailure, word);
  }

  async disable(subscription: string, { atMs, reason }: { atMs: number; reason: string }): Promise<DisableOutcome> {
    const word = await disableSubscription.run(
      this.#redis,
      [this.#keys.health(subscription)],
      [atMs, printable(reason)],
    );
    return switched(disableSubscription, word);
  }

  async enable(subscription: string): Promise<Disabled | null> {
    const hash = this.#keys.health(subscription);
    const [[error, fields] = []] = (await this.#redis.multi().hgetall(hash).del(hash).exec()) ?? [];
    if (error) throw error;
    return toHealth(hash, fields as Record<string, string>).disabled;
  }

  async missed(subscription: string): Promise<boolean> {
    const key = this.#keys.health(subscription);
    // The client sends a command again when its reply was lost. The token shows that the mark is its own.
    const own = randomBytes(6).toString('hex');
    await this.#redis.hsetnx(key, 'missing', own);
    return (await this.#redis.hget(key, 'missing')) === own;
  }
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
  const timeIn = (field: string, text: string): number => {
    const remedy = `DEL ${key} enables the subscription.`;
    return readNumber(text, { key, field, what: 'a time in ms', remedy });
  };
  const disabledAtMs = disabledAt === undefined ? null : timeIn('disabledAt', disabledAt);
  return {
    failingSinceMs: failingSince === undefined ? null : timeIn('failingSince', failingSince),
    failures: timeIn('failures', failures),
    lastError: lastError === undefined ? null : { workspace: lastErrorIn ?? '', message: lastError },
    disabled: disabledAtMs === null ? null : { at: isoTime(disabledAtMs), reason, missing: missing !== undefined },
  };
}
