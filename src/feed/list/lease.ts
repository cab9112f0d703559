/** Renews a list's lease while a page is slow or the API asks to wait; aborts the work when it is lost. */
import { OVER, type Clock } from '../../kit/clock.js';
import { leaseLost } from './errors.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { AcquireResult, FencingToken } from '../store/sweep-state.js';
import type { SweepStore } from '../store/sweep-store.js';

/** Long enough for a blocked event loop, short enough to wait for after a crash. */
const LEASE_MS = 15_000;

/** Another process has the lease. */
export type LeaseTaken = Extract<AcquireResult, { outcome: 'held' }>;

export interface Leased {
  token: FencingToken;
  /** The caller's signal; it also aborts with CF_LEASE_LOST when another process holds the list. */
  signal: AbortSignal;
  epoch: number | undefined;
}

export async function withLease<Result>(
  { store, clock }: { store: SweepStore; clock: Clock },
  { list, signal: given }: { list: ListName; signal?: AbortSignal | undefined },
  work: (leased: Leased) => Promise<Result>,
): Promise<{ outcome: 'done'; result: Result } | LeaseTaken> {
  const lease = await store.acquire(list, LEASE_MS);
  if (lease.outcome === 'held') return lease;
  const { token, epoch } = lease;
  const lost = new AbortController();
  const done = new AbortController();
  const renew = async (): Promise<void> => {
    while (!done.signal.aborted && !lost.signal.aborted) {
      try {
        await clock.sleep(LEASE_MS / 3, done.signal);
        if (!(await store.renew(list, token, LEASE_MS))) lost.abort(leaseLost(list));
      } catch {
        // Done, or Redis does not answer. Nothing is lost: every commit checks the token.
      }
    }
  };
  const renewing = renew();
  const signal = given === undefined ? lost.signal : AbortSignal.any([lost.signal, given]);
  try {
    return { outcome: 'done', result: await work({ token, signal, epoch }) };
  } finally {
    done.abort(OVER);
    await renewing;
    await store.release(list, token);
  }
}
