/**
 * Erases entries of the log. XDEL alone hides them: their bytes stay in the blocks of the stream, and so in the files of Redis, until
 * all entries of the block are gone. So the log is copied without them, and the copy takes its place. Ids, and the end of the log, stay.
 */
import { randomBytes } from 'node:crypto';
import type { Redis } from '../redis/client.js';
import type { Keys } from '../redis/keys.js';
import { loadScript, words } from '../redis/scripts.js';

const script = loadScript('copy-log', import.meta.url);

const DELETED_AT_ONCE = 500;
/** Some milliseconds of Redis; memos may have 1 MB. */
const COPIED_AT_ONCE = 100;
const ABANDONED_MS = 60_000;

/** @returns how many of them there were */
export async function eraseEntries(
  { redis, keys }: { redis: Redis; keys: Keys },
  workspace: string,
  logIds: readonly string[],
): Promise<number> {
  const log = keys.log(workspace);
  let erased = 0;
  for (let at = 0; at < logIds.length; at += DELETED_AT_ONCE)
    erased += await redis.xdel(log, ...logIds.slice(at, at + DELETED_AT_ONCE));
  if (erased === 0) return 0;
  for (;;) {
    const copy = keys.logCopy(workspace, randomBytes(6).toString('hex'));
    let [word, last] = ['copied', '-'];
    while (word === 'copied') {
      const answer = await script.run(redis, [log, copy], [last, COPIED_AT_ONCE, ABANDONED_MS]);
      [word, last = ''] = words(script, answer);
      last = `(${last}`;
    }
    if (word === 'replaced') return erased;
  }
}
