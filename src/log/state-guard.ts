/**
 * Binds the state of a workspace to the Redis server that has it. Another server (another run id: a restart, a failover, a restored backup) begins
 * a new epoch, in which sequences are higher than all that were given out before, because what was written last may be lost. Until then, scripts
 * write nothing to the log. A clean restart looks the same as one that lost something, so a loss is reported only where there is evidence: the
 * state is gone or an earlier one, a step that this process knows is gone, or a subscription's offset lies above the end of the log.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from '../redis/client.js';
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import { ChangefeedError } from '../kit/errors.js';
import { epochAfter, epochOfSequence, firstSequenceOf } from '../events/envelope.js';
import { BEFORE_ALL, compareLogIds, idAfter, timeOfLogId } from '../events/log-id.js';
import { buildNotice } from '../events/notices.js';
import { isoTime, type Clock } from '../kit/clock.js';
import type { Log } from '../kit/log.js';
import { packageVersion } from '../kit/package-files.js';
import type { Keys, WorkspaceRedis } from '../redis/keys.js';
import { entryArguments } from './entry.js';
import { noticeArguments } from './notices.js';
import { loadScript, words } from '../redis/scripts.js';
import { jsonOrNull, readJson, unreadable } from '../redis/stored.js';

const readStateScript = loadScript('read-state', import.meta.url);
const beginEpoch = loadScript('begin-epoch', import.meta.url);

/** The version of what is stored, in any key of a workspace. Increase it when another version would misread it. */
const FORMAT = 5;

const stateSchema = z.object({
  format: z.number(),
  id: z.string(),
  /** ISO 8601: when it began. */
  since: z.iso.datetime(),
  /** ISO 8601: when the loss of an earlier state was noticed; null if none was lost. */
  lostAt: z.iso.datetime().nullable(),
  /** Which sequences are given out now. @defaultValue 0 */
  epoch: z.number().int().exactOptional(),
  /** ISO 8601: when the epoch began. Lists that were swept last before then are due. */
  epochSince: z.iso.datetime().exactOptional(),
  server: z.string().exactOptional(),
  /** When Redis last went back: what was written from `from` on may be gone; `to`: when noticed; ISO 8601. */
  rewound: z.object({ from: z.iso.datetime(), to: z.iso.datetime() }).exactOptional(),
});
export type WorkspaceState = z.infer<typeof stateSchema> & { epoch: number };

export type StateGuard = ReturnType<typeof createStateGuard>;

/** The last step that this process knows of in the epoch, by Redis key: of each list's sweeps, and of notices and timers. */
export type Steps = Map<string, string>;

interface GuardDeps {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  log: Log;
  /** @defaultValue their leases of the earlier epoch end by themselves */
  listsOf?: (workspace: string) => readonly ListName[];
}

export function createStateGuard(deps: GuardDeps) {
  const guards = new Map<string, WorkspaceGuard>();
  const of = (workspace: string): WorkspaceGuard => {
    const guard = guards.get(workspace) ?? new WorkspaceGuard(workspace, deps);
    guards.set(workspace, guard);
    return guard;
  };
  return {
    /** Reads the state, and writes one if it is missing. On another server, an epoch begins. */
    async check(workspace: string): Promise<WorkspaceState> {
      const state = await of(workspace).look({ creates: true });
      // Not reached: it was created.
      return state ?? freshState(null, deps.clock.now());
    },
    /** Looks as `check` does, but writes no state where there is none. */
    look: (workspace: string) => of(workspace).look({ creates: false }),
    /** Does what `look` does, after a script has found an earlier step than one that this process knows. */
    wentBack: (workspace: string) => of(workspace).look({ creates: false, isSuspect: true }),
    /** Begins an epoch if this offset lies above the end of the log and is still stored: it would skip what is logged now. */
    checkOffset: (workspace: string, offset: string) => of(workspace).look({ creates: false, offset }),
    /** Another map in each epoch. */
    steps: (workspace: string) => of(workspace).steps,
    state: (workspace: string) => of(workspace).state,
    /** Everything of it is erased: another one of that name has lost nothing. */
    forget: (workspace: string): void => void guards.delete(workspace),
  };
}

