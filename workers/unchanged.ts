/** Says, of each workspace, what has not happened for as long as a subscription asks for. */
import { compileTypes, readsWorkspace } from '../src/events/pattern.js';
import { stretchKey } from '../src/events/unchanged.js';
import { tellUnchanged, type Asked } from '../src/feed/unchanged/tell.js';
import { createUnchangedStore } from '../src/feed/unchanged/unchanged-store.js';
import type { Subscription } from '../src/delivery/handlers/handler.js';
import { runLoop } from '../src/kit/loop.js';
import type { AppContext } from './context.js';
import type { Workspace, Workspaces } from './workspaces.js';

/** A moment is at least minutes after the change, and a sweep confirms it. */
const TURN_MS = 2_000;

/** The stretches of the lists that are swept, each once. Records of a list whose rows are only recognised are not kept. */
export function askedOf(
  subscriptions: readonly Subscription[],
  { name, lists }: Pick<Workspace, 'name' | 'lists'>,
): Asked[] {
  const asked = subscriptions.flatMap((one) => {
    const { unchanged: stretch, lists: only } = one;
    if (stretch === undefined || !readsWorkspace(one, name)) return [];
    const selects = compileTypes(one);
    return [...lists.values()].flatMap(({ enabled, descriptor }): Asked[] => {
      const isSelected = selects(`crm.${descriptor.object}.unchanged`) && only?.includes(descriptor.name) !== false;
      return enabled && !descriptor.recognisedOnly && isSelected ? [{ list: descriptor.name, stretch }] : [];
    });
  });
  return [...new Map(asked.map((one) => [`${one.list} ${stretchKey(one.stretch)}`, one])).values()];
}

/** Runs until the signal aborts. The subscriptions may change meanwhile. */
export function tellOfWorkspaces(context: AppContext, workspaces: Workspaces, signal: AbortSignal): Promise<void> {
  const { subscriptions, redis, keys, guard, events: log, clock, log: logger, watch, loops } = context;
  /** What nobody asks any more is dropped once. */
  const idle = new Set<string>();
  const tell = async (workspace: Workspace): Promise<void> => {
    const asked = askedOf(subscriptions, workspace);
    if (asked.length === 0 && idle.has(workspace.name)) return;
    const { name, config, surroundings } = workspace;
    const scope = { redis, keys, workspace: name };
    const store = createUnchangedStore(scope, { guard, timeZone: config.timeZone });
    const of = { scope, store, log, clock, timeZone: config.timeZone, lists: surroundings.lists };
    const told = await tellUnchanged(asked, of);
    if (told > 0) logger.info({ workspace: name, events: told }, 'records have been unchanged for long');
    if (asked.length === 0) idle.add(name);
    else idle.delete(name);
  };
  return runLoop({
    name: 'unchanged records',
    async run(_turn, alive) {
      for (const workspace of workspaces.all()) {
        if (workspace.state === 'active') await tell(workspace);
        alive();
      }
      return TURN_MS;
    },
    ready: (within) => watch.untilUsable(within),
    ...{ signal, log: logger, clock, loops },
  });
}
