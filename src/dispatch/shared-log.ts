/**
 * One reading of the log for all subscriptions that stand at the same place: it is fetched and parsed once. Only full
 * batches are shared, for those never change; at the end of the log everybody looks for himself, or he would miss what came.
 */
import type { LoggedEvent } from '../events/types.js';
import type { LogReader } from './ports.js';

/** Batches of one workspace that are remembered: enough for neighbours, not for those far behind. */
const KEPT = 4;

export function shareReading(log: Pick<LogReader, 'read'>): { read: LogReader['read'] } {
  const batches = new Map<string, Promise<readonly LoggedEvent[]>>();

  const remember = (key: string, batch: Promise<readonly LoggedEvent[]>): void => {
    batches.set(key, batch);
    const [oldest] = batches.keys();
    if (batches.size > KEPT && oldest !== undefined) batches.delete(oldest);
  };
  return {
    async read(workspace, after, count) {
      const key = `${workspace} ${after} ${count}`;
      const known = batches.get(key);
      const shared = known === undefined ? undefined : await known.catch(() => undefined);
      if (shared?.length === count) return [...shared];
      const own = log.read(workspace, after, count);
      remember(key, own);
      const batch = await own;
      if (batch.length < count && batches.get(key) === own) batches.delete(key);
      return batch;
    },
  };
}
