/** Records of which a subscription says nothing: for a time, or until a person wants to hear of them again. */
import type { MutedRecord } from './handlers/handler.js';
import { usage } from '../kit/errors.js';
import type { WorkspaceRedis } from '../redis/keys.js';

/** A person mutes them one by one, and a digest reads them all. */
const MOST = 10_000;

export type Mutes = ReturnType<typeof createMutes>;

export function createMutes({ redis, keys, workspace }: WorkspaceRedis) {
  const key = keys.muted(workspace);
  return {
    /** An earlier moment does not end what lasts longer. @param untilMs null: until it is unmuted @returns what holds now, and whether it is new */
    async mute(record: MutedRecord, untilMs: number | null, nowMs: number) {
      await redis.zremrangebyscore(key, '-inf', nowMs);
      if ((await redis.zcard(key)) >= MOST)
        throw usage(`mute: the workspace "${workspace}" has ${MOST} muted records already: unmute some of them first.`);
      const changed = (await redis.zadd(key, 'GT', 'CH', untilMs ?? '+inf', memberOf(record))) === 1;
      const until = scoreOf((await redis.zscore(key, memberOf(record))) ?? '');
      return { changed, untilMs: until === Infinity ? null : until };
    },
    /** @returns whether it was muted */
    async unmute(record: MutedRecord): Promise<boolean> {
      return (await redis.zrem(key, memberOf(record))) === 1;
    },
    async isMuted(record: MutedRecord, nowMs: number): Promise<boolean> {
      const until = await redis.zscore(key, memberOf(record));
      return until !== null && scoreOf(until) > nowMs;
    },
    /** Those that end first are first. */
    async all(nowMs: number): Promise<(MutedRecord & { untilMs: number | null })[]> {
      const flat = await redis.zrangebyscore(key, `(${nowMs}`, '+inf', 'WITHSCORES');
      return flat.flatMap((member, index) => {
        if (index % 2 === 1) return [];
        const untilMs = scoreOf(flat[index + 1] ?? '');
        return [{ ...recordOf(member), untilMs: untilMs === Infinity ? null : untilMs }];
      });
    },
  };
}

/** No name of a subscription or of a list has a space. */
function memberOf({ subscription, list, id }: MutedRecord): string {
  return `${subscription} ${list} ${id}`;
}

function recordOf(member: string): MutedRecord {
  const [subscription = '', list = '', ...id] = member.split(' ');
  return { subscription, list, id: id.join(' ') };
}

function scoreOf(text: string): number {
  return text === 'inf' ? Infinity : Number(text);
}
