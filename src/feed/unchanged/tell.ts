/**
 * Says what has not happened. It reads the log, as a receiver does: since when each record is unchanged is a projection of the events, so commits
 * know nothing of it. An event is logged once the list was swept after the moment, and everything that this sweep has found was read.
 */
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import type { ListName, Lists } from '../../crm/lists/lists.js';
import { referencesIn } from '../../crm/references.js';
import type { ChangeEvent } from '../../events/types.js';
import { dueAfter, followedKey, latestDue, stretchKey, type Stretch } from '../../events/unchanged.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import type { LogEntry } from '../../log/entry.js';
import type { EventLog } from '../../log/event-log.js';
import type { WorkspaceRedis } from '../../redis/keys.js';
import { isInList } from '../detect/record-state.js';
import { everyRecord, readRecords } from '../store/stored-records.js';
import { saidSince, unchangedEvent } from './unchanged-event.js';
import type { Noted, Since, StoredUnchanged, UnchangedStore } from './unchanged-store.js';

/** A stretch of the records of a list that somebody wants to be told of. */
export interface Asked {
  list: ListName;
  stretch: Stretch;
}

export interface TellOptions {
  scope: WorkspaceRedis;
  store: UnchangedStore;
  log: Pick<EventLog, 'query' | 'tail'>;
  clock: Clock;
  timeZone: string;
  lists: Lists;
}

const MOST_AT_ONCE = 200;

/** @returns how many events were logged */
export async function tellUnchanged(asked: readonly Asked[], options: TellOptions): Promise<number> {
  const { store, scope, log, lists } = options;
  const all = new Turn(asked, options);
  const stored = await store.read();
  await dropUnasked(all, stored, store);
  if (asked.length === 0) {
    await store.forget();
    return 0;
  }
  // Before the log is read: it then has all that these sweeps have found.
  const sweeps = await all.sweeps();
  if (stored.readTo === null) await store.beginAt(await log.tail(scope.workspace));
  for (const [name, { list }] of all.followed) {
    const [last, descriptor] = [sweeps.get(list), lists.byName(list)];
    if (last === undefined || descriptor === undefined || stored.followed.get(name)?.baselineAt === last.baselineAt)
      continue;
    await lookAtAll(name, descriptor, options);
    const since = isoTime(options.clock.now());
    await store.follow(name, { since, baselineAt: last.baselineAt });
  }
  if (!(await readOn(all, options))) return 0;
  let told = 0;
  for (const one of asked) {
    const facts = factsOf(one, { ...options, sweeps, stored: await store.read() });
    if (facts === null) continue;
    told += await tellDue(facts);
    told += await tellWoken(facts);
  }
  await endSnoozes(asked, store);
  return told;
}

type LastSweep = NonNullable<Awaited<ReturnType<UnchangedStore['lastSweep']>>>;

class Turn {
  /** By list and what is followed. */
  readonly followed: ReadonlyMap<string, Asked>;
  readonly marks: ReadonlySet<string>;
  readonly #options: TellOptions;

  constructor(asked: readonly Asked[], options: TellOptions) {
    this.followed = new Map(asked.map((one) => [followedBy(one), one]));
    this.marks = new Set(asked.flatMap((one) => [markOf(one), wokenOf(one)]));
    this.#options = options;
  }

