/** Whether the counts of days agree with the log, counted once more from its entries. */
import type { Redis } from 'ioredis';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Keys } from '../../src/redis/keys.js';
import { loggedEvents } from './redis.js';

interface Place {
  redis: Redis;
  keys: Keys;
  workspace?: string;
}

/** Lines such as `2026-11-29 ["event","crm.person.updated","edited"]: 3 in the log, 2 counted`; none where all agree. */
export async function miscounted({ redis, keys, workspace = 'acme' }: Place): Promise<string[]> {
  const counted = new Map<string, number>();
  const prefix = keys.day(workspace, '');
  for (const key of await redis.keys(`${prefix}*`)) {
    const day = key.slice(prefix.length);
    for (const [what, count] of Object.entries(await redis.hgetall(key))) counted.set(`${day} ${what}`, Number(count));
  }
  const logged = new Map<string, number>();
  for (const event of await loggedEvents({ redis, keys }, workspace))
    for (const what of saidBy(event)) {
      const line = `${event.data.observedAt.slice(0, 10)} ${JSON.stringify(what)}`;
      logged.set(line, (logged.get(line) ?? 0) + 1);
    }
  return [...new Set([...logged.keys(), ...counted.keys()])]
    .map((line) => [line, logged.get(line) ?? 0, counted.get(line) ?? 0] as const)
    .flatMap(([line, inLog, inCounts]) =>
      inLog === inCounts ? [] : [`${line}: ${inLog} in the log, ${inCounts} counted`],
    );
}

/** The rules of the test's own: nothing of the product is used. */
function saidBy({ type, data }: ChangeEvent): unknown[] {
  if (!type.startsWith('crm.')) return [];
  const said: unknown[] = [['event', type, data.class]];
  const record: Readonly<Record<string, unknown>> | null = data.after ?? data.before;
  const [, object, verb = ''] = type.split('.');
  if (data.class !== 'edited' || record === null || !['created', 'updated', 'deleted'].includes(verb)) return said;
  const owners = [record['담당자'], record['owner']].filter(
    (one): one is { id: string; name?: string } =>
      typeof one === 'object' && one !== null && typeof (one as { id?: unknown }).id === 'string',
  );
  const [owner] = owners;
  const id = owner?.id ?? (typeof record['ownerId'] === 'string' ? record['ownerId'] : '');
  said.push(['owner', object, id, owner?.name ?? id]);
  for (const field of new Set(data.changes.map((change) => change.field))) said.push(['field', object, field]);
  return said;
}
