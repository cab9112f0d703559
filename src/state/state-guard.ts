/**
 * Notices what happens to a workspace's state while the process runs.
 *
 * - It is lost: `FLUSHALL`, a Redis restarted without persistence, a failover to an empty replica. The state has an id, and a process remembers
 *   the id that it has seen. If the id is missing, a new state is written with the time of the loss.
 * - Redis goes back to an earlier state: a failover to a replica that lagged, an append-only file without its end, a restored backup. The
 *   log lacks the newest entry that the process knows (log-mark.ts), or a list the last step (lua/commit.lua). Then a commit writes nothing.
 *
 * Either begins a new epoch, in which sequences are higher than all that were given out before. One process begins it, by compare-and-set; the
 * others find it in the state. Leases of the epoch before end. Before it adopts the epoch, each process puts
 * back what it committed lately (put-back.ts).
 *
 * A process may know less than another, or none may run that knows anything. So another server than before (a restart, a failover) begins an epoch
 * too, before the first list is swept on it. Nothing is reported and nothing ends, because probably nothing was lost.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from '../redis/client.js';
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import { ChangefeedError } from '../errors.js';
import { epochAfter, firstSequenceOf } from '../events/epoch.js';
import { BEFORE_ALL, timeOfLogId } from '../events/log-id.js';
import { buildNotice, rewoundMessage } from '../events/notices.js';
import { isoTime, type Clock } from '../runtime/clock.js';
import type { Log } from '../runtime/log.js';
import { packageVersion } from '../runtime/package-version.js';
import type { Keys, WorkspaceRedis } from './keys.js';
import { LogMark } from './log-mark.js';
import { noticeArguments } from './notices.js';
import { lostSteps, putBack } from './put-back.js';
import { loadScript, words } from './scripts.js';
import { readJson, unreadable } from './stored.js';

const keepState = loadScript('keep-state');
const startEpoch = loadScript('start-epoch');

/** Increase it when an earlier release would misread what this one writes, in any key of a workspace. */
const FORMAT = 2;

const rewound = z.object({ from: z.iso.datetime(), to: z.iso.datetime() });
export type Rewound = z.infer<typeof rewound>;

const stateSchema = z.object({
  /** The format of all keys of the workspace. */
  format: z.number().exactOptional(),
  id: z.string(),
  /** ISO 8601: when it began. */
  since: z.iso.datetime(),
  /** ISO 8601: when the loss of an earlier state was noticed; null if none was lost. */
  lostAt: z.iso.datetime().nullable(),
  /** Raised at each loss, and each time that Redis went back to an earlier state. Absent: none was noticed yet. */
  epoch: z.number().int().exactOptional(),
  /** The server that had the state when a lease was last got. */
  server: z.string().exactOptional(),
  /** The last time that Redis went back: what was written from `from` on may be gone, and `to` is when it was noticed; ISO 8601. */
  rewound: rewound.exactOptional(),
});
export type WorkspaceState = z.infer<typeof stateSchema>;

export type StateGuard = ReturnType<typeof createStateGuard>;

interface Known {
  state: WorkspaceState;
  seenAt: string;
}

interface GuardDeps {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  log: Log;
  /** @defaultValue their leases of the earlier state end by themselves */
  listsOf?: (workspace: string) => readonly ListName[];
  /** Redis may have lost writes when it is started again or another server takes over; a private one has not. @defaultValue true */
  forgets?: boolean;
}

export function createStateGuard(deps: GuardDeps) {
  const guards = new Map<string, WorkspaceGuard>();
  const of = (workspace: string): WorkspaceGuard => {
    const found = guards.get(workspace) ?? new WorkspaceGuard(workspace, deps);
    guards.set(workspace, found);
    return found;
  };
  return {
    /** Reads the state, and writes one if it is missing. A loss, and that Redis went back, is logged and reported by an event. */
    async check(workspace: string): Promise<WorkspaceState> {
      const { state } = await of(workspace).look({ creates: true });
      // Not reached: it was created.
      return state ?? freshState(null, deps.clock.now());
    },
    /** The newest entry of the log. Notices as `check` does that Redis went back to an earlier state; writes no state. */
    async tail(workspace: string): Promise<string> {
      const { newest } = await of(workspace).look({ creates: false });
      return newest === '' ? BEFORE_ALL : newest;
    },
    /** What this process knows of the log. Another one after Redis went back. */
    mark: (workspace: string) => of(workspace).mark,
    /** The state as it was last seen; null before. */
    state: (workspace: string) => of(workspace).state,
    /** The epoch of what is committed on this server. @param json the state as it is stored; `''` for none */
    epochOn: (workspace: string, json: string, server: string) => of(workspace).epochOn(json, server),
    /** Starts a new epoch because a person says that Redis was set back. Null: the workspace has no state. */
    startEpoch: (workspace: string) => of(workspace).startEpoch(),
  };
}

