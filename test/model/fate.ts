/**
 * What befalls one process: its calls to Redis and to the API are counted, and at one of them it dies, is held up, or does
 * not get its answer. A dead process says nothing any more: its calls never come back, so none of its code goes on.
 */
import type { Redis } from 'ioredis';

export type Blow =
  /** Killed, before the call went out or when it had taken effect and the answer was not yet seen. */
  | 'dies-before'
  | 'dies-after'
  /** Stands still (a full disk, a sleeping laptop) until it is woken, before the call or with its answer in hand. */
  | 'stalls-before'
  | 'stalls-after'
  /** The connection breaks: the process lives and gets an error. */
  | 'fails-before'
  | 'fails-after'
  /** The connection breaks, and the client sends the call again: it takes effect twice, and the second answer is seen. */
  | 'sent-twice';

export interface Doom {
  /** Which of its calls, from 1. */
  at: number;
  blow: Blow;
}

/** The words of the Redis client when a connection is gone. */
export const CONNECTION_CLOSED = 'Connection is closed.';

const NEVER = new Promise<never>(() => undefined);

class Moment<T> {
  come!: (value: T) => void;
  readonly awaited = new Promise<T>((resolve) => (this.come = resolve));
}

export class Fate {
  #calls = 0;
  #dead = false;
  #stalled: 'not yet' | 'now' | 'over' = 'not yet';
  readonly #doom: Doom | null;
  readonly #struck = new Moment<'died' | 'stalled'>();
  readonly #woken = new Moment<undefined>();

  constructor(doom: Doom | null) {
    this.#doom = doom;
  }

  /** Resolves when the process has died or stands still; never, when it comes through. */
  struck(): Promise<'died' | 'stalled'> {
    return this.#stalled === 'over' ? NEVER : this.#struck.awaited;
  }

  wake(): void {
    this.#stalled = 'over';
    this.#woken.come(undefined);
  }

  async call<T>(send: () => Promise<T>, broken: () => Error): Promise<T> {
    if (this.#dead) return await NEVER;
    if (this.#stalled === 'now') await this.#woken.awaited;
    this.#calls += 1;
    if (this.#doom?.at !== this.#calls) return await send();
    switch (this.#doom.blow) {
      case 'dies-before':
        return await this.#die(Promise.resolve());
      case 'dies-after':
        return await this.#die(send());
      case 'stalls-before':
        await this.#stall();
        return await send();
      case 'stalls-after': {
        const answer = await send();
        await this.#stall();
        return answer;
      }
      case 'fails-before':
        throw broken();
      case 'fails-after':
        await send();
        throw broken();
      case 'sent-twice':
        await send();
        return await send();
    }
  }

  async #die(effect: Promise<unknown>): Promise<never> {
    this.#dead = true;
    await effect.catch(() => undefined);
    this.#struck.come('died');
    return await NEVER;
  }

  async #stall(): Promise<void> {
    this.#stalled = 'now';
    this.#struck.come('stalled');
    await this.#woken.awaited;
  }
}

/** The same connection, each of its commands in the hands of fate. */
export function fatefulRedis(redis: Redis, fate: Fate): Redis {
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        fate.call(
          async () => (await Reflect.apply(value, target, args)) as unknown,
          () => new Error(CONNECTION_CLOSED),
        );
    },
  });
}
