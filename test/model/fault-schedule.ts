/**
 * The fault schedule of one process: at its n-th call to Redis or the API it dies, stalls, or gets an error. The calls of a
 * dead process never return, so none of its code continues.
 */
import type { Redis } from 'ioredis';

export type FaultKind =
  /** Killed before the call is sent, or after it took effect and before the answer arrives. */
  | 'dies-before'
  | 'dies-after'
  /** Stalls (a full disk, a sleeping laptop) until it is resumed, before the call or after its answer. */
  | 'stalls-before'
  | 'stalls-after'
  /** The connection breaks: the process continues with an error. */
  | 'fails-before'
  | 'fails-after'
  /** The connection breaks and the client repeats the call: it takes effect twice, and the second answer is returned. */
  | 'sent-twice';

export interface ProcessFault {
  at: number;
  kind: FaultKind;
}

/** The error message of the Redis client for a closed connection. */
export const CONNECTION_CLOSED = 'Connection is closed.';

const NEVER = new Promise<never>(() => undefined);

class Signal<T> {
  resolve!: (value: T) => void;
  readonly promise = new Promise<T>((resolve) => (this.resolve = resolve));
}

export class FaultSchedule {
  #calls = 0;
  #dead = false;
  #stalled: 'not yet' | 'now' | 'over' = 'not yet';
  readonly #fault: ProcessFault | null;
  readonly #interrupted = new Signal<'died' | 'stalled'>();
  readonly #resumed = new Signal<undefined>();

  constructor(fault: ProcessFault | null) {
    this.#fault = fault;
  }

  /** Resolves when the process has died or stalled; otherwise never. */
  interrupted(): Promise<'died' | 'stalled'> {
    return this.#stalled === 'over' ? NEVER : this.#interrupted.promise;
  }

  resume(): void {
    this.#stalled = 'over';
    this.#resumed.resolve(undefined);
  }

  async call<T>(send: () => Promise<T>, broken: () => Error): Promise<T> {
    if (this.#dead) return await NEVER;
    if (this.#stalled === 'now') await this.#resumed.promise;
    this.#calls += 1;
    if (this.#fault?.at !== this.#calls) return await send();
    switch (this.#fault.kind) {
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
    this.#interrupted.resolve('died');
    return await NEVER;
  }

  async #stall(): Promise<void> {
    this.#stalled = 'now';
    this.#interrupted.resolve('stalled');
    await this.#resumed.promise;
  }
}

export function faultyRedis(redis: Redis, faults: FaultSchedule): Redis {
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      // A stream sends commands of its own while it is read, and a transaction when it is executed.
      if (name === 'multi' || String(name).endsWith('Stream')) return value.bind(target) as unknown;
      return (...args: unknown[]) =>
        faults.call(
          async () => (await Reflect.apply(value, target, args)) as unknown,
          () => new Error(CONNECTION_CLOSED),
        );
    },
  });
}
