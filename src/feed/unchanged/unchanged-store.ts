/** Since when records are unchanged, how far the log was read for it, and up to which change each stretch was told. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ListName } from '../../crm/lists/lists.js';
import type { ChangeEvent } from '../../events/types.js';
import { countArguments, KEPT_MS, type DayCountsOptions } from '../../log/day-counts.js';
import { entryArguments } from '../../log/entry.js';
import type { StateGuard } from '../../log/state-guard.js';
import type { WorkspaceRedis } from '../../redis/keys.js';
import { loadScript, words } from '../../redis/scripts.js';
import { readJson } from '../../redis/stored.js';
import { readSummary } from '../store/checkpoint.js';

const followChanges = loadScript('follow-changes', import.meta.url);
const tellUnchanged = loadScript('tell-unchanged', import.meta.url);

const followedSchema = z.object({ since: z.iso.datetime(), baselineAt: z.string() });
/** When it was first looked at, and the baseline of the list then: what a list stores without an event is unknown. */
export type Followed = z.infer<typeof followedSchema>;

export interface StoredUnchanged {
  readTo: string | null;
  /** By list and what is followed. */
  followed: ReadonlyMap<string, Followed>;
  /** By list and stretch: ms of the last change, up to which records were told. */
  marks: ReadonlyMap<string, number>;
}

/** What an event says of a record that is followed. */
export interface Noted {
  /** The sorted set, by list and what is followed. */
  followed: string;
  how: 'set' | 'touch' | 'gone';
  record: string;
  ms: number;
}

/** A record, and since when it is unchanged. */
export interface Since {
  record: string;
  ms: number;
}

interface Told {
  since: Since;
  event: ChangeEvent;
}

export type UnchangedStore = ReturnType<typeof createUnchangedStore>;

const NUMBER_OF_UNCHANGED = 1;

interface UnchangedStoreOptions {
  /** Notices the loss of an event. @defaultValue none is noticed */
  guard?: Pick<StateGuard, 'steps'>;
  /** In which days are counted. @defaultValue 'UTC' */
  timeZone?: string;
}

export function createUnchangedStore(scope: WorkspaceRedis, { guard, timeZone = 'UTC' }: UnchangedStoreOptions = {}) {
  const { redis, keys, workspace } = scope;
  const hash = keys.unchanged(workspace);
  const setOf = (followed: string): string => keys.unchangedSince(workspace, followed);
  return {
    ...reads(scope),
    ...snoozes(scope),
    /** Nothing is followed any more, and the log is not kept for it. */
    async forget(): Promise<void> {
      await redis.unlink(hash);
    },
    /** Begins to read the log here, unless another process has. */
    async beginAt(logId: string): Promise<void> {
      await redis.hsetnx(hash, 'readTo', logId);
    },
    /** Adds records that are stored, with the times that they name; a later one than is known counts. */
    async add(followed: string, records: readonly Since[], gone: readonly string[]): Promise<void> {
      const set = setOf(followed);
      if (records.length > 0) await redis.zadd(set, 'GT', ...records.flatMap(({ record, ms }) => [ms, record]));
      if (gone.length > 0) await redis.zrem(set, ...gone);
    },
    async follow(name: string, followed: Followed): Promise<void> {
      await redis.hset(hash, `followed ${name}`, JSON.stringify(followed));
    },
    /** What nobody asks any more. */
    async drop(followed: readonly string[], marks: readonly string[], lists: readonly ListName[]): Promise<void> {
      if (lists.length > 0) await redis.unlink(...lists.map((list) => keys.snoozed(workspace, list)));
      const fields = [...followed.map((name) => `followed ${name}`), ...marks.map((name) => `told ${name}`)];
      if (followed.length > 0) await redis.unlink(...followed.map(setOf));
      if (fields.length > 0) await redis.hdel(hash, ...fields);
    },
    /** False: another process has read on. */
    async note(range: { from: string; to: string }, noted: readonly Noted[]): Promise<boolean> {
      const sets = [...new Set(noted.map(({ followed }) => followed))];
      const flat = noted.flatMap(({ followed, how, record, ms }) => [
        sets.indexOf(followed) + NUMBER_OF_UNCHANGED + 1,
        how,
        record,
        ms,
      ]);
      const answer = await followChanges.run(redis, [hash, ...sets.map(setOf)], [range.from, range.to, ...flat]);
      return words(followChanges, answer)[0] === 'noted';
    },
    /** @returns how many events were logged; null: another process has told them, has read on, or an epoch must begin */
    async tell(
      {
        followed,
        mark,
        from,
        to,
        readTo,
      }: { followed: string; mark: string; from: number | null; to: number; readTo: string },
      told: readonly Told[],
    ): Promise<number | null> {
      const touched = [hash, setOf(followed), keys.log(workspace), keys.state(workspace), keys.notices(workspace)];
      const { days, flat } = toldArguments(told, touched.length, { keys, workspace, timeZone });
      const steps = guard?.steps(workspace);
      const args = [`told ${mark}`, from ?? '', to, readTo, randomUUID(), KEPT_MS, ...flat];
      const answer = await tellUnchanged.run(redis, [...touched, ...days], args);
      const [word, events = '0', step = ''] = words(tellUnchanged, answer);
      if (step !== '') steps?.set(keys.notices(workspace), step);
      return word === 'told' ? Number(events) : null;
    },
  };
}

