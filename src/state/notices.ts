/** The open problems, each with a published notice: one hash per workspace. */
import type { Redis } from 'ioredis';
import { buildNotice, type NoticeDraft } from '../events/notices.js';
import type { NoticeStore } from '../observability/sentinel.js';
import type { Keys } from './keys.js';
import { loadScript, unexpectedAnswer, words } from './scripts.js';
import { readNumber } from './stored.js';

const raiseNotice = loadScript('raise-notice');

/** A number that no sequence reaches; it marks where the sequence stands in the event's JSON. */
const MARK = 4_503_599_627_370_497;

export function createNoticeStore(redis: Redis, keys: Keys): NoticeStore {
  return {
    async raise(draft, nowMs) {
      const { workspace, kind, subject } = draft;
      const touched = [keys.notices(workspace), keys.log(workspace)];
      const args = [`${kind} ${subject}`, subject, nowMs, ...halves(draft)];
      const [word] = words(raiseNotice, await raiseNotice.run(redis, touched, args));
      if (word === 'raised' || word === 'known') return word;
      throw unexpectedAnswer(raiseNotice, word);
    },
    async forgetUnseen(workspace, beforeMs) {
      const key = keys.notices(workspace);
      const open = Object.entries(await redis.hgetall(key)).filter(([name]) => name.startsWith('open '));
      const over = open.filter(([field, seen]) => {
        const remedy = `HDEL ${key} "${field}" removes it; if the problem lasts, a notice is published once more.`;
        return readNumber(seen, { key, field, what: 'when a problem was last seen', remedy }) < beforeMs;
      });
      if (over.length > 0) await redis.hdel(key, ...over.map(([name]) => name));
    },
  };
}

/** The event's JSON before and after its sequence, which the script inserts. */
function halves(draft: Omit<NoticeDraft, 'sequence'>): [string, string] {
  const [before = '', after = ''] = JSON.stringify(buildNotice({ ...draft, sequence: MARK })).split(String(MARK));
  return [before, after];
}
