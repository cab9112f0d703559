/**
 * Uses the shortcuts of a list while it waits for its next sweep. The process holds the lease meanwhile, so one process at a time
 * does this, and no walk is under way.
 */
import type { Clock } from '../../runtime/clock.js';
import { withLease, type Held } from '../lease-keeper.js';
import type { SweepStore } from '../store.js';
import type { Shortcuts } from './shortcuts.js';
import { takeDueShortcut, type TakeDeps, type TakeOptions } from './take-shortcut.js';

export interface BetweenDeps extends TakeDeps {
  store: TakeDeps['store'] & Pick<SweepStore, 'acquire' | 'renew' | 'release' | 'load'>;
  clock: Clock;
}

export interface BetweenOptions extends TakeOptions {
  shortcuts: Shortcuts;
  /** Ms since the epoch. The lease is released then, so that others get the list. */
  untilMs: number;
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST; the signal's reason */
export async function useShortcutsUntil(
  deps: BetweenDeps,
  options: BetweenOptions,
): Promise<{ outcome: 'done' } | Held> {
  const { store, clock } = deps;
  const { list, shortcuts, untilMs } = options;
  return await withLease(deps, options, async ({ token, signal }) => {
    // They change in a sweep only, which needs the lease.
    const { state, checkpoint } = await store.load(list);
    await shortcuts.begin(state, clock.now());
    try {
      for (;;) {
        const nowMs = clock.now();
        if (nowMs >= untilMs) return;
        const waitMs = Math.min(shortcuts.dueMs(nowMs), untilMs) - nowMs;
        if (waitMs > 0) await clock.sleep(waitMs, signal);
        const position = { token, state, checkpoint, memory: null };
        await takeDueShortcut(deps, { ...options, signal }, { shortcuts, position });
      }
    } finally {
      await shortcuts.end();
    }
  });
}
