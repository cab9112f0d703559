/** Hints from the program that runs the feed. Those that come over HTTP are taken by the role `serve`. */
import { HINT, problemOfIds } from '../crm/hint.js';
import type { ListName } from '../crm/lists/lists.js';
import { ChangefeedError } from '../errors.js';
import type { Clock } from '../runtime/clock.js';
import { listIn, type Workspaces } from './workspaces.js';

export interface HintOptions {
  /** @defaultValue the only workspace */
  workspace?: string | undefined;
}

/** @throws ChangefeedError CF_USAGE when there is no such workspace or polled list, or the ids cannot be used */
export async function queueHint(
  { workspaces, clock }: { workspaces: Workspaces; clock: Clock },
  { list, ids, workspace: name }: HintOptions & { list: ListName; ids: readonly string[] },
): Promise<void> {
  const workspace = workspaces.choose(name);
  const { descriptor, enabled } = listIn(workspace, list);
  const problem = enabled ? problemOfIds(ids) : `the list "${descriptor.name}" is not polled`;
  if (problem !== null) throw new ChangefeedError('CF_USAGE', { message: `hint: ${problem}.` });
  await workspace.aims.add(descriptor.name, ids, { by: HINT, atMs: clock.now() });
}
