/** How each subscription fares: one hash each, gone when it is enabled again. */
import type { Redis } from 'ioredis';
import type { Disabled, FailureNote, Health, HealthStore, DisableOutcome } from '../dispatch/ports.js';
import { describe } from '../errors.js';
import { isoTime } from '../runtime/clock.js';
import { unexpectedAnswer } from './answer.js';
import type { Keys } from './keys.js';
import { loadScript, type Script } from './scripts.js';

const noteFailure = loadScript('note-failure');
const disableSubscription = loadScript('disable-subscription');

/**
 * Two failures further apart are not one outage: a subscription with an event a week must not be disabled by two of them.
 * Twice the longest wait that a receiver can ask for by `Retry-After`.
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
    return toHealth(await this.#redis.hgetall(this.#keys.health(subscription)));
  }

  async failed(subscription: string, note: FailureNote): Promise<'failing' | DisableOutcome> {
    const { nowMs, succeededAtMs, disableAfterMs, reason } = note;
    const args = [nowMs, succeededAtMs, disableAfterMs, LONGEST_PAUSE_MS, reason];
    const word = await noteFailure.run(this.#redis, [this.#keys.health(subscription)], args);
    return word === 'failing' ? word : switched(noteFailure, word);
  }

  async disable(subscription: string, { atMs, reason }: { atMs: number; reason: string }): Promise<DisableOutcome> {
    const word = await disableSubscription.run(this.#redis, [this.#keys.health(subscription)], [atMs, reason]);
    return switched(disableSubscription, word);
  }

  async enable(subscription: string): Promise<Disabled | null> {
    const hash = this.#keys.health(subscription);
    const [[error, fields] = []] = (await this.#redis.multi().hgetall(hash).del(hash).exec()) ?? [];
    if (error) throw error;
    return toHealth(fields as Record<string, string>).disabled;
  }

  async missed(subscription: string): Promise<boolean> {
    return (await this.#redis.hsetnx(this.#keys.health(subscription), 'missing', '1')) === 1;
  }
}

function switched(script: Script, word: unknown): DisableOutcome {
  if (word === 'disabling' || word === 'disabled') return word;
  throw unexpectedAnswer(script, describe(word));
}

function toHealth({ failingSince, disabledAt, reason = '', missing }: Partial<Record<string, string>>): Health {
  return {
    failingSinceMs: failingSince === undefined ? null : Number(failingSince),
    disabled:
      disabledAt === undefined ? null : { at: isoTime(Number(disabledAt)), reason, missing: missing !== undefined },
  };
}
