/** Holds the lease of a list: renews it while a page is slow or the API asks to wait, and aborts the work when it is lost. */
import type { ListName } from '../crm/lists/lists.js';
import type { Clock } from '../runtime/clock.js';
import { leaseLost } from './errors.js';
import type { AcquireResult, FencingToken, SweepStore } from './store.js';

/** How long a lease lasts without renewal: long enough for a blocked event loop, short enough to wait for after a crash. */
const LEASE_MS = 15_000;

export type Held = Extract<AcquireResult, { outcome: 'held' }>;

export interface LeasedWork {
  token: FencingToken;
  /** The caller's signal; it also aborts with CF_LEASE_LOST when another process holds the list. */
  signal: AbortSignal;
}

/** Runs `work` while this process holds the list, and releases the list afterwards. */
export async function withLease<Result>(
  { store, clock }: { store: Pick<SweepStore, 'acquire' | 'renew' | 'release'>; clock: Clock },
  { list, signal: given }: { list: ListName; signal?: AbortSignal | undefined },
  work: (leased: LeasedWork) => Promise<Result>,
): Promise<{ outcome: 'done'; result: Result } | Held> {
  const lease = await store.acquire(list, LEASE_MS);
  if (lease.outcome === 'held') return lease;
  const { token } = lease;
  const keeper = keepLease({ store, list, token, ttlMs: LEASE_MS, clock });
  const signal = given === undefined ? keeper.signal : AbortSignal.any([keeper.signal, given]);
  try {
    return { outcome: 'done', result: await work({ token, signal }) };
  } finally {
    await keeper.stop();
    await store.release(list, token);
  }
}

interface LeaseKeeper {
  /** Aborts with CF_LEASE_LOST when another process holds the list. */
  readonly signal: AbortSignal;
  stop(): Promise<void>;
}

interface LeaseOptions {
  store: Pick<SweepStore, 'renew'>;
  list: ListName;
  token: FencingToken;
  ttlMs: number;
  clock: Clock;
}

function keepLease({ store, list, token, ttlMs, clock }: LeaseOptions): LeaseKeeper {
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
