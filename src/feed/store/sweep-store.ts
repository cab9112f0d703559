/** The state that sweeps keep in Redis: leases, checkpoints, stored records, the schema; and the commits that change it. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ListName } from '../../crm/lists/lists.js';
import { HELD_KINDS, type Decided, type Held } from '../detect/held.js';
import { driftedField } from '../detect/schema-drift/drift.js';
import { ROWS, schemaFrom, type SchemaTally } from '../detect/schema-drift/schema.js';
import type { Redis } from '../../redis/client.js';
import {
  decisionField,
  storedPageSchema,
  type Decision,
  type AcquireResult,
  type CommitResult,
  type FencingToken,
  type FinishedPages,
  type StoredPage,
  type StoredSweep,
  learnedSchema,
  type Learned,
  SNAPSHOTS_FIELD,
} from './sweep-state.js';
import { readCheckpoint, readSummary } from './checkpoint.js';
import {
  abandonment,
  beginning,
  commit,
  promotion,
  type CommitOptions,
  type CommittedStep,
  type KeyChange,
} from './commit.js';
import type { ChangeEvent } from '../../events/types.js';
import { queryLog } from '../../log/query.js';
import type { Keys, WorkspaceKeys, WorkspaceRedis } from '../../redis/keys.js';
import { historyStore } from './history.js';
import { membershipStore, unconfirmedIds } from './membership.js';
import { privacyStore } from './privacy.js';
import { recognisedRows } from './rows.js';
import { loadScript, unexpectedAnswer, words } from '../../redis/scripts.js';
import { parseState, type StateGuard, type Steps } from '../../log/state-guard.js';
import { inChunks, readDigests, readRecords } from './stored-records.js';
import { readJson, readNumber, readTime } from '../../redis/stored.js';

const acquireLease = loadScript('acquire-lease', import.meta.url);
const extendLease = loadScript('extend-lease', import.meta.url);
const forgetBaseline = loadScript('forget-baseline', import.meta.url);

/** Readable in a sweep's id; differs from all other attempts' tokens, also after Redis lost writes. */
const TOKEN_BYTES = 6;
/** Changes of one script. More would block Redis for too long. */
const CHANGES_AT_ONCE = 500;

export type SweepStore = ReturnType<typeof createSweepStore>;

interface StoreOptions {
  /** Begins epochs. @defaultValue none begins */
  guard?: StateGuard;
  /** @defaultValue no history is kept */
  history?: CommitOptions['history'];
  /** In which days are counted. @defaultValue 'UTC' */
  timeZone?: string;
}

export function createSweepStore(
  redis: Redis,
  keys: Keys,
  workspace: string,
  { guard, history = null, timeZone = 'UTC' }: StoreOptions = {},
) {
  const scope = { redis, keys, workspace };
  const membership = membershipStore(scope);
  const own: Steps = new Map();
  const knownSteps = (): Steps => guard?.steps(workspace) ?? own;
  const sent = new Map<string, string>();
  const write = async (list: ListName, step: CommittedStep): Promise<CommitResult> => {
    const steps = knownSteps();
    const result = await commit(scope, list, step, { sent, steps, history, timeZone });
    if (result.outcome !== 'back' && result.outcome !== 'elsewhere') return result as CommitResult;
    // An epoch begins, which takes the lease.
    await (result.outcome === 'back' ? guard?.wentBack(workspace) : guard?.look(workspace));
    return { outcome: 'fenced', holder: null };
  };
  const writeAll = async (list: ListName, token: FencingToken, all: readonly KeyChange[]): Promise<CommitResult> => {
    let result: CommitResult = { outcome: 'committed', events: 0 };
    for (let at = 0; at < all.length && result.outcome === 'committed'; at += CHANGES_AT_ONCE)
      result = await write(list, { token, writes: [], further: all.slice(at, at + CHANGES_AT_ONCE) });
    return result;
  };
  return {
    ...leases(scope, { known: knownSteps, sent, guard }),
    ...records(scope),
    ...shortcuts(scope),
    ...membership,
    ...privacyStore(scope),
    ...historyStore(scope),
    load: (list: ListName) => loadSweep(scope, list),
    /** Pages of the last complete sweep by number; null where there was none. */
    pages: (list: ListName, from: number, count: number) => readPages(scope, list, { from, count }),
    /** Events of the workspace observed at or after a time, newest first; reads at most `limit` of them. */
    async recentEvents(sinceMs: number, limit: number): Promise<ChangeEvent[]> {
      const since = { workspaces: [workspace], order: 'newest', to: `${sinceMs}-0`, limit } as const;
      const events: ChangeEvent[] = [];
      for await (const entries of queryLog(scope, since)) events.push(...entries.map((entry) => entry.parse()));
      return events;
    },
    commit: write,
    promotePages: (list: ListName, { token, ...pages }: FinishedPages & { token: FencingToken }) =>
      writeAll(list, token, promotion(pages)),
    /** Before its first request: ids of `created` steps become UNCONFIRMED, as this walk is the first to show them. */
    async beginWalk(list: ListName, token: FencingToken, { recognisedOnly = false } = {}): Promise<CommitResult> {
      const kept = recognisedOnly ? [keys.records, keys.rows] : [keys.records];
      const isEmpty = (await redis.exists(...kept.map((key) => key(workspace, list)))) === 0;
      // Lost, or kept in the other form: the walk counts all rows again.
      const fields = isEmpty ? await redis.hkeys(keys.sweep(workspace, list)) : [];
      const counted = fields.filter((name) => name.startsWith('schema '));
      return await writeAll(list, token, beginning(counted));
    },
    /** Abandons the current sweep; the next one starts at the first page. The ids that it saw become UNCONFIRMED. */
    async abandon(list: ListName, token: FencingToken): Promise<CommitResult> {
      const ids = unconfirmedIds(await membership.membership(list));
      return await writeAll(list, token, abandonment(ids));
    },
    /** The next sweep takes a new one. Stored records and sequences stay; a running sweep is cut off. */
    async forgetBaseline(list: ListName): Promise<void> {
      await forgetBaseline.run(redis, [keys.sweep(workspace, list), keys.lease(workspace, list)], []);
    },
    decided: (list: ListName) => readDecided(scope, list),
  };
}

