/** Which problems have been reported by an event, and are not over yet: one hash per workspace. */
import type { Redis } from 'ioredis';
import { buildNotice, type NoticeDraft } from '../events/notices.js';
import type { NoticeStore } from '../observability/sentinel.js';
import { unexpectedAnswer, words } from './answer.js';
import type { Keys } from './keys.js';
import { loadScript } from './scripts.js';

const raiseNotice = loadScript('raise-notice');

/** A number no sequence reaches, to find the place of the sequence in the event's JSON. */
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
      const fields = Object.entries(await redis.hgetall(keys.notices(workspace)));
      const over = fields.filter(([name, seenMs]) => name.startsWith('open ') && Number(seenMs) < beforeMs);
      if (over.length > 0) await redis.hdel(keys.notices(workspace), ...over.map(([name]) => name));
    },
  };
}

/** The event's JSON before and after its sequence, which Redis counts. */
function halves(draft: Omit<NoticeDraft, 'sequence'>): [string, string] {
  const [before = '', after = ''] = JSON.stringify(buildNotice({ ...draft, sequence: MARK })).split(String(MARK));
  return [before, after];
}
