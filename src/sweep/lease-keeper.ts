/** Renews the lease while a page is slow or the API asks to wait, and aborts the sweep when the lease is lost. */
import type { ListName } from '../crm/lists/lists.js';
import type { Clock } from '../runtime/clock.js';
import { leaseLost } from './errors.js';
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
        // Stopped, or Redis does not answer. Nothing is lost: every commit checks the token.
      }
    }
  }
}