function leases(
  { redis, keys, workspace }: WorkspaceRedis,
  { known, sent, guard }: { known: () => Steps; sent: Map<string, string>; guard: StateGuard | undefined },
) {
  const lease = (list: ListName): string => keys.lease(workspace, list);
  return {
    async acquire(list: ListName, ttlMs: number): Promise<AcquireResult> {
      const token = randomBytes(TOKEN_BYTES).toString('hex');
      const sweep = keys.sweep(workspace, list);
      const touched = [lease(list), keys.state(workspace), sweep];
      for (;;) {
        const steps = known();
        const answer = await acquireLease.run(redis, touched, [ttlMs, token, steps.get(sweep) ?? '']);
        const [word, first = '', second = ''] = words(acquireLease, answer);
        if (word === 'acquired') {
          steps.set(sweep, second);
          sent.set(token, second);
          const epoch = first === '' ? 0 : parseState(keys.state(workspace), first).epoch;
          return { outcome: 'acquired', token, epoch };
        }
        if (word === 'held') return { outcome: 'held', holder: first, expiresInMs: Math.max(0, Number(second)) };
        if (word !== 'back' && word !== 'elsewhere') throw unexpectedAnswer(acquireLease, word);
        await (word === 'back' ? guard?.wentBack(workspace) : guard?.look(workspace));
        // Nothing begins without a guard.
        if (guard === undefined) steps.delete(sweep);
      }
    },
    async renew(list: ListName, token: FencingToken, ttlMs: number): Promise<boolean> {
      const [word] = words(extendLease, await extendLease.run(redis, [lease(list)], [token, ttlMs]));
      return word === 'extended';
    },
    async release(list: ListName, token: FencingToken): Promise<void> {
      sent.delete(token);
      await extendLease.run(redis, [lease(list)], [token, 0]);
    },
  };
}

function records(scope: WorkspaceRedis) {
  const { redis, keys, workspace } = scope;
  return {
    recognised: (list: ListName, wanted: readonly string[]) => recognisedRows(scope, list, wanted),
    /** Stored digests of these keys; null where there is no stored record. Cheap, because no images are read. */
    digests: (list: ListName, wanted: readonly string[]) => readDigests(scope, list, wanted),
    records: (list: ListName, wanted: readonly string[]) => readRecords(scope, list, wanted),
    async schema(list: ListName): Promise<SchemaTally> {
      const hash = keys.sweep(workspace, list);
      const fields = Object.entries(await redis.hgetall(hash));
      const counters = fields.filter(([name]) => name.startsWith('schema '));
      return schemaFrom(counters.map(([name, rows]) => [name.slice('schema '.length), readCount(hash, name, rows)]));
    },
    async schemaSequences(list: ListName, wanted: readonly string[]): Promise<number[]> {
      const hash = keys.sweep(workspace, list);
      const names = wanted.map((field) => `schemaEvents ${field}`);
      const counts = await inChunks(names, (chunk) => redis.hmget(hash, ...chunk));
      return counts.map((count, index) => (count === null ? 0 : readCount(hash, names[index] ?? '', count)));
    },
  };
}

export const LEARNED = 'learned';

