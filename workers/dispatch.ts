/** The role `dispatch`: moves events from the log to the queues and trims the log. */
import { createDispatcher, type Dispatcher } from '../src/delivery/dispatcher.js';
import type { ListName } from '../src/crm/lists/lists.js';
import { readsWorkspace } from '../src/events/pattern.js';
import { followLog, type TailOptions } from '../src/delivery/ask/tail.js';
import { runLoop } from '../src/kit/loop.js';
import { DEFAULT_TIME_ZONE } from '../src/kit/schema/fields.js';
import type { ReceiptStore } from '../src/delivery/receipts/receipts.js';
import { trimLog } from '../src/delivery/run/retention.js';
import { createListStates } from '../src/feed/store/list-states.js';
import { createSnapshotSource } from '../src/feed/store/snapshot-source.js';
import { createDeliveryStores } from '../src/delivery/stores.js';
import type { AppContext } from './context.js';
import { tellOfWorkspaces } from './unchanged.js';
import type { Workspaces } from './workspaces.js';

const TRIM_INTERVAL_MS = 60_000;

export type DispatchRole = ReturnType<typeof dispatchRole>;

export function dispatchRole(context: AppContext, workspaces: Workspaces) {
  const { keys, redis, events, log: logger, clock, watch, loops } = context;
  const timeZoneOf = (name: string): string => workspaces.find(name)?.config.timeZone ?? DEFAULT_TIME_ZONE;
  const list = (name: string, list: ListName) => workspaces.find(name)?.lists.get(list) ?? null;
  const stores = createDeliveryStores(context);
  const dispatcher = createDispatcher({
    ...context,
    logger,
    workspaces: workspaces.names,
    timeZoneOf,
    log: events,
    ...stores,
    source: createSnapshotSource({ redis, keys, clock, list }),
    states: createListStates({ redis, keys, clock, list }),
  });
  const stopping = new AbortController();
  let [trimming, telling]: (Promise<void> | undefined)[] = [];
  return {
    name: 'dispatcher',
    async start(): Promise<void> {
      await dispatcher.start();
      trimming = runLoop({
        name: 'log retention',
        run: (_signal, alive) => trimLogs(context, { dispatcher, receipts: stores.receipts, alive }),
        ready: (signal) => watch.untilUsable(signal),
        signal: stopping.signal,
        log: logger,
        clock,
        loops,
      });
      telling = tellOfWorkspaces(context, workspaces, stopping.signal);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([trimming, telling, dispatcher.stop()]);
    },
    dispatcher,
    tail: (call?: TailOptions) => followLog({ log: events, workspaces: workspaces.names, timeZoneOf }, call),
    /** Closes what was opened without the role having been started. */
    async close(): Promise<void> {
      await Promise.all([dispatcher.close(), events.close()]);
    },
  };
}

async function trimLogs(
  { config, subscriptions, redis, keys, clock, log }: AppContext,
  { dispatcher, receipts, alive }: { dispatcher: Dispatcher; receipts: ReceiptStore; alive: () => void },
): Promise<number> {
  const paused = await dispatcher.enforcePaused();
  for (const { name: workspace } of config.workspaces) {
    alive();
    const reading = subscriptions.filter((one) => readsWorkspace(one, workspace));
    const readers = reading.map(({ name }) => name);
    for (const { name: subscription, receipts: kept = null } of reading)
      await receipts.trim({ subscription, workspace }, kept, clock.now());
    const alsoReadTo = await redis.hget(keys.unchanged(workspace), 'readTo');
    const trim = { workspace, readers, retention: config.log.retention, nowMs: clock.now(), paused, alsoReadTo };
    const { missedBy, droppedOffsets } = await trimLog(redis, keys, trim);
    await dispatcher.noteMissing(missedBy);
    for (const subscription of droppedOffsets) {
      log.warn({ workspace, subscription }, 'subscription is no longer configured: its log position was dropped');
      await receipts.trim({ subscription, workspace }, null, clock.now());
    }
  }
  return TRIM_INTERVAL_MS;
}
