/** The open problems, each with a published notice: one hash per workspace. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { buildNotice, type NoticeDraft } from '../events/notices.js';
import { PROBLEM_KINDS } from '../events/kinds.js';
import type { Redis } from '../redis/client.js';
import { isoTime } from '../kit/clock.js';
import { isInFuture } from '../kit/stored-time.js';
import type { Keys } from '../redis/keys.js';
import { loadScript, unexpectedAnswer, words } from '../redis/scripts.js';
import { readJson, readNumber } from '../redis/stored.js';

const raiseNotice = loadScript('raise-notice', import.meta.url);
const endNotice = loadScript('end-notice', import.meta.url);

/** A number that no sequence reaches; it marks where the sequence stands in the event's JSON. */
const MARK = 4_503_599_627_370_497;

const factsSchema = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  list: z.string().nullable(),
  since: z.iso.datetime(),
});
/** Its sequence is given by the script. */
type UnnumberedNotice = Omit<NoticeDraft, 'sequence'>;

/** The facts of a problem that the event about its end repeats. */
type ProblemFacts = z.infer<typeof factsSchema>;

export type NoticeStore = ReturnType<typeof createNoticeStore>;

/** @param guard notices the loss of a notice. @defaultValue none is noticed */
export function createNoticeStore(
  redis: Redis,
  keys: Keys,
  guard?: { steps: (workspace: string) => Map<string, string> },
) {
  return {
    /** Reports a problem by an event, unless it was already reported and has lasted since then. */
    async raise(draft: UnnumberedNotice, nowMs: number): Promise<'raised' | 'known'> {
      const { workspace } = draft;
      const touched = [keys.notices, keys.log, keys.state].map((key) => key(workspace));
      const steps = guard?.steps(workspace);
      const args = [...noticeArguments(draft, nowMs), randomUUID()];
      const [word, step = ''] = words(raiseNotice, await raiseNotice.run(redis, touched, args));
      if (word === 'raised') steps?.set(keys.notices(workspace), step);
      // It is raised when the problem is looked at next.
      if (word === 'elsewhere') return 'known';
      if (word === 'raised' || word === 'known') return word;
      throw unexpectedAnswer(raiseNotice, word);
    },
    /** Problems that no process has seen since then, each with an event. One that comes back is reported again. */
    async endUnseen(workspace: string, { sinceMs, nowMs }: { sinceMs: number; nowMs: number }): Promise<void> {
      const key = keys.notices(workspace);
      const fields = await redis.hgetall(key);
      for (const [field, seen] of Object.entries(fields)) {
        if (!field.startsWith('open ')) continue;
        const seenMs = readNumber(seen, { what: 'when a problem was last seen', key, field });
        if (seenMs >= sinceMs && !isInFuture(seenMs, nowMs)) continue;
        const problem = field.slice('open '.length);
        const over = endOf(problem, readFacts(key, problem, fields), { workspace, nowMs });
        // Nothing can be reported of an entry that is damaged.
        if (over === null) await redis.hdel(key, field, `facts ${problem}`);
        else {
          const steps = guard?.steps(workspace);
          const args = [problem, over.subject, seen, ...halves(over), randomUUID()];
          const touched = [key, keys.log(workspace), keys.state(workspace)];
          const [word, step = ''] = words(endNotice, await endNotice.run(redis, touched, args));
          if (word === 'over') steps?.set(key, step);
        }
      }
    },
  };
}

/** The arguments that a script needs to publish a problem (redis/lua/publish-notice.lua). */
export function noticeArguments(draft: UnnumberedNotice, nowMs: number): (string | number)[] {
  const { kind, subject, severity, list, at } = draft;
  const facts: ProblemFacts = { severity, list, since: draft.since ?? at };
  return [`${kind} ${subject}`, subject, nowMs, ...halves(draft), JSON.stringify(facts)];
}

function readFacts(key: string, problem: string, fields: Readonly<Record<string, string>>): ProblemFacts | null {
  const field = `facts ${problem}`;
  const json = fields[field];
  return json === undefined ? null : readJson(factsSchema, json, { what: 'facts of a problem', key, field });
}

/** @param name `<kind> <subject>` */
function endOf(
  name: string,
  facts: ProblemFacts | null,
  { workspace, nowMs }: { workspace: string; nowMs: number },
): UnnumberedNotice | null {
  const at = name.indexOf(' ');
  const subject = name.slice(at + 1);
  const problem = PROBLEM_KINDS.find((kind) => kind === name.slice(0, at));
  if (facts === null || problem === undefined) return null;
  const place = subject === 'workspace' ? '' : `, ${subject.replace(':', ' ')}`;
  const forMs = Math.max(0, nowMs - Date.parse(facts.since));
  const over = { workspace, place, problem, title: `problem.${problem}`, forMs };
  return { ...facts, workspace, kind: 'problem.over', problem, subject, at: isoTime(nowMs), facts: over };
}

/** The event's JSON before and after its sequence, which the script inserts, and its type. */
function halves(draft: UnnumberedNotice): [before: string, after: string, type: string] {
  const event = buildNotice({ ...draft, sequence: MARK });
  const [before = '', after = ''] = JSON.stringify(event).split(String(MARK));
  return [before, after, event.type];
}
