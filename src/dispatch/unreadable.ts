/**
 * A subscription of which a key in Redis holds a value of another type. The status must still show the other subscriptions, and name the
 * key. The connections name our own keys (`src/state/key-types.ts`); this finds those of BullMQ.
 */
import type { Queue } from 'bullmq';
import { ChangefeedError, messageOf } from '../errors.js';

/** BullMQ's keys of a queue that it reads as one type only. */
const QUEUE_KEYS: Readonly<Record<string, string>> = {
  wait: 'list',
  active: 'list',
  paused: 'list',
  prioritized: 'zset',
  delayed: 'zset',
  failed: 'zset',
  completed: 'zset',
  meta: 'hash',
};
const NAMES: Readonly<Record<string, string>> = { list: 'a list', zset: 'a sorted set', hash: 'a hash' };

/** The Redis type of a key; `none` when there is no such key. */
export type TypeOf = (key: string) => Promise<string>;

/**
 * The message for a person, with the name of the key.
 * @throws the error itself, when it has another cause
 */
export async function unreadableKey(queue: Pick<Queue, 'toKey'>, error: unknown, typeOf: TypeOf): Promise<string> {
  if (error instanceof ChangefeedError && error.code === 'CF_STATE_UNREADABLE') return error.message;
  if (!/\bWRONGTYPE\b/.test(messageOf(error))) throw error;
  for (const [name, expected] of Object.entries(QUEUE_KEYS)) {
    const key = queue.toKey(name);
    const found = await typeOf(key);
    if (found === expected || found === 'none') continue;
    return `Redis key "${key}": expected ${NAMES[expected] ?? expected}, found a value of type ${found} that another program or a person has written. RENAME "${key}" "${key}:moved" moves it away; then the queue goes on without what the key held.`;
  }
  throw error;
}