function shortcuts(scope: WorkspaceRedis) {
  const { redis, keys, workspace } = scope;
  return {
    /** The ids that `created` steps have named since the last walk began. */
    created: async (list: ListName) => new Set(await redis.smembers(keys.created(workspace, list))),
    learned: async (list: ListName) => learnedIn(scope, list, await redis.hget(keys.sweep(workspace, list), LEARNED)),
    async saveLearned(list: ListName, learned: Learned): Promise<void> {
      await redis.hset(keys.sweep(workspace, list), LEARNED, JSON.stringify(learned));
    },
  };
}

export function learnedIn({ keys, workspace }: WorkspaceKeys, list: ListName, json: string | null): Learned | null {
  const at = { what: 'what shortcuts have learned', key: keys.sweep(workspace, list), field: LEARNED } as const;
  return json === null ? null : readJson(learnedSchema, json, at);
}

async function readPages(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
  { from, count }: { from: number; count: number },
): Promise<(StoredPage | null)[]> {
  const key = keys.pages(workspace, list);
  const texts = await redis.hmget(key, ...Array.from({ length: count }, (_, index) => String(from + index)));
  return texts.map((json, index) =>
    json === null ? null : readJson(storedPageSchema, json, { what: 'a page', key, field: String(from + index) }),
  );
}

export async function loadSweep(scope: WorkspaceRedis, list: ListName): Promise<StoredSweep> {
  const { redis, keys, workspace } = scope;
  const hash = keys.sweep(workspace, list);
  const walk = [keys.walkCursors, keys.walkMembers, keys.walkPages].map((key) => key(workspace, list));
  const [
    [stored = null, lastSweep = null, baselineAt = null, quiet = null, drifted = null, fresh = null],
    cursors,
    ofWalk,
  ] = await Promise.all([
    redis.hmget(hash, 'checkpoint', 'lastSweep', 'baselineAt', 'quiet', 'drifted', 'fresh'),
    redis.smembers(keys.walkCursors(workspace, list)),
    redis.exists(...walk),
  ]);
  const checkpoint = readCheckpoint(stored, scope, list);
  return {
    checkpoint,
    fresh: fresh === null ? 0 : readCount(hash, 'fresh', fresh),
    cursors: checkpoint === null ? [] : cursors,
    cutOff: checkpoint === null && ofWalk > 0,
    state: {
      baselineAt: baselineIn(scope, list, baselineAt),
      quiet: quiet !== null,
      lastSweep: readSummary(lastSweep, scope, list),
      drifted:
        drifted === null
          ? []
          : readJson(z.array(driftedField), drifted, { what: 'fields that drifted', key: hash, field: 'drifted' }),
    },
  };
}

/** The rows of a list, as its schema tally counts them; null before the first record. */
export const ROWS_FIELD = `schema ${ROWS}`;
export function rowsIn({ keys, workspace }: WorkspaceKeys, list: ListName, rows: string | null): number | null {
  return rows === null ? null : readCount(keys.sweep(workspace, list), ROWS_FIELD, rows);
}

/** Reads what a person decided about held records of each kind. `snapshots`: how many snapshots of the list were begun. */
async function readDecided({ redis, keys, workspace }: WorkspaceRedis, list: ListName) {
  const hash = keys.sweep(workspace, list);
  const fields = HELD_KINDS.flatMap((what) => [decisionField('acceptedAt', what), decisionField('discardedAt', what)]);
  const [snapshots = null, ...decisions] = await redis.hmget(hash, SNAPSHOTS_FIELD, ...fields);
  const at = { what: 'when a person accepted held records', key: hash } as const;
  const timeOf = (decision: Decision, what: Held['what']): string | null => {
    const field = decisionField(decision, what);
    return readTime(decisions[fields.indexOf(field)] ?? null, { ...at, field });
  };
  const of = (what: Held['what']): Decided => ({
    acceptedAt: timeOf('acceptedAt', what),
    discardedAt: timeOf('discardedAt', what),
  });
  return {
    creations: of('creations'),
    removals: of('removals'),
    snapshots: snapshots === null ? 0 : readCount(hash, SNAPSHOTS_FIELD, snapshots),
  };
}

/** How many records are said to be discarded. */
export function discardedIn({ keys, workspace }: WorkspaceKeys, list: ListName, count: string | null): number {
  return count === null ? 0 : readCount(keys.sweep(workspace, list), 'discarded', count);
}

export function baselineIn({ keys, workspace }: WorkspaceKeys, list: ListName, at: string | null): string | null {
  const key = keys.sweep(workspace, list);
  return readTime(at, { what: 'when the baseline was complete', key, field: 'baselineAt' });
}

function readCount(hash: string, field: string, text: string): number {
  return readNumber(text, { what: 'a count', key: hash, field });
}
