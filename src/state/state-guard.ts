/**
 * Detects that a workspace's state was lost while the process runs: `FLUSHALL`, a Redis restarted without persistence, a failover
 * to an empty replica. The state has an id, and a process remembers the id that it has seen. If the id is missing, a new one is
 * written with the time of the loss, and an event reports the loss.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { ChangefeedError } from '../errors.js';
import { buildNotice } from '../events/notices.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { packageVersion } from '../runtime/package-version.js';
import type { Keys } from './keys.js';
import { loadScript, words } from './scripts.js';
import { readJson } from './stored.js';

const keepState = loadScript('keep-state');

/** Increase it when an earlier release would misread what this one writes, in any key of a workspace. */
const FORMAT = 2;

const stateSchema = z.object({
  /** The format of all keys of the workspace. */
  format: z.number().exactOptional(),
  id: z.string(),
  /** ISO 8601: when it began. */
  since: z.iso.datetime(),
  /** ISO 8601: when the loss of an earlier state was noticed; null if none was lost. */
  lostAt: z.iso.datetime().nullable(),
});
export type WorkspaceState = z.infer<typeof stateSchema>;

export interface StateGuard {
  /** Reads the id of the state, and writes one if it is missing. A loss is logged and reported by an event. */
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
      const fresh: WorkspaceState = {
        format: FORMAT,
        id: randomUUID(),
        since: at,
        lostAt: before === undefined ? null : at,
      };
      const event = before === undefined ? '' : JSON.stringify(lossNotice(workspace, { at, seenAt: before.seenAt }));
      const touched = [keys.state(workspace), keys.log(workspace)];
      const [, json = ''] = words(keepState, await keepState.run(redis, touched, [JSON.stringify(fresh), event]));
      const state = parseState(keys.state(workspace), json);
      // Several loops check at the same time: the first one that sees another id logs the loss.
      const isNews = before !== undefined && known.get(workspace)?.id !== state.id;
      known.set(workspace, { id: state.id, seenAt: at });
      if (isNews) log.error({ workspace, lastSeenAt: before.seenAt, noticedAt: at }, LOST);
      return state;
    },
  };
}

const LOST =
  'STATE LOST: Redis no longer has the state of this workspace; every list starts with a baseline without events';

export async function readState(redis: Redis, keys: Keys, workspace: string): Promise<WorkspaceState | null> {
  const json = await redis.get(keys.state(workspace));
  return json === null ? null : parseState(keys.state(workspace), json);
}

/**
 * Called before anything is read or written: an earlier release must not work on what it would misread.
 * @throws ChangefeedError CF_STATE_NEWER
 */
export async function refuseNewerState(redis: Redis, keys: Keys, workspaces: readonly string[]): Promise<void> {
  const found = await Promise.all(workspaces.map((workspace) => redis.get(keys.state(workspace))));
  found.forEach((json, index) => refuseNewer(keys.state(workspaces[index] ?? ''), json));
}

const formatSchema = z.object({ format: z.number() });

/** A value that cannot be read is not newer; who needs it says what is wrong with it. */
function refuseNewer(key: string, json: string | null): void {
  const { data } = formatSchema.safeParse(jsonOrNull(json));
  if (data === undefined || data.format <= FORMAT) return;
  throw new ChangefeedError('CF_STATE_NEWER', {
    key,
    message:
      `A newer release of Changefeed wrote the state in Redis: key "${key}" has format ${data.format}, and version ${packageVersion()} ` +
      `reads formats up to ${FORMAT}. Nothing was changed. Run the newer release, restore a backup from before it, or set another redis.prefix.`,
  });
}

function jsonOrNull(json: string | null): unknown {
  try {
    return JSON.parse(json ?? 'null') as unknown;
  } catch {
    return null;
  }
}

function parseState(key: string, json: string): WorkspaceState {
  refuseNewer(key, json);
  const remedy = `DEL ${key} removes it; the next sweep writes a new one.`;
  return readJson(stateSchema, json, { key, what: 'the id of a state', remedy });
}

function lossNotice(workspace: string, { at, seenAt }: { at: string; seenAt: string }) {
  const message =
    `The state of workspace "${workspace}" was lost in Redis between ${seenAt} and ${at}. Every list starts with a baseline ` +
    `without events: changes made in between are not reported. Check the persistence of Redis.`;
  const notice = { severity: 'error', message, since: seenAt, list: null } as const;
  return buildNotice({ ...notice, workspace, kind: 'state.lost', subject: 'workspace', at, sequence: 1 });
}