/** @param keysBefore the number of keys before those of the days */
function toldArguments(told: readonly Told[], keysBefore: number, options: DayCountsOptions) {
  const days: string[] = [];
  const flat = told.flatMap(({ since, event }) => {
    const [day, counted] = countArguments(event, options);
    if (!days.includes(day)) days.push(day);
    return [since.record, since.ms, ...entryArguments(event), keysBefore + days.indexOf(day) + 1, counted];
  });
  return { days, flat };
}

function reads(scope: WorkspaceRedis) {
  const { redis, keys, workspace } = scope;
  const hash = keys.unchanged(workspace);
  return {
    async read(): Promise<StoredUnchanged> {
      const fields = Object.entries(await redis.hgetall(hash));
      const of = (kind: string) =>
        fields.flatMap(([field, value]): [string, string][] =>
          field.startsWith(`${kind} `) ? [[field.slice(kind.length + 1), value]] : [],
        );
      const at = (field: string) =>
        ({ what: 'since when records are followed', key: hash, field: `followed ${field}` }) as const;
      return {
        readTo: fields.find(([field]) => field === 'readTo')?.[1] ?? null,
        followed: new Map(of('followed').map(([name, json]) => [name, readJson(followedSchema, json, at(name))])),
        marks: new Map(of('told').map(([name, ms]) => [name, Number(ms)])),
      };
    },
    /** The last complete sweep of a list; null where there is none. */
    async lastSweep(list: ListName) {
      const [json = null, baselineAt = null] = await redis.hmget(
        keys.sweep(workspace, list),
        'lastSweep',
        'baselineAt',
      );
      const last = readSummary(json, scope, list);
      return last === null || baselineAt === null ? null : { ...last, baselineAt };
    },
    /** Ms of the last change of each record; null where it is not followed. */
    async since(followed: string, records: readonly string[]): Promise<(number | null)[]> {
      if (records.length === 0) return [];
      const scores = await redis.zmscore(keys.unchangedSince(workspace, followed), ...records);
      return scores.map((score) => (score === null ? null : Number(score)));
    },
    /** Records that changed last after `after` and not after `upTo`, the longest unchanged first: all that changed in the same ms. */
    async between(followed: string, { after, upTo, most }: { after: number; upTo: number; most: number }) {
      const set = keys.unchangedSince(workspace, followed);
      const found = sinceIn(await redis.zrangebyscore(set, `(${after}`, upTo, 'WITHSCORES', 'LIMIT', 0, most));
      const last = found.at(-1);
      if (last === undefined || found.length < most) return { records: found, to: upTo };
      const same = sinceIn(await redis.zrangebyscore(set, last.ms, last.ms, 'WITHSCORES'));
      return { records: [...found.filter(({ ms }) => ms < last.ms), ...same], to: last.ms };
    },
  };
}

function snoozes({ redis, keys, workspace }: WorkspaceRedis) {
  return {
    /** A later moment replaces an earlier one, and the other way round. */
    async snooze(list: ListName, { record, ms }: Since): Promise<void> {
      await redis.zadd(keys.snoozed(workspace, list), ms, record);
    },
    /** Forgets snoozes that every stretch has seen end. */
    async endSnoozes(list: ListName, upTo: number): Promise<void> {
      await redis.zremrangebyscore(keys.snoozed(workspace, list), '-inf', upTo);
    },
    /** Until when each record is snoozed, ms; null where it is not. */
    async snoozedUntil(list: ListName, records: readonly string[]): Promise<(number | null)[]> {
      if (records.length === 0) return [];
      const scores = await redis.zmscore(keys.snoozed(workspace, list), ...records);
      return scores.map((score) => (score === null ? null : Number(score)));
    },
    /** Snoozes that ended after `after` and not after `upTo`. */
    async snoozesEnded(list: ListName, { after, upTo }: { after: number; upTo: number }): Promise<Since[]> {
      return sinceIn(await redis.zrangebyscore(keys.snoozed(workspace, list), `(${after}`, upTo, 'WITHSCORES'));
    },
  };
}

/** Members and scores in turns. */
function sinceIn(flat: readonly string[]): Since[] {
  return flat.flatMap((record, index) => (index % 2 === 0 ? [{ record, ms: Number(flat[index + 1]) }] : []));
}