  /** Of the lists that are swept. */
  async sweeps(): Promise<ReadonlyMap<ListName, LastSweep>> {
    const asked = [...this.followed.values()];
    const lists = new Set(asked.flatMap(({ list, stretch }) => [list, ...stretch.related]));
    const found = await Promise.all(
      [...lists].map(async (list) => [list, await this.#options.store.lastSweep(list)] as const),
    );
    return new Map(found.flatMap(([list, last]) => (last === null ? [] : [[list, last]])));
  }

  get types(): string[] {
    const { lists } = this.#options;
    const objectsOf = (names: readonly ListName[]) => names.flatMap((name) => lists.byName(name)?.object ?? []);
    return [...this.followed.values()].flatMap(({ list, stretch: { related } }) => [
      ...objectsOf([list]).flatMap((object) =>
        ['created', 'updated', 'deleted'].map((verb) => `crm.${object}.${verb}`),
      ),
      ...objectsOf(related).flatMap((object) => ['created', 'updated'].map((verb) => `crm.${object}.${verb}`)),
    ]);
  }

  /** What an event says of the records that are followed. */
  notedIn(event: ChangeEvent): Noted[] {
    const { lists } = this.#options;
    const [, object = '', verb = ''] = event.type.split('.');
    const ofList = lists.byObject(object)?.name;
    const ms = Math.min(Date.parse(event.time), Date.parse(event.data.observedAt));
    const { after, before, changes, class: changeClass } = event.data;
    return [...this.followed].flatMap(([followed, { list, stretch }]): Noted[] => {
      const { field, related } = stretch;
      if (ofList === list) {
        if (verb === 'deleted') return [{ followed, how: 'gone', record: event.subject, ms }];
        if (verb === 'created') return [{ followed, how: 'set', record: event.subject, ms }];
        const isChange =
          field === null ? changeClass === 'edited' : changes.some((one) => one.field.normalize('NFC') === field);
        return isChange && related.length === 0 ? [{ followed, how: 'touch', record: event.subject, ms }] : [];
      }
      const record = after ?? before;
      if (ofList === undefined || !related.includes(ofList) || record === null || changeClass !== 'edited') return [];
      const named = referencesIn(record, lists).filter((one) => one.list === list);
      return named.map(({ id }) => ({ followed, how: 'touch', record: id, ms }));
    });
  }
}

export const followedBy = ({ list, stretch }: Asked): string => `${list} ${followedKey(stretch)}`;
/** The snoozes that have ended. */
const wokenOf = (asked: Asked): string => `${markOf(asked)} woken`;
const markOf = ({ list, stretch }: Asked): string => `${list} ${stretchKey(stretch)}`;

async function dropUnasked({ followed, marks }: Turn, stored: StoredUnchanged, store: UnchangedStore): Promise<void> {
  const unfollowed = [...stored.followed.keys()].filter((name) => !followed.has(name));
  const unasked = [...stored.marks.keys()].filter((name) => !marks.has(name));
  const asked = new Set([...followed.values()].map(({ list }) => list));
  const lists = [...new Set(unfollowed.map((name) => name.split(' ')[0] ?? ''))].filter((list) => !asked.has(list));
  await store.drop(unfollowed, unasked, lists);
}

/** A record says itself when it was changed; since then, each of its fields is unchanged. */
async function lookAtAll(followed: string, list: ListDescriptor, { scope, store, clock }: TellOptions): Promise<void> {
  for await (const records of everyRecord(scope, list.name)) {
    const nowMs = clock.now();
    const inList = records.filter(([, { digest }]) => isInList(digest));
    const gone = records.flatMap(([key, { digest }]) => (isInList(digest) ? [] : [key]));
    const since = inList.map(([record, stored]): Since => ({ record, ms: saidSince(stored, list, nowMs) }));
    await store.add(followed, since, gone);
  }
}

/** False: another process reads it too, and has come further. */
async function readOn(turn: Turn, { store, log, scope: { workspace } }: TellOptions): Promise<boolean> {
  const { readTo } = await store.read();
  if (readTo === null) return false;
  let from = readTo;
  const wanted = new Set(turn.types);
  for await (const batch of log.query({ workspaces: [workspace], order: 'oldest', from })) {
    const noted = batch.flatMap((entry: LogEntry) => (wanted.has(entry.type) ? turn.notedIn(entry.parse()) : []));
    const to = batch.at(-1)?.logId ?? from;
    if (!(await store.note({ from, to }, noted))) return false;
    from = to;
  }
  return true;
}

interface Telling extends TellOptions {
  asked: Asked;
  descriptor: ListDescriptor;
  stored: StoredUnchanged;
  readTo: string;
  seenSince: string;
  last: LastSweep;
  /** Ms: when the oldest of the last sweeps began. What it has found was read. */
  sweptMs: number;
}

/** Null where nothing is known yet: of a list that was not swept, a mark at no time at all would tell everything later. */
function factsOf(
  asked: Asked,
  { sweeps, ...options }: TellOptions & { sweeps: ReadonlyMap<ListName, LastSweep>; stored: StoredUnchanged },
): Telling | null {
  const { list, stretch } = asked;
  const { stored, clock, lists } = options;
  const lasts = [list, ...stretch.related].flatMap((one) => sweeps.get(one) ?? []);
  const since = stored.followed.get(followedBy(asked));
  const [last] = lasts;
  const descriptor = lists.byName(list);
  const { readTo } = stored;
  const isSwept = lasts.length === 1 + stretch.related.length;
  if (!isSwept || last === undefined || since === undefined || readTo === null || descriptor === undefined) return null;
  const sweptMs = Math.min(clock.now(), ...lasts.map(({ startedAt }) => Date.parse(startedAt)));
  return { ...options, asked, descriptor, readTo, seenSince: since.since, last, sweptMs };
}

/** Tells what has become true, but for snoozed records. */
async function tellDue(of: Telling): Promise<number> {
  const { store, stored, asked, readTo, timeZone } = of;
  const { list, stretch } = asked;
  const upTo = latestDue(stretch, of.sweptMs, timeZone);
  const [followed, mark] = [followedBy(asked), markOf(asked)];
  let from = stored.marks.get(mark) ?? null;
  let told = 0;
  // A stretch begins quietly: what is unchanged for longer already is shown by the preview.
  if (from === null) await store.tell({ followed, mark, from, to: upTo, readTo }, []);
  while (from !== null && from < upTo) {
    const { records, to } = await store.between(followed, { after: from, upTo, most: MOST_AT_ONCE });
    const snoozed = await store.snoozedUntil(
      list,
      records.map(({ record }) => record),
    );
    const awake = records.filter(({ ms }, index) => (snoozed[index] ?? 0) < dueAfter(stretch, ms, timeZone));
    const count = await store.tell({ followed, mark, from, to, readTo }, await eventsOf(awake, of));
    if (count === null) return told;
    told += count;
    from = to;
  }
  return told;
}

/** Tells again what is still true when its snooze ends, whether it was told before or not. */
async function tellWoken(of: Telling): Promise<number> {
  const { store, stored, asked, readTo, sweptMs: to, timeZone } = of;
  const { list, stretch } = asked;
  const [followed, mark] = [followedBy(asked), wokenOf(asked)];
  const from = stored.marks.get(mark) ?? null;
  if (from !== null && from >= to) return 0;
  const ended = from === null ? [] : await store.snoozesEnded(list, { after: from, upTo: to });
  const known = await store.since(
    followed,
    ended.map(({ record }) => record),
  );
  const woken = ended.flatMap(({ record, ms: wokenMs }, index): Woken[] => {
    const ms = known[index] ?? null;
    return ms === null || dueAfter(stretch, ms, timeZone) > wokenMs ? [] : [{ record, ms, wokenMs }];
  });
  return (await store.tell({ followed, mark, from, to, readTo }, await eventsOf(woken, of))) ?? 0;
}

interface Woken extends Since {
  /** When a snooze of it ended, ms. */
  wokenMs?: number;
}

async function eventsOf(records: readonly Woken[], of: Telling) {
  const { scope, asked, descriptor, timeZone, clock, seenSince, last } = of;
  const { list, stretch } = asked;
  const images = await readRecords(
    scope,
    list,
    records.map(({ record }) => record),
  );
  const facts = { workspace: scope.workspace, stretch, list: descriptor, timeZone, clock, seenSince };
  return records.flatMap((one, index) => {
    const event = unchangedEvent(one, images[index] ?? null, { ...facts, sweep: last.sweepId });
    return event === null ? [] : [{ since: one, event }];
  });
}

async function endSnoozes(asked: readonly Asked[], store: UnchangedStore): Promise<void> {
  const { marks } = await store.read();
  for (const list of new Set(asked.map((one) => one.list))) {
    const ended = asked.filter((one) => one.list === list).map((one) => marks.get(wokenOf(one)) ?? -Infinity);
    const upTo = Math.min(...ended);
    if (upTo > -Infinity) await store.endSnoozes(list, upTo);
  }
}
