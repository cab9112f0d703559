/**
 * Erases entries of a log, or of a history. XDEL alone hides them: their bytes stay in the blocks of the stream, and so in the files of Redis, until
 * all entries of the block are gone. So the stream is copied without them, and the copy takes its place. Ids, and the end of the stream, stay.
 */
import { randomBytes } from 'node:crypto';
import type { WorkspaceRedis } from '../redis/keys.js';
import { loadScript, words } from '../redis/scripts.js';

const script = loadScript('copy-log', import.meta.url);

const DELETED_AT_ONCE = 500;
/** Some milliseconds of Redis; memos may have 1 MB. */
const COPIED_AT_ONCE = 100;
const ABANDONED_MS = 60_000;

/** @returns how many of them there were */
export async function eraseEntries(
  { redis, keys, workspace }: WorkspaceRedis,
  stream: string,
  ids: readonly string[],
): Promise<number> {
  let erased = 0;
  for (let at = 0; at < ids.length; at += DELETED_AT_ONCE)
    erased += await redis.xdel(stream, ...ids.slice(at, at + DELETED_AT_ONCE));
  if (erased === 0) return 0;
  for (;;) {
    const copy = keys.logCopy(workspace, randomBytes(6).toString('hex'));
    let [word, last] = ['copied', '-'];
    while (word === 'copied') {
      const answer = await script.run(redis, [stream, copy], [last, COPIED_AT_ONCE, ABANDONED_MS]);
      [word, last = ''] = words(script, answer);
      last = `(${last}`;
    }
    if (word === 'replaced') return erased;
  }
}
