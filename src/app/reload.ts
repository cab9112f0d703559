/**
 * Applies another configuration to a running process: the roles go on with the new options of workspaces and with the new subscriptions.
 * All other sections take effect only at the next start.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Workers } from '../../workers/all.js';
import type { Config } from '../config/schema.js';
import { compareSubscriptions } from '../dispatch/compare-subscriptions.js';
import { Turns } from '../runtime/turns.js';
import { logConfigWarnings } from './config-warnings.js';
import type { AppContext } from './context.js';
import type { Workspaces } from './workspaces.js';

const SECTIONS = [
  'workspaces',
  'redis',
  'serve',
  'http',
  'log',
  'deadLetters',
  'telemetry',
] as const satisfies readonly (keyof Config)[];

/** What a reload changed. `added`, `changed` and `removed` are names of subscriptions. */
export interface Reloaded {
  added: readonly string[];
  changed: readonly string[];
  removed: readonly string[];
  workspaces: readonly string[];
  /** Sections of the configuration that changed too and take effect only at the next start. */
  needsRestart: readonly (typeof SECTIONS)[number][];
}

export function createReloader(context: AppContext, workspaces: Workspaces, { poll, dispatch, handle }: Workers) {
  const { config, log } = context;
  let { subscriptions } = context;
  const turns = new Turns();

  const apply = async (next: Config): Promise<Reloaded> => {
    const { subscriptions: wanted, ...names } = compareSubscriptions(subscriptions, next.subscriptions);
    subscriptions = wanted;
    // At the same time: reading must not wait for the handlers of removed subscriptions to finish.
    await Promise.all([dispatch.apply(wanted), handle.apply(wanted)]);
    const before = new Map(workspaces.all().map((workspace) => [workspace.name, workspace.config]));
    // Added and removed workspaces need a restart.
    const changed = next.workspaces.filter(
      (workspace) => before.has(workspace.name) && !isDeepStrictEqual(before.get(workspace.name), workspace),
    );
    await Promise.all(changed.map((workspace) => poll.apply(workspace)));
    // The other sections are still those of the start, so warnings and differences refer to them.
    const running = { ...config, workspaces: workspaces.all().map((workspace) => workspace.config) };
    logConfigWarnings(log, { ...running, subscriptions: next.subscriptions }, ['subscription', 'unpolled', 'handler']);
    const needsRestart = SECTIONS.filter((section) => !isDeepStrictEqual(running[section], next[section]));
    return { ...names, workspaces: changed.map(({ name }) => name), needsRestart };
  };
  return {
    /** Calls at the same time are carried out one after the other. */
    reload: (next: Config): Promise<Reloaded> => turns.take('reload', () => apply(next)),
    /** Resolves when no reload is under way. */
    idle: (): Promise<void> => turns.over(),
  };
}
