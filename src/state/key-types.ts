/**
 * Names the key when Redis answers WRONGTYPE: a key of ours holds a value of another type, because a person or another program wrote it.
 * Redis itself names no key. Called by the connections for every command that fails in this way, so that no store has to.
 */
import { ChangefeedError } from '../errors.js';
import type { Keys } from './keys.js';

type KeyType = 'string' | 'hash' | 'list' | 'set' | 'zset' | 'stream';

/** By the first word after the tag of the workspace or of the subscription; `keys.ts` says what each holds. */
const WORKSPACE: Readonly<Record<string, KeyType>> = {
  state: 'string',
  log: 'stream',
  offsets: 'hash',
  unconfigured: 'hash',
  budget: 'hash',
  'budget:window': 'zset',
  'budget:pause': 'string',
  due: 'zset',
  notices: 'hash',
  derived: 'string',
  lease: 'string',
  sweep: 'hash',
  members: 'hash',
  pages: 'hash',
  missing: 'hash',
  unconfirmed: 'set',
  created: 'set',
  'walk-cursors': 'set',
  'walk-members': 'hash',
  'walk-pages': 'hash',
  quarantine: 'hash',
  aimed: 'zset',
  records: 'hash',
  names: 'hash',
};
const SUBSCRIPTION: Readonly<Record<string, KeyType>> = {
  group: 'list',
  pending: 'zset',
  entered: 'string',
  payloads: 'hash',
  backfills: 'hash',
  staged: 'list',
  seen: 'hash',
  health: 'hash',
  once: 'hash',
};
const NAMES: Readonly<Record<KeyType, string>> = {
  string: 'a string',
  hash: 'a hash',
  list: 'a list',
  set: 'a set',
  zset: 'a sorted set',
  stream: 'a stream',
};

/** The type that a key of ours has; undefined for any other key, such as BullMQ's. */
export function typeOfKey({ prefix }: Pick<Keys, 'prefix'>, key: string): KeyType | undefined {
  if (!key.startsWith(`${prefix}:`)) return undefined;
  const name = key.slice(prefix.length + 1);
  if (name === 'processes') return 'set';
  if (name.startsWith('process:')) return 'string';
  const [, subscription, rest = ''] = /^(sub:)?\{[^}]*\}:(.*)$/su.exec(name) ?? [];
  const types = subscription === undefined ? WORKSPACE : SUBSCRIPTION;
  return types[rest] ?? types[rest.split(':')[0] ?? ''];
}

/**
 * @param found the keys of a command that was answered with WRONGTYPE, with their types
 * @returns CF_STATE_UNREADABLE; null when none of our keys has another type
 */
export function wrongType(
  keys: Pick<Keys, 'prefix'>,
  found: readonly { key: string; type: string }[],
): ChangefeedError | null {
  for (const { key, type } of found) {
    const expected = typeOfKey(keys, key);
    if (expected === undefined || expected === type || type === 'none') continue;
    const what = type in NAMES ? NAMES[type as KeyType] : `a value of type ${type}`;
    return new ChangefeedError('CF_STATE_UNREADABLE', {
      key,
      message: `Redis key "${key}": expected ${NAMES[expected]}, found ${what} that another program or a person has written. RENAME "${key}" "${key}:moved" moves it away; then the feed goes on as if the value had been lost (docs/redis.md says what that means).`,
    });
  }
  return null;
}
