/**
 * What a snapshot has staged and no handler has got. An entry is made when its event is staged, and goes with the script by which the
 * delivery leaves after it was handled; that of a retry takes the place of its dead letter. What has become of the others is read from where
 * they are, because dead letters may also be removed by their retention, or by hand.
 */
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';

/** What is undelivered of one list, by what has become of it. An id is a record's; '' stands for the end of the list. */
export interface Undelivered {
  pending: readonly string[];
  dead: readonly string[];
  /** Dropped by a person, or as a dead letter that was kept long enough. */
  dropped: readonly string[];
}

interface UndeliveredEvent {
  field: string;
  /** Of its delivery. */
  id: string;
  list: string;
  /** '' for the end of the list. */
  recordId: string;
}

interface Scope {
  redis: Redis;
  keys: Keys;
}

const SCANNED = 500;

/** In steps. An event may come twice. */
async function* undeliveredIn(
  { redis, keys }: Scope,
  subscription: string,
  workspace: string,
): AsyncGenerator<UndeliveredEvent[]> {
  for await (const step of redis.hscanStream(keys.undelivered(subscription, workspace), { count: SCANNED })) {
    const flat = step as string[];
    const fields = flat.filter((_, at) => at % 2 === 0);
    yield fields.map((field, at) => {
      const [id = '', list = '', ...rest] = (flat[2 * at + 1] ?? '').split(' ');
      return { field, id, list, recordId: rest.join(' ') };
    });
  }
}

/** A dead letter has left what is pending, and its job is kept. Whatever ends it without a handler removes the job. */
async function statesOf(
  some: readonly UndeliveredEvent[],
  { redis, keys }: Scope,
  subscription: string,
  workspace: string,
): Promise<(keyof Undelivered)[]> {
  if (some.length === 0) return [];
  // Dead letters first: one that is retried meanwhile is pending.
  const kept = await Promise.all(some.map(({ id }) => redis.exists(keys.job(subscription, id))));
  const scores = await redis.zmscore(keys.pending(subscription, workspace), ...some.map(({ id }) => id));
  return some.map((_, index) => {
    if (scores[index] != null) return 'pending';
    return kept[index] === 1 ? 'dead' : 'dropped';
  });
}

export async function readUndelivered(
  scope: Scope,
  subscription: string,
  workspace: string,
): Promise<Map<string, Undelivered>> {
  const found = new Map<string, { [State in keyof Undelivered]: string[] }>();
  for await (const some of undeliveredIn(scope, subscription, workspace)) {
    const states = await statesOf(some, scope, subscription, workspace);
    for (const [index, { list, recordId }] of some.entries()) {
      const of = found.get(list) ?? { pending: [], dead: [], dropped: [] };
      of[states[index] ?? 'dropped'].push(recordId);
      found.set(list, of);
    }
  }
  return found;
}

/** Once a record is erased, no snapshot waits for it. */
export async function forgetUndelivered(
  scope: Scope,
  subscription: string,
  { workspace, list, id }: { workspace: string; list: string; id: string },
): Promise<void> {
  const key = scope.keys.undelivered(subscription, workspace);
  for await (const some of undeliveredIn(scope, subscription, workspace)) {
    const own = some.filter((one) => one.list === list && one.recordId === id).map(({ field }) => field);
    if (own.length > 0) await scope.redis.hdel(key, ...own);
  }
}
