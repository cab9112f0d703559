/** Removes what is stored: of a workspace, of one record, or of a subscription that is no longer configured. */
import type { Forgetting } from '../actions/feed.js';
import {
  forgetSubscription,
  forgetWorkspace,
  isWorkspaceStored,
  storedSubscriptions,
} from '../ops/forgetting/forget.js';
import { eraseRecord } from '../ops/forgetting/erase.js';
import { rulesOf } from '../config/rules.js';
import { usage } from '../kit/errors.js';
import { NAME } from '../kit/schema/fields.js';
import { createProcessRegistry } from '../redis/process-registry.js';
import type { Status } from '../ops/watch/status.js';
import { createTraceStore } from '../ops/forgetting/traces.js';
import type { AppContext } from '../../workers/context.js';
import { listIn, type Workspaces } from '../../workers/workspaces.js';
import { forgetMissingRules } from './missing-rules.js';

export function forgetting(context: AppContext, workspaces: Workspaces, status: () => Promise<Status>): Forgetting {
  const { redis, keys, connect, events, log, clock, subscriptions } = context;
  const deps = { keys, connect, logger: log, traces: createTraceStore(redis, keys) };
  const ruleTexts = (): { name: string; text: string }[] => {
    const { file, rules, problems } = rulesOf(context.config);
    const refused = file === null || problems.length === 0 ? [] : [{ name: file.source, text: file.text }];
    return [...rules.map(({ id, data }) => ({ name: id, text: JSON.stringify(data) })), ...refused];
  };
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
      const of = { store, rules, lists: surroundings.lists, ruleTexts };
      return await eraseRecord(call, { ...deps, redis, log: events, subscriptions, clock, ...of });
    },
    async isStored(workspace) {
      checkName(workspace);
      return await isWorkspaceStored(workspace, deps);
    },
    storedSubscriptions: () => storedSubscriptions(deps),
    forgetSubscription: (subscription, { dryRun } = {}) =>
      forgetSubscription({ subscription, configured: subscriptions.map(({ name }) => name), dryRun }, deps),
    forgetMissingRules: () => forgetMissingRules(async () => missingIn(await status()), context),
  };
}

function missingIn({ processes }: Status): number | null {
  return processes.length === 0 ? null : Math.max(...processes.map(({ rulesMissing }) => rulesMissing?.rules ?? 0));
}

/** A pattern instead of a name would find the keys of others. */
function checkName(workspace: string): void {
  if (!NAME.test(workspace))
    throw usage('forget: not a name of a workspace; allowed: letters, digits, "-", "_" and ".", 1 to 64 characters.');
}
