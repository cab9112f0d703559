/**
 * Names the key when Redis answers WRONGTYPE: a key holds a value of another type, because a person or another program wrote it. Redis itself
 * names no key. Called by the connections for every command that fails in this way, so that no store has to.
 */
import { ChangefeedError } from '../errors.js';

/**
 * @param found the keys of the command, with the types that they have; `none` where there is no such key
 * @returns CF_STATE_UNREADABLE
 */
export function wrongType(found: readonly { key: string; type: string }[]): ChangefeedError {
  const there = found.filter(({ type }) => type !== 'none');
  const [only] = there;
  const keys = there.map(({ key, type }) => `"${key}" (${type})`).join(', ');
  const what =
    only === undefined
      ? `A Redis key that begins with "${found[0]?.key ?? ''}" has another type than expected`
      : there.length === 1
        ? `Redis key "${only.key}" has another type than expected, it is a ${only.type}`
        : `One of these Redis keys has another type than expected: ${keys}`;
  const moved = there.length === 1 ? ` "${only?.key ?? ''}" "${only?.key ?? ''}:moved"` : '';
  return new ChangefeedError('CF_STATE_UNREADABLE', {
    keys: found.map(({ key }) => key),
    message: `${what}: another program or a person has written it. RENAME${moved} moves it away; then the feed goes on as if the value had been lost (docs/redis.md says what that means).`,
  });
}
