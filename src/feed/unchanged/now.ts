/** Which records are unchanged for so long now: for the preview of a rule, also of a stretch that nobody has asked for yet. */
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import type { ChangeEvent } from '../../events/types.js';
import { latestDue, type Stretch } from '../../events/unchanged.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import { giveWay } from '../../kit/give-way.js';
import type { WorkspaceRedis } from '../../redis/keys.js';
import { everyRecord } from '../store/stored-records.js';
import { followedBy } from './tell.js';
import { saidSince, unchangedEvent } from './unchanged-event.js';
import { createUnchangedStore } from './unchanged-store.js';

export interface NowOptions {
  scope: WorkspaceRedis;
  list: ListDescriptor;
  stretch: Stretch;
  clock: Clock;
  timeZone: string;
}

/** A record of the list with the event that it has, or would have. */
export interface Unchanged {
  event: ChangeEvent;
  /** It has been unchanged for so long. */
  isDue: boolean;
}

/** Every record of the list, in steps. One may come twice. */
export async function* unchangedNow({
  scope,
  list,
  stretch,
  clock,
  timeZone,
}: NowOptions): AsyncGenerator<Unchanged[]> {
  const store = createUnchangedStore(scope);
  const followed = followedBy({ list: list.name, stretch });
  const nowMs = clock.now();
  const seenSince = (await store.read()).followed.get(followed)?.since ?? isoTime(nowMs);
  const upTo = latestDue(stretch, nowMs, timeZone);
  const facts = { workspace: scope.workspace, list, stretch, timeZone, clock, seenSince, sweep: '' };
  for await (const records of everyRecord(scope, list.name)) {
    await giveWay();
    const known = await store.since(
      followed,
      records.map(([key]) => key),
    );
    yield records.flatMap(([record, stored], index) => {
      const ms = known[index] ?? saidSince(stored, list, nowMs);
      const event = unchangedEvent({ record, ms }, stored, facts);
      return event === null ? [] : [{ event, isDue: ms <= upTo }];
    });
  }
}
