/** What sweeps keep in Redis: leases, checkpoints, stored records, the schema; and the commits that change it. */
import { randomBytes } from 'node:crypto';
import type { ListName } from '../crm/lists/lists.js';
import { ROWS, schemaFrom } from '../detect/schema-drift/schema.js';
import type { Redis } from '../redis/client.js';
import {
  storedPageSchema,
  type AcquireResult,
  type CommitResult,
  type StoredPage,
  type StoredSweep,
  type SweepStore,
} from '../sweep/store.js';
import { readCheckpoint, readSummary } from './checkpoint.js';
import { shortcutStore } from './shortcut-store.js';
import { ABANDON, becomeUnconfirmed, BEGIN_WALK, commit, promotion, type CommittedStep } from './commit.js';
import { readRecentEvents } from './event-log.js';
import type { Keys, WorkspaceRedis } from './keys.js';
import {
  acceptHeld,
  readMembers,
  readMembership,
  readMembershipChange,
  readPagesHolding,
  readWalkedMembers,
  unconfirmedIds,
} from './membership.js';
import { recognisedRows } from './rows.js';
import { loadScript, unexpectedAnswer, words } from './scripts.js';
import type { StateGuard } from './state-guard.js';
import { inChunks, readDigests, readRecords } from './stored-records.js';
import { readJson, readNumber, readTime } from './stored.js';

const acquireLease = loadScript('acquire-lease');
const extendLease = loadScript('extend-lease');
const forgetBaseline = loadScript('forget-baseline');

/** Short enough to be readable in a sweep's id; it differs from the tokens of all other attempts, also after Redis lost writes. */
const TOKEN_BYTES = 6;
/** Ids of one call: a script blocks Redis. */
const ABANDONED_AT_ONCE = 5_000;

/** @param guard notices that Redis went back to an earlier state. @defaultValue that is not noticed */
export function createSweepStore(
  redis: Redis,
  keys: Keys,
  workspace: string,
  guard?: Pick<StateGuard, 'mark' | 'tail' | 'epochOn'>,
): SweepStore {
  const scope = { redis, keys, workspace };
  /** By the token of a lease, the last step of its list. */
  const steps = new Map<string, string>();
  const write = async (list: ListName, step: CommittedStep): Promise<CommitResult> => {
    const result = await commit(scope, list, step, { steps, mark: guard?.mark(workspace) });
    if (result.outcome !== 'back') return result;
    // This begins a new epoch, which takes the lease.
    await guard?.tail(workspace);
    return { outcome: 'fenced', holder: null };
  };
  return {
    ...leases(scope, { steps, guard }),
    ...records(scope),
    ...shortcutStore(scope),
    load: (list) => loadSweep(scope, list),
    members: (list, page) => readMembers(scope, list, page),
    membership: (list) => readMembership(scope, list),
    walkedMembers: (list) => readWalkedMembers(scope, list),
    membershipChange: (list, pages) => readMembershipChange(scope, list, pages),
    pagesHolding: (list, wanted, except) => readPagesHolding(scope, list, { keys: wanted, except }),
    pages: (list, from, count) => readPages(scope, list, { from, count }),
    recentEvents: (sinceMs, limit) => readRecentEvents(scope, sinceMs, limit),
    commit: write,
    promotePages: (list, { token, ...pages }) => write(list, { token, writes: [], further: promotion(pages) }),
    beginWalk: (list, token) => write(list, { token, writes: [], further: BEGIN_WALK }),
    async abandon(list, token) {
      const ids = unconfirmedIds(await readMembership(scope, list));
      for (; ids.length > ABANDONED_AT_ONCE; ids.splice(0, ABANDONED_AT_ONCE)) {
        const further = becomeUnconfirmed(ids.slice(0, ABANDONED_AT_ONCE));
        const result = await write(list, { token, writes: [], further });
        if (result.outcome !== 'committed') return result;
      }
      return await write(list, { token, writes: [], further: [...becomeUnconfirmed(ids), ...ABANDON] });
    },
    async forgetBaseline(list) {
      await forgetBaseline.run(redis, [keys.sweep(workspace, list), keys.lease(workspace, list)], []);
    },
    async acceptedAt(list) {
      const hash = keys.sweep(workspace, list);
      const at = await redis.hget(hash, 'acceptedAt');
      return readTime(at, { what: 'when a person accepted held records', key: hash, field: 'acceptedAt' });
    },
    acceptHeld: (list) => acceptHeld(scope, list),
  };
}

