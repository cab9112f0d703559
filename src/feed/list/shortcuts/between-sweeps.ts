/** Between two sweeps of a list: the process holds the lease meanwhile, and no walk is under way. */
import { withLease, type Held } from '../lease-keeper.js';
import { restoreMemory } from '../memory.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import type { Shortcuts } from './shortcuts.js';
import { takeDueShortcut } from './take-shortcut.js';

export interface BetweenOptions extends SweepOptions {
  shortcuts: Shortcuts;
  /** Of the monotonic clock. The lease is released then, so that others get the list. */
  untilMs: number;
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST; the signal's reason */
export async function useShortcutsUntil(deps: SweepDeps, options: BetweenOptions): Promise<{ outcome: 'done' } | Held> {
  const { store, clock } = deps;
  const { list, shortcuts: reader, untilMs } = options;
  return await withLease(deps, options, async ({ token, signal, epoch }) => {
    // They change in a sweep only, which needs the lease.
    const { state, checkpoint } = await store.load(list);
    const memory = await restoreMemory(store, list, checkpoint ?? { pages: 0 });
    await reader.begin(state, clock.monotonic());
    try {
      for (;;) {
        const nowMs = clock.monotonic();
        if (nowMs >= untilMs) return;
        const waitMs = Math.min(reader.dueMs(nowMs), untilMs) - nowMs;
        if (waitMs > 0) await clock.sleep(waitMs, signal);
        await takeDueShortcut(
          deps,
          { ...options, signal, epoch },
          { reader, position: { token, state, checkpoint, memory } },
        );
      }
    } finally {
      await reader.end();
    }
  });
}