interface Look {
  creates: boolean;
  /** Steps may be gone. */
  isSuspect?: boolean;
  offset?: string;
}

interface SeenState {
  /** The state as it is stored; `''` for none. */
  json: string;
  state: WorkspaceState | null;
  server: string;
  last: string;
}

class WorkspaceGuard {
  readonly #deps: GuardDeps;
  readonly #scope: WorkspaceRedis;
  #known: { state: WorkspaceState; seenAt: string } | null = null;
  steps: Steps = new Map();

  constructor(workspace: string, deps: GuardDeps) {
    this.#deps = deps;
    this.#scope = { ...deps, workspace };
  }

  get state(): WorkspaceState | null {
    return this.#known?.state ?? null;
  }

  async look({ creates, isSuspect = false, offset = BEFORE_ALL }: Look): Promise<WorkspaceState | null> {
    for (;;) {
      const seen = await this.#read();
      const { state, server, last } = seen;
      if (state === null && !creates) {
        // Forgotten, or lost, which the next check reports. Its steps are no evidence any more.
        this.steps = new Map();
        return null;
      }
      const isLost = state !== null && (await this.#isLost(state, isSuspect || state.server !== server));
      const isBound = state?.server === server && !isLost;
      // A reader may have read its offset before Redis went back: one that is not stored any more skips nothing.
      if (isBound && (compareLogIds(offset, last) <= 0 || compareLogIds(await this.#furthest(), last) <= 0)) {
        this.#adopt(state);
        return state;
      }
      // One of several processes begins the epoch; each reads it then.
      await this.#begin(seen, { isLost, offset });
    }
  }

  /** Whether it lacks what this process knows of, and nobody has said so yet. */
  async #isLost({ id, epoch, epochSince, rewound }: WorkspaceState, isSuspect: boolean): Promise<boolean> {
    if (this.#known === null) return false;
    const { state } = this.#known;
    if (epoch < state.epoch || (epoch === state.epoch && id !== state.id)) return true;
    const isSaid = epoch > state.epoch && rewound?.to === epochSince;
    if (id !== state.id || isSaid) return false;
    return (isSuspect || epoch > state.epoch) && (await this.#lacksSteps());
  }

  /** Compares steps by their ids: another process may have committed as many since, in their place. */
  async #lacksSteps(): Promise<boolean> {
    const { redis } = this.#scope;
    for (const [key, step] of this.steps) {
      const [last, kept] = await redis.hmget(key, 'step', 'steps');
      if (isStepGone(step, { last: last ?? '', kept: kept?.split('\n') ?? [] })) return true;
    }
    return false;
  }

  #adopt(state: WorkspaceState): void {
    const { log, clock } = this.#deps;
    const { workspace } = this.#scope;
    const previous = this.#known;
    const noticedAt = isoTime(clock.now());
    this.#known = { state, seenAt: noticedAt };
    if (previous === null || previous.state.epoch === state.epoch) return;
    this.steps = new Map();
    if (state.id !== previous.state.id) log.error({ workspace, lastSeenAt: previous.seenAt, noticedAt }, LOST);
    else if (state.rewound?.to !== previous.state.rewound?.to) log.error({ workspace, ...state.rewound }, REWOUND);
    else log.info({ workspace, epoch: state.epoch }, ANOTHER_SERVER);
  }

  async #read(): Promise<SeenState> {
    const { redis, keys, workspace } = this.#scope;
    const key = keys.state(workspace);
    const answer = await readStateScript.run(redis, [key, keys.log(workspace)], []);
    const [json, server = '', last = ''] = words(readStateScript, answer);
    return { json, state: json === '' ? null : parseState(key, json), server, last: last === '' ? BEFORE_ALL : last };
  }

  async #begin(
    { json, state, server, last }: SeenState,
    { isLost, offset }: { isLost: boolean; offset: string },
  ): Promise<void> {
    const { clock, log, listsOf = () => [] } = this.#deps;
    const { redis, keys, workspace } = this.#scope;
    const nowMs = clock.now();
    const to = isoTime(nowMs);
    const furthest = laterOf(await this.#furthest(), offset);
    const isCut = compareLogIds(furthest, last) > 0;
    const base = state ?? freshState(this.#known?.state ?? null, nowMs);
    const stored = await this.#storedEpoch();
    const epoch = epochAfter(Math.max(base.epoch, this.#known?.state.epoch ?? 0, stored), nowMs);
    const next: WorkspaceState = { ...base, epoch, epochSince: to, server };
    // Where the state is gone and was known, its loss is what is reported.
    if (state !== null && (isLost || isCut)) next.rewound = { from: timeBefore(last, { to, state }), to };
    const loss = state === null && this.#known !== null ? lossNotice(workspace, next, this.#known.seenAt) : null;
    const args = [json, JSON.stringify(next), isCut ? idAfter(furthest) : '', ...entryArguments(loss)];
    const notice = next.rewound?.to === to ? rewoundArguments(workspace, next.rewound, nowMs) : [];
    const touched = [keys.state, keys.notices, keys.log].map((key) => key(workspace));
    const leases = listsOf(workspace).map((list) => keys.lease(workspace, list));
    const [word] = words(beginEpoch, await beginEpoch.run(redis, [...touched, ...leases], [...args, ...notice]));
    if (word !== 'begun' || this.#known !== null) return;
    if (state === null && stored === 0) log.info({ workspace, firstSequence: firstSequenceOf(epoch) }, NOTHING_STORED);
    if (state?.server !== undefined) log.info({ workspace, epoch }, ANOTHER_SERVER);
  }

  /**
   * The highest epoch in which something is stored, also where the state is gone: the clock may have been ahead when it began. 0: none is known.
   * What cannot be read counts as nothing; who needs it says what is wrong with it.
   */
  async #storedEpoch(): Promise<number> {
    const { listsOf = () => [] } = this.#deps;
    const { redis, keys, workspace } = this.#scope;
    const sweeps = listsOf(workspace).map((list) =>
      redis.hmget(keys.sweep(workspace, list), 'lastSweep', 'checkpoint'),
    );
    const [notices, ...ofLists] = await Promise.all([redis.hgetall(keys.notices(workspace)), ...sweeps]);
    const swept = ofLists.flat().map((json) => epochSchema.safeParse(jsonOrNull(json)).data?.epoch ?? 0);
    const counts = Object.entries(notices).filter(([field]) => field.startsWith('count '));
    const noticed = counts.map(([, count]) => epochOfSequence(Number(count)));
    return Math.max(0, ...[...swept, ...noticed].filter((epoch) => Number.isSafeInteger(firstSequenceOf(epoch + 1))));
  }

  /** Stored by a reader, entered from, or handed out to a consumer. Each may be on another server than the log. */
  async #furthest(): Promise<string> {
    const { redis, keys, workspace } = this.#scope;
    const readers = await redis.hkeys(keys.readers(workspace));
    const handedOut = async (subscription: string): Promise<string | null> =>
      (await redis.hget(keys.pulled(subscription), `in ${workspace}`))?.split(' ')[1] ?? null;
    const each = readers.flatMap((subscription) => [
      redis.hget(keys.offsets(subscription), workspace),
      redis.get(keys.entered(subscription, workspace)),
      handedOut(subscription),
    ]);
    const offsets = (await Promise.all(each)).flatMap((offset) => (offset === null ? [] : [offset]));
    return offsets.reduce(laterOf, BEFORE_ALL);
  }
}

const laterOf = (one: string, other: string): string => (compareLogIds(one, other) > 0 ? one : other);

/** Reads the number as redis/lua/step.lua does. */
export function numberOfStep(step: string): number {
  return Number(/^(\d+) /u.exec(step)?.[1] ?? 0);
}

/** Decides as redis/lua/step.lua does: nothing is known of a step that is older than those kept. */
function isStepGone(step: string, { last, kept }: { last: string; kept: readonly string[] }): boolean {
  const number = numberOfStep(step);
  if (numberOfStep(last) < number) return true;
  const oldest = kept.at(-1);
  return oldest !== undefined && number >= numberOfStep(oldest) && number > 0 && !kept.includes(step);
}

/** When the last entry was logged. Unknown where the clock of an earlier server was ahead. */
function timeBefore(last: string, { to, state: { since } }: { to: string; state: WorkspaceState }): string {
  const from = last === BEFORE_ALL ? since : isoTime(timeOfLogId(last));
  return from < to ? from : to;
}

function rewoundArguments(workspace: string, rewound: { from: string; to: string }, nowMs: number) {
  const { to: at } = rewound;
  const facts = { workspace, ...rewound };
  const problem = { kind: 'state.rewound', subject: 'workspace', severity: 'error', list: null, since: at } as const;
  return noticeArguments({ ...problem, workspace, facts, at }, nowMs);
}

/** @param before the state that was lost; null: none is known */
function freshState(before: WorkspaceState | null, nowMs: number): WorkspaceState {
  const at = isoTime(nowMs);
  return { format: FORMAT, id: randomUUID(), since: at, lostAt: before === null ? null : at, epoch: 0 };
}

const LOST =
  'STATE LOST: Redis no longer has the state of this workspace; every list starts with a baseline without events';
const REWOUND =
  'REDIS WENT BACK to an earlier state of this workspace: events are repeated, and every list is swept again';
const NOTHING_STORED =
  'no earlier state is stored: sequences begin with the present time. Receivers that have higher ones, from a clock that was ahead, ignore ' +
  'new events: empty their copies, then run `changefeed snapshot <subscription>`';
const ANOTHER_SERVER =
  'another Redis server, or one that was restarted: sequences go on higher, and every list is swept. If it was restored from a backup, run ' +
  '`changefeed snapshot <subscription>` for each receiver that keeps a copy';

export async function readState(redis: Redis, keys: Keys, workspace: string): Promise<WorkspaceState | null> {
  const json = await redis.get(keys.state(workspace));
  return json === null ? null : parseState(keys.state(workspace), json);
}

/** Refuses a state that would be misread. @throws ChangefeedError CF_STATE_FORMAT */
export async function refuseOtherFormat(redis: Redis, keys: Keys, workspaces: readonly string[]): Promise<void> {
  const states = await Promise.all(workspaces.map((workspace) => redis.get(keys.state(workspace))));
  states.forEach((json, index) => refuseOther(keys.state(workspaces[index] ?? ''), json));
}

const epochSchema = z.object({ epoch: z.number() });
const formatSchema = z.object({ format: z.number() });

/** A value that cannot be read has no format; who needs it says what is wrong with it. */
function refuseOther(key: string, json: string | null): void {
  const { data } = formatSchema.safeParse(jsonOrNull(json));
  if (data === undefined || data.format === FORMAT) return;
  throw new ChangefeedError('CF_STATE_FORMAT', {
    key,
    message:
      `The state in Redis has format ${data.format} (key "${key}"), and version ${packageVersion()} reads format ${FORMAT} only: ` +
      `run the release that wrote it, or set another redis.prefix; nothing was changed.`,
  });
}

export function parseState(key: string, json: string): WorkspaceState {
  refuseOther(key, json);
  const at = { what: 'the id of a state', key } as const;
  // Bytes that are no text are read as something else, so the state would never be as it was read.
  if (json.includes('\ufffd')) throw unreadable(at, 'bytes that are no text');
  return { epoch: 0, ...readJson(stateSchema, json, at) };
}

function lossNotice(workspace: string, { since: at, epoch }: WorkspaceState, seenAt: string) {
  const facts = { workspace, seenAt, at };
  const notice = { severity: 'error', facts, since: seenAt, list: null } as const;
  // Before those of the epoch, which are counted in Redis.
  const sequence = firstSequenceOf(epoch) - 1;
  return buildNotice({ ...notice, workspace, kind: 'state.lost', subject: 'workspace', at, sequence });
}
