/** `context.once`: runs a side effect at most once per event and subscription. Its limits are described in docs/fan-out.md. */
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
      log().warn({ key }, 'side effect started before with unknown result, not run again');
      return 'unknown';
    }
    try {
      await effect();
    } catch (error) {
      // It is known to have failed: the next attempt may run it again.
      await store.forget(mark);
      throw error;
    }
    await store.finish(mark);
    return 'ran';
  };
}
