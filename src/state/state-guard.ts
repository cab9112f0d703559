/**
 * Notices when a workspace's state has gone from under a running process: `FLUSHALL`, a Redis restarted without persistence, a
 * failover to an empty replica. The state carries an identity; a process remembers the one it has seen. Where the identity is
 * missing it is written again, with the time of the loss, and an event reports the loss.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { ChangefeedError } from '../errors.js';
import { buildNotice } from '../events/notices.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { words } from './answer.js';
import type { Keys } from './keys.js';
import { loadScript } from './scripts.js';

const keepState = loadScript('keep-state');

const stateSchema = z.object({
  id: z.string(),
  /** ISO 8601: when it began. */
  since: z.string(),
  /** ISO 8601: when the loss of an earlier state was noticed; null when there was none. */
  lostAt: z.string().nullable(),
});
export type WorkspaceState = z.infer<typeof stateSchema>;

export interface StateGuard {
  /** Reads the identity of the state, and writes it where it is missing. A loss is logged and reported by an event. */
  check(workspace: string): Promise<WorkspaceState>;
}

interface Known {
  id: string;
  seenAt: string;
}

export function createStateGuard(deps: { redis: Redis; keys: Keys; clock: Clock; log: Log }): StateGuard {
  const { redis, keys, clock, log } = deps;
  const known = new Map<string, Known>();
  return {
    async check(workspace) {
      const before = known.get(workspace);
      const at = isoTime(clock.now());
      const fresh: WorkspaceState = { id: randomUUID(), since: at, lostAt: before === undefined ? null : at };
      const event = before === undefined ? '' : JSON.stringify(lossNotice(workspace, { at, seenAt: before.seenAt }));
      const touched = [keys.state(workspace), keys.log(workspace)];
      const [, json = ''] = words(keepState, await keepState.run(redis, touched, [JSON.stringify(fresh), event]));
      const state = parseState(keys.state(workspace), json);
      // Several loops check at the same time: the first to see another identity says so.
      const isNews = before !== undefined && known.get(workspace)?.id !== state.id;
      known.set(workspace, { id: state.id, seenAt: at });
      if (isNews) log.error({ workspace, lastSeenAt: before.seenAt, noticedAt: at }, LOST);
      return state;
    },
  };
}

const LOST =
  'STATE LOST: Redis no longer holds what was known of this workspace; every list begins with a quiet baseline';

export async function readState(redis: Redis, keys: Keys, workspace: string): Promise<WorkspaceState | null> {
  const json = await redis.get(keys.state(workspace));
  return json === null ? null : parseState(keys.state(workspace), json);
}

function parseState(key: string, json: string): WorkspaceState {
  try {
    return stateSchema.parse(JSON.parse(json));
  } catch (cause) {
    throw new ChangefeedError('CF_STATE_UNREADABLE', {
      key,
      cause,
      message: `The value of the Redis key "${key}" is not what Changefeed writes there. Delete the key to go on.`,
    });
  }
}

function lossNotice(workspace: string, { at, seenAt }: { at: string; seenAt: string }) {
  const message =
    `The state of workspace "${workspace}" was lost in Redis between ${seenAt} and ${at}. Every list begins with a quiet ` +
    `baseline: changes made in between are not reported. Check the persistence of Redis.`;
  const notice = { severity: 'error', message, since: seenAt, list: null } as const;
  return buildNotice({ ...notice, workspace, kind: 'state.lost', subject: 'workspace', at, sequence: 1 });
}