function leases(
  { redis, keys, workspace }: WorkspaceRedis,
  { steps, guard }: { steps: Map<string, string>; guard: Pick<StateGuard, 'mark' | 'tail' | 'epochOn'> | undefined },
): Pick<SweepStore, 'acquire' | 'renew' | 'release'> {
  const lease = (list: ListName): string => keys.lease(workspace, list);
  return {
    async acquire(list, ttlMs): Promise<AcquireResult> {
      const token = randomBytes(TOKEN_BYTES).toString('hex');
      const state = keys.state(workspace);
      const touched = [lease(list), state, keys.sweep(workspace, list), keys.log(workspace)];
      const ask = async (): Promise<[string, ...string[]]> =>
        words(
          acquireLease,
          await acquireLease.run(redis, touched, [ttlMs, token, guard?.mark(workspace).newest ?? '']),
        );
      let [word, holder = '', left = '', server = ''] = await ask();
      while (word === 'back') {
        await guard?.tail(workspace);
        [word, holder = '', left = '', server = ''] = await ask();
      }
      if (word === 'acquired') {
        steps.set(token, left);
        return { outcome: 'acquired', token, epoch: (await guard?.epochOn(workspace, holder, server)) ?? 0 };
      }
      if (word !== 'held') throw unexpectedAnswer(acquireLease, word);
      return { outcome: 'held', holder, expiresInMs: Math.max(0, Number(left)) };
    },
    async renew(list, token, ttlMs) {
      const [word] = words(extendLease, await extendLease.run(redis, [lease(list)], [token, ttlMs]));
      return word === 'extended';
    },
    async release(list, token) {
      steps.delete(token);
      await extendLease.run(redis, [lease(list)], [token, 0]);
    },
  };
}

type Records = Pick<SweepStore, 'recognised' | 'digests' | 'records' | 'schema' | 'schemaSequences'>;

function records(scope: WorkspaceRedis): Records {
  const { redis, keys, workspace } = scope;
  return {
    recognised: (list, wanted) => recognisedRows(scope, list, wanted),
    digests: (list, wanted) => readDigests(scope, list, wanted),
    records: (list, wanted) => readRecords(scope, list, wanted),
    async schema(list) {
      const hash = keys.sweep(workspace, list);
      const fields = Object.entries(await redis.hgetall(hash));
      const counters = fields.filter(([name]) => name.startsWith('schema '));
      return schemaFrom(counters.map(([name, rows]) => [name.slice('schema '.length), readCount(hash, name, rows)]));
    },
    async schemaSequences(list, wanted) {
      const hash = keys.sweep(workspace, list);
      const names = wanted.map((field) => `schemaEvents ${field}`);
      const counts = await inChunks(names, (chunk) => redis.hmget(hash, ...chunk));
      return counts.map((count, index) => (count === null ? 0 : readCount(hash, names[index] ?? '', count)));
    },
  };
}

/** How a sweep recognises the pages of the last complete one. */
async function readPages(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
  { from, count }: { from: number; count: number },
): Promise<(StoredPage | null)[]> {
  const key = keys.pages(workspace, list);
  const found = await redis.hmget(key, ...Array.from({ length: count }, (_, index) => String(from + index)));
  return found.map((json, index) =>
    json === null ? null : readJson(storedPageSchema, json, { what: 'a page', key, field: String(from + index) }),
  );
}

export async function loadSweep(scope: WorkspaceRedis, list: ListName): Promise<StoredSweep> {
  const { redis, keys, workspace } = scope;
  const hash = keys.sweep(workspace, list);
  const walk = [keys.walkCursors, keys.walkMembers, keys.walkPages].map((key) => key(workspace, list));
  const [[stored = null, lastSweep = null, baselineAt = null, quiet = null], cursors, ofWalk] = await Promise.all([
    redis.hmget(hash, 'checkpoint', 'lastSweep', 'baselineAt', 'quiet'),
    redis.smembers(keys.walkCursors(workspace, list)),
    redis.exists(...walk),
  ]);
  const checkpoint = readCheckpoint(stored, scope, list);
  return {
    checkpoint,
    cursors: checkpoint === null ? [] : cursors,
    cutOff: checkpoint === null && ofWalk > 0,
    state: {
      baselineAt: baselineIn(scope, list, baselineAt),
      quiet: quiet !== null,
      lastSweep: readSummary(lastSweep, scope, list),
    },
  };
}

/** The rows of a list, as its schema tally counts them; null before the first record. */
export const ROWS_FIELD = `schema ${ROWS}`;
export function rowsIn({ keys, workspace }: WorkspaceRedis, list: ListName, rows: string | null): number | null {
  return rows === null ? null : readCount(keys.sweep(workspace, list), ROWS_FIELD, rows);
}

/** When the baseline of a list was complete. */
export function baselineIn({ keys, workspace }: WorkspaceRedis, list: ListName, at: string | null): string | null {
  const key = keys.sweep(workspace, list);
  return readTime(at, { what: 'when the baseline was complete', key, field: 'baselineAt' });
}

function readCount(hash: string, field: string, text: string): number {
  return readNumber(text, { what: 'a count', key: hash, field });
}
