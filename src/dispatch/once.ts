/** `context.once`: a side effect at most once per event and subscription. What that promises and what it cannot: docs/fan-out.md. */
import type { Log } from '../runtime/log.js';
import type { Once, OnceOutcome } from '../handlers/handler.js';
import type { OnceStore } from './ports.js';

export interface OnceOptions {
  store: OnceStore;
  subscription: string;
  workspace: string;
  eventId: string;
  log: () => Log;
}

export function createOnce({ store, subscription, workspace, eventId, log }: OnceOptions): Once {
  return async (key, effect): Promise<OnceOutcome> => {
    const mark = { subscription, workspace, eventId, key };
    const found = await store.begin(mark);
    if (found === 'done') return 'before';
    if (found === 'started') {
      log().warn({ key }, 'a side effect was begun before and its end is not known; it is not begun again');
      return 'unknown';
    }
    try {
      await effect();
    } catch (error) {
      // It failed and said so: the next try may begin it again.
      await store.forget(mark);
      throw error;
    }
    await store.finish(mark);
    return 'ran';
  };
}
