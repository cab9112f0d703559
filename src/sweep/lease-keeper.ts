/** Keeps a lease alive while a page is slow or the API says to wait; tells the sweep when it is lost. */
import { ChangefeedError } from '../errors.js';
import type { ListName } from '../events/lists.js';
import type { Clock } from '../runtime/clock.js';
import type { FencingToken, SweepStore } from './store.js';

export interface LeaseKeeper {
  /** Aborts with CF_LEASE_LOST when another process holds the list. */
  readonly signal: AbortSignal;
  stop(): Promise<void>;
}

export interface LeaseOptions {
  store: SweepStore;
  list: ListName;
  token: FencingToken;
  ttlMs: number;
  clock: Clock;
}

export function keepLease({ store, list, token, ttlMs, clock }: LeaseOptions): LeaseKeeper {
  const lost = new AbortController();
  const stopped = new AbortController();
  const renewing = renewUntilStopped();
  return {
    signal: lost.signal,
    async stop() {
      stopped.abort();
      await renewing;
    },
  };

  async function renewUntilStopped(): Promise<void> {
    while (!stopped.signal.aborted && !lost.signal.aborted) {
      try {
        await clock.sleep(ttlMs / 3, stopped.signal);
        if (!(await store.renew(list, token, ttlMs))) lost.abort(leaseLost(list));
      } catch {
        // Stopped, or Redis does not answer: nothing to do here, because every commit checks the token anyway.
      }
    }
  }
}

export function leaseLost(list: ListName): ChangefeedError {
  return new ChangefeedError('CF_LEASE_LOST', {
    list,
    message: `List "${list}": another process has taken over this sweep. Nothing was written twice; it goes on there.`,
  });
}
