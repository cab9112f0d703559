/** The rights of a user that docs/redis.md lists, for the keys of tests. */
import { readFileSync } from 'node:fs';

export function documentedRights(): string[] {
  const page = readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8');
  const [, rights = ''] = /^ACL SETUSER changefeed (.*)$/m.exec(page) ?? [];
  return rights.split(' ').map((right) => (right === '~changefeed:*' ? '~test-*' : right));
}