/** The state and the log as they were read. */
interface Seen {
  word: string;
  /** As it is stored. */
  json: string;
  /** Null: there is none. */
  state: WorkspaceState | null;
  /** The newest entry of the log; `''` where there is none. */
  newest: string;
}

class WorkspaceGuard {
  readonly #deps: GuardDeps;
  readonly #scope: WorkspaceRedis;
  #known: Known | null = null;
  #recovering: Promise<void> | undefined;
  mark = new LogMark();

  constructor(workspace: string, deps: GuardDeps) {
    this.#deps = deps;
    this.#scope = { ...deps, workspace };
  }

  get state(): WorkspaceState | null {
    return this.#known?.state ?? null;
  }

  async look({ creates }: { creates: boolean }): Promise<Seen> {
    for (;;) {
      await this.#recovering;
      const [known, mark] = [this.#known, this.mark];
      const seen = await this.#read({ creates });
      const { state } = seen;
      // While this look waited, another one has found what there was to find.
      if (this.mark !== mark) continue;
      if (known !== null && state !== null && isOther(seen, known.state)) {
        this.#recovering ??= this.#recover({ ...seen, state }, known).finally(() => (this.#recovering = undefined));
        continue;
      }
      if (state === null) {
        // Nothing can have gone back: the workspace was forgotten, or the next check finds that its state was lost.
        this.mark = new LogMark(seen.newest);
        return seen;
      }
      mark.saw(seen.newest);
      this.#known = { state, seenAt: isoTime(this.#deps.clock.now()) };
      return seen;
    }
  }

  async startEpoch(): Promise<WorkspaceState | null> {
    const { state, ...seen } = await this.look({ creates: false });
    if (state === null) return null;
    await this.#begin({ ...seen, state }, epochOf(state));
    return (await this.look({ creates: false })).state;
  }

  async epochOn(json: string, server: string): Promise<number> {
    const { redis, keys, workspace } = this.#scope;
    const key = keys.state(workspace);
    for (let stored = json; stored !== ''; stored = (await redis.get(key)) ?? '') {
      const state = parseState(key, stored);
      const epoch = epochOf(state);
      if (state.server === server || this.#deps.forgets === false) return epoch;
      // Before the first lease there was no server.
      const next = {
        ...state,
        server,
        ...(state.server !== undefined && { epoch: epochAfter(epoch, this.#deps.clock.now()) }),
      };
      if (await this.#replace(stored, next)) return epochOf(next);
    }
    return 0;
  }

  async #replace(json: string, next: WorkspaceState, notice: readonly (string | number)[] = []): Promise<boolean> {
    const { redis, keys, workspace } = this.#scope;
    const touched = [keys.state, keys.notices, keys.log].map((key) => key(workspace));
    const [word] = words(startEpoch, await startEpoch.run(redis, touched, [json, JSON.stringify(next), ...notice]));
    return word === 'started';
  }

  async #read({ creates }: { creates: boolean }): Promise<Seen> {
    const { redis, keys, workspace } = this.#scope;
    const known = this.#known;
    const fresh = creates ? freshState(known?.state ?? null, this.#deps.clock.now()) : null;
    const loss = fresh === null || known === null ? null : lossNotice(workspace, fresh, known.seenAt);
    const texts = [fresh, loss].map((one) => (one === null ? '' : JSON.stringify(one)));
    const touched = [keys.state(workspace), keys.log(workspace)];
    const answer = await keepState.run(redis, touched, [...texts, this.mark.newest]);
    const [word, json = '', newest = ''] = words(keepState, answer);
    const state = word === 'none' ? null : parseState(keys.state(workspace), json);
    return { word, json, state, newest };
  }

  /** Redis has another state than this process knows: it lost that one, went back to an earlier one, or another process has noticed either. */
  async #recover(seen: Seen & { state: WorkspaceState }, { state: before, seenAt }: Known): Promise<void> {
    const { log, clock } = this.#deps;
    const { workspace } = this.#scope;
    const mark = new LogMark(seen.newest);
    const isLater = epochOf(seen.state) > epochOf(before);
    // A state that began after this process saw the one before is no earlier one: that one was lost, or the workspace was forgotten.
    const isLost = seen.state.id !== before.id && (isLater || seen.state.since >= seenAt);
    const isStarted = isLost || (isLater && seen.state.rewound?.to !== before.rewound?.to);
    const lost = isLost ? [] : await lostSteps(this.#scope, this.mark.steps);
    const state = isStarted ? seen.state : await this.#begin(seen, Math.max(epochOf(before), epochOf(seen.state)));
    // Another process has begun the epoch meanwhile: the next look finds it.
    if (state === null) return;
    const events = await putBack(this.#scope, lost, { mark, token: randomUUID(), clock });
    // It went back once more.
    if (events === null) return;
    this.mark = mark;
    this.#known = { state, seenAt: isoTime(clock.now()) };
    if (isLost) log.error({ workspace, lastSeenAt: seenAt, noticedAt: this.#known.seenAt }, LOST);
    else log.error({ workspace, ...state.rewound, eventsPutBack: events }, REWOUND);
  }

  /** @returns null when another state is stored by now */
  async #begin({ json, state }: Seen & { state: WorkspaceState }, epoch: number): Promise<WorkspaceState | null> {
    const { clock, listsOf = () => [] } = this.#deps;
    const { redis, keys, workspace } = this.#scope;
    const to = isoTime(clock.now());
    const end = this.mark.newest === '' ? '+' : this.mark.newest;
    const [last] = await redis.xrevrange(keys.log(workspace), end, '-', 'COUNT', 1);
    const from = last === undefined ? state.since : isoTime(timeOfLogId(last[0]));
    const next = { ...state, epoch: epochAfter(epoch, clock.now()), rewound: { from, to } };
    const message = rewoundMessage(workspace, next.rewound);
    const problem = { kind: 'state.rewound', subject: 'workspace', severity: 'error', list: null, since: to } as const;
    const notice = { ...problem, workspace, message, at: to };
    const isOurs = await this.#replace(json, next, noticeArguments(notice, { nowMs: clock.now(), epoch: next.epoch }));
    if (!isOurs) return null;
    // Their holders can commit nothing more, and may be gone for long.
    for (const list of listsOf(workspace)) await redis.del(keys.lease(workspace, list));
    return next;
  }
}

/** It was lost, it is an earlier one, its log lacks what this process knows of it, or another process has reported one of these. */
function isOther({ word, state }: Seen, known: WorkspaceState): boolean {
  if (word === 'back' || state?.id !== known.id || epochOf(state) < epochOf(known)) return true;
  return state.rewound?.to !== known.rewound?.to;
}

/** @param before the state that was lost; null: none is known */
function freshState(before: WorkspaceState | null, nowMs: number): WorkspaceState {
  const at = isoTime(nowMs);
  const own = { format: FORMAT, id: randomUUID(), since: at };
  if (before === null) return { ...own, lostAt: null };
  return { ...own, lostAt: at, epoch: epochAfter(epochOf(before), nowMs) };
}

/** 0: it is the first. */
export function epochOf({ epoch, lostAt }: WorkspaceState): number {
  // Earlier releases did not count epochs, and began with sequence 1 after a loss.
  return epoch ?? (lostAt === null ? 0 : 1);
}

const LOST =
  'STATE LOST: Redis no longer has the state of this workspace; every list starts with a baseline without events';
const REWOUND =
  'REDIS WENT BACK to an earlier state of this workspace: events are repeated, and every list is swept again';

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

export function parseState(key: string, json: string): WorkspaceState {
  refuseNewer(key, json);
  const at = { what: 'the id of a state', key } as const;
  // A state is replaced only while it is as it was read. Bytes that are no text are read as something else, so that would be never.
  if (json.includes('\ufffd')) throw unreadable(at, 'bytes that are no text');
  return readJson(stateSchema, json, at);
}

function lossNotice(workspace: string, { since: at, epoch = 0 }: WorkspaceState, seenAt: string) {
  const message =
    `The state of workspace "${workspace}" was lost in Redis between ${seenAt} and ${at}. Every list starts with a baseline ` +
    `without events: changes made in between are not reported. Check the persistence of Redis.`;
  const notice = { severity: 'error', message, since: seenAt, list: null } as const;
  // Before those of the epoch, which are counted in Redis.
  const sequence = firstSequenceOf(epoch) - 1;
  return buildNotice({ ...notice, workspace, kind: 'state.lost', subject: 'workspace', at, sequence });
}
