/** Loads the events of deliveries: from the log, or from what is stored with their group. */
import type { Delivery, Entry, LogReader, RecordGate } from './ports.js';

export interface LoadOptions {
  subscription: string;
  workspace: string;
  gate: Pick<RecordGate, 'stored'>;
  log: Pick<LogReader, 'events'>;
}

export type Loadable = Pick<Entry, 'id' | 'logId' | 'kind'>;

/** Null where the event is gone: it was dropped from the log while the subscription was disabled, or the log was lost. */
export async function loadDeliveries(
  entries: readonly Loadable[],
  { subscription, workspace, gate, log }: LoadOptions,
): Promise<(Delivery | null)[]> {
  const logged = entries.filter(({ kind }) => kind === 'logged').map(({ logId }) => logId);
  const others = entries.filter(({ kind }) => kind !== 'logged').map(({ id }) => id);
  const [events, stored] = await Promise.all([
    logged.length === 0 ? [] : log.events(workspace, logged),
    gate.stored(subscription, others),
  ]);
  const [nextLogged, nextStored] = [events.values(), stored.values()];
  return entries.map(({ id, logId, kind }) => {
    const found = kind === 'logged' ? { event: nextLogged.next().value ?? null } : (nextStored.next().value ?? null);
    return found?.event == null ? null : { ...found, event: found.event, id, workspace, logId };
  });
}
