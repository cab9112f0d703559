/** Searches for what must have a job, and for jobs that are delayed for too long. Nothing is changed. */
import { scanKeys, type Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';
import { isInFuture } from '../../kit/stored-time.js';
import { entryIn, logIdOf, SEPARATOR, type GroupEntry } from './group-entry.js';

/** Keys looked at by one step of a search. */
const SCANNED = 1_000;
/** BullMQ's score of a delayed job is its time in ms times this, and a serial. */
export const SCORE_PER_MS = 4_096;

/** The head of an ordering group, or an event without an order. */
export interface HeadJob {
  workspace: string;
  group: string | null;
  entry: GroupEntry;
}

/** Without an order, `kind` and `type` are not known, and the log id may be just before the event's. */
export interface MustHaveJob extends HeadJob {
  /** It is a dead letter, which keeps its failed job. */
  held: boolean;
}

export async function readHeads(
  { redis, keys }: { redis: Redis; keys: Keys },
  { subscription, workspaces, alive }: { subscription: string; workspaces: readonly string[]; alive: () => void },
): Promise<MustHaveJob[]> {
  const withoutGroup = new Map<string, MustHaveJob>();
  for (const workspace of workspaces) {
    for await (const found of redis.zscanStream(keys.pending(subscription, workspace), { count: SCANNED })) {
      for (const { member: id, score } of scoredIn(found)) {
        const entry = { id, logId: logIdOf(score), atMs: 0, kind: 'logged', type: 'missing' } as const;
        withoutGroup.set(id, { workspace, group: null, entry, held: false });
      }
      alive();
    }
  }
  // Then nothing waits, also not behind a dead letter that is held.
  if (withoutGroup.size === 0) return [];
  const ordered = new Map<string, MustHaveJob>();
  const start = keys.group(subscription, '').length;
  const match = keys.group(subscription, '*');
  const wantedIn = new Set(workspaces);
  for await (const found of scanKeys(redis, { match, count: SCANNED })) {
    alive();
    const wanted = found.filter((key) => wantedIn.has(workspaceOf(key.slice(start))));
    const lists = await Promise.all(wanted.map((key) => redis.lrange(key, 0, -1)));
    for (const [index, key] of wanted.entries()) {
      const [head, ...behind] = lists[index] ?? [];
      if (head === undefined) continue;
      const group = key.slice(start);
      const entry = entryIn(head, key);
      ordered.set(group, { workspace: workspaceOf(group), group, entry, held: !withoutGroup.delete(entry.id) });
      for (const text of behind) withoutGroup.delete(text.split(SEPARATOR, 1)[0] ?? '');
    }
  }
  return [...ordered.values(), ...withoutGroup.values()];
}

/** A scan may show one twice. */
export async function readDelayedTooFar(
  { redis, keys }: { redis: Redis; keys: Keys },
  subscription: string,
  nowMs: number,
): Promise<string[]> {
  const found = new Set<string>();
  for await (const step of redis.zscanStream(keys.delayedJobs(subscription), { count: SCANNED })) {
    const far = scoredIn(step).flatMap(({ member: id, score }) => {
      const atMs = Number(score) / SCORE_PER_MS;
      return isInFuture(atMs, nowMs) ? { id, atMs } : [];
    });
    const waits = await Promise.all(far.map(({ id }) => redis.hget(keys.job(subscription, id), 'delay')));
    far.forEach(({ id, atMs }, index) => {
      if (isInFuture(atMs, nowMs + Number(waits[index]))) found.add(id);
    });
  }
  return [...found];
}

function scoredIn(scanned: unknown): { member: string; score: string }[] {
  const flat = scanned as string[];
  return flat.flatMap((member, at) => (at % 2 === 0 ? { member, score: flat[at + 1] ?? '' } : []));
}

/** The name of a workspace contains no slash. */
function workspaceOf(group: string): string {
  return group.split('/', 1)[0] ?? '';
}
