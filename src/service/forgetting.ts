/** Removes what is stored: of a workspace, of one record, or of a subscription that is no longer configured. */
import {
  forgetSubscription,
  forgetWorkspace,
  isWorkspaceStored,
  storedSubscriptions,
  type Forgotten,
  type ForgottenSubscription,
  type StoredSubscription,
} from '../ops/forget.js';
import { eraseRecord, type EraseCall, type Erased } from '../ops/erase.js';
import { usage } from '../kit/errors.js';
import { NAME } from '../kit/schema/fields.js';
import { createProcessRegistry } from '../redis/process-registry.js';
import { createTraceStore } from '../ops/traces.js';
import type { AppContext } from '../../workers/context.js';
import { listIn, type Workspaces } from '../../workers/workspaces.js';

export interface Forgetting {
  /**
   * Removes everything Redis keeps of a workspace, even if the configuration does not name it: records, log, positions, and its events
   * in the subscriptions' queues, dead letters included. What handlers delivered stays where it is. May be repeated. Waits for handlers
   * that are handling its events.
   * @throws ChangefeedError CF_WORKSPACE_BUSY while a process sweeps it, CF_USAGE
   */
  forget(workspace: string): Promise<Forgotten>;
  /**
   * Erases one record: what is stored of it, its events in the log, what waits of them, dead letters, receipts, and its rows in tables of
   * `postgres`. It is kept out from then on, also while the CRM still shows it. May be repeated. Waits for handlers that are handling its events.
   * @throws ChangefeedError CF_USAGE when there is no such workspace or list
   */
  erase(call: EraseCall): Promise<Erased>;
  /**
   * Whether Redis keeps anything of a workspace that `forget` would remove.
   * @throws ChangefeedError CF_USAGE
   */
  isStored(workspace: string): Promise<boolean>;
  /** Every subscription for which anything is stored, configured or not. */
  storedSubscriptions(): Promise<StoredSubscription[]>;
  /**
   * Removes everything stored for a subscription that the configuration no longer has and no process handles.
   * @throws ChangefeedError CF_USAGE
   */
  forgetSubscription(subscription: string, options?: { dryRun?: boolean }): Promise<ForgottenSubscription>;
}

export function forgetting(context: AppContext, workspaces: Workspaces): Forgetting {
  const { redis, keys, connect, events, log, clock, subscriptions } = context;
  const deps = { keys, connect, logger: log, traces: createTraceStore(redis, keys) };
  const configured = subscriptions.map(({ name }) => name);
  const pollers = async (name: string): Promise<number> => {
    const processes = await createProcessRegistry(redis, keys).list();
    return processes.filter(({ roles, workspaces }) => roles.includes('poll') && workspaces.includes(name)).length;
  };
  return {
    async forget(workspace) {
      checkName(workspace);
      return await forgetWorkspace(workspace, { ...deps, clock, pollers });
    },
    async erase(call) {
      const workspace = workspaces.get(call.workspace);
      const { rules } = listIn(workspace, call.list);
      if (call.id === '') throw usage('erase: give the id of a record.');
      const { store, surroundings } = workspace;
      const of = { store, rules, lists: surroundings.lists };
      return await eraseRecord(call, { ...deps, redis, log: events, subscriptions, clock, ...of });
    },
    async isStored(workspace) {
      checkName(workspace);
      return await isWorkspaceStored(workspace, deps);
    },
    storedSubscriptions: () => storedSubscriptions(deps),
    forgetSubscription: (subscription, { dryRun } = {}) =>
      forgetSubscription({ subscription, configured, dryRun }, deps),
  };
}

/** A pattern instead of a name would find the keys of others. */
function checkName(workspace: string): void {
  if (!NAME.test(workspace))
    throw usage('forget: not a name of a workspace; allowed: letters, digits, "-", "_" and ".", 1 to 64 characters.');
}
