/**
 * When a list of a snapshot is complete: `changefeed.snapshot.complete` says that what has a lower sequence is not in the list, so everything
 * that is in the list must have been delivered. A list of which all records were sent waits here for its end.
 *
 *   delivering   some of its events are on their way
 *   waits        for a person: records are held or unreadable, or events became dead letters or were dropped
 *   again        that was decided: it is read once more, and what was not sent before is sent
 *   complete     nothing stands in the way: its end may be sent
 *   over         its end was delivered
 */
import { isWhole, type ListCondition } from '../../feed/store/snapshot-source.js';
import type { SnapshotTask } from './backfill-task.js';
import type { StoredTask } from './backfills.js';
import type { DispatchContext } from '../stores.js';
import type { Undelivered } from './undelivered.js';

export type Ending = NonNullable<SnapshotTask['ending']>[number];

export interface EndingList {
  workspace: string;
  ending: Ending;
  condition: ListCondition;
  undelivered: Undelivered;
  verdict: 'delivering' | 'waits' | 'again' | 'complete' | 'over';
}

const NOTHING: Undelivered = { pending: [], dead: [], dropped: [] };

/** The lists that wait for their end. */
export async function endingLists(
  { task: { ending = [], after, workspace } }: StoredTask<SnapshotTask>,
  subscription: string,
  { source, backfills }: Pick<DispatchContext, 'source' | 'backfills'>,
): Promise<EndingList[]> {
  if (ending.length === 0) return [];
  const sent = await backfills.undelivered(subscription, workspace);
  const looks = ending.map(async (one): Promise<EndingList> => {
    const condition = await source.condition(workspace, one.list, after?.epoch);
    const undelivered = sent.get(one.list) ?? NOTHING;
    return { workspace, ending: one, condition, undelivered, verdict: verdictOn(one, condition, undelivered) };
  });
  return await Promise.all(looks);
}

function verdictOn(
  { decided, isSent }: Ending,
  condition: ListCondition,
  { pending, dead, dropped }: Undelivered,
): EndingList['verdict'] {
  if (pending.length > 0) return 'delivering';
  const isDelivered = dead.length + dropped.length === 0;
  if (isSent) return isDelivered ? 'over' : 'waits';
  if (!isWhole(condition)) return 'waits';
  if (decided !== condition.decided) return 'again';
  return isDelivered ? 'complete' : 'waits';
}
