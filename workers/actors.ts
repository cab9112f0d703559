/** Who made a change, as the rows of histories say. No event waits for its actor, and none is lost without it. */
import { actorIn, creditsOf, whoMade, type WhoFacts } from '../src/feed/detect/actor.js';
import type { ListDescriptor } from '../src/crm/lists/descriptor.js';
import type { ListName, Lists } from '../src/crm/lists/lists.js';
import { messageOf } from '../src/kit/errors.js';
import type { ChangeEvent } from '../src/events/types.js';
import type { Clock } from '../src/kit/clock.js';
import type { Log } from '../src/kit/log.js';
import type { CreditStore } from '../src/feed/store/credits.js';
import type { ScheduleStore } from '../src/feed/store/schedule.js';
import { eventsOf } from '../src/events/envelope.js';
import type { RecordWrite } from '../src/feed/store/sweep-state.js';
import type { SweepStore } from '../src/feed/store/sweep-store.js';

export interface ActorOptions {
  workspace: string;
  lists: Lists;
  credits: CreditStore;
  schedule: Pick<ScheduleStore, 'times'>;
  /** Called with the edits of a commit: how many, and how many of them have a known author. */
  edited: (list: ListName, edits: { known: number; of: number }) => void;
  /** The clock of the API less ours, ms; null where it is not known. */
  apartMs: () => number | null;
  clock: Clock;
  log: Log;
}

/** Counts the edits that this process found, and those whose author is known. */
export function createEdits() {
  const byList = new Map<ListName, { known: number; of: number }>();
  return {
    found: (list: ListName, { known, of }: { known: number; of: number }): void => {
      const before = byList.get(list) ?? { known: 0, of: 0 };
      byList.set(list, { known: before.known + known, of: before.of + of });
    },
    all: () => [...byList].map(([list, edits]) => ({ list, ...edits })),
  };
}

interface Edits {
  known: number;
  of: number;
}

function editsIn(writes: readonly RecordWrite[]): Edits {
  const edits = writes.flatMap(({ event }) =>
    event?.data.class === 'edited' && event.type.endsWith('.updated') ? [event] : [],
  );
  return { known: edits.filter(({ data }) => data.actor !== undefined).length, of: edits.length };
}

export function withActors(commit: SweepStore['commit'], options: ActorOptions): SweepStore['commit'] {
  const { workspace, lists, credits, clock, log } = options;
  const named = new Set(lists.all.flatMap(({ history }) => history?.of.map(({ object }) => object) ?? []));
  /** Without what needs Redis, where Redis or what is stored there is at fault. */
  const orWithout = async <T>(doing: Promise<T>, without: T): Promise<T> =>
    await doing.catch((error: unknown) => {
      log.debug({ workspace, error: messageOf(error) }, 'who made a change is not known');
      return without;
    });
  return async (name, step) => {
    const list = lists.byName(name);
    if (list === undefined || step.writes.length === 0) return await commit(name, step);
    if (list.history !== undefined) {
      const result = await commit(name, { ...step, writes: step.writes.map((write) => sayingWho(write, list)) });
      const credited = rowsIn(eventsOf(step)).flatMap((row) => creditsOf(row, list, lists));
      if (result.outcome === 'committed' && credited.length > 0)
        await orWithout(credits.add(credited, clock.now()), undefined);
      return result;
    }
    if (!named.has(list.object)) return await commit(name, step);
    const writes = await orWithout(withKnown(step.writes, list, options), step.writes);
    const result = await commit(name, { ...step, writes });
    if (result.outcome === 'committed') options.edited(name, editsIn(writes));
    return result;
  };
}

function rowsIn(events: readonly ChangeEvent[]): NonNullable<ChangeEvent['data']['after']>[] {
  return events.flatMap(({ type, data: { after } }) => (type.endsWith('.created') && after !== null ? [after] : []));
}

function sayingWho(write: RecordWrite, { history }: ListDescriptor): RecordWrite {
  const { event } = write;
  const [row] = rowsIn(event === null ? [] : [event]);
  const actor = row === undefined || history === undefined ? null : actorIn(row, history);
  return event === null || actor === null ? write : { ...write, event: { ...event, data: { ...event.data, actor } } };
}

const CHANGED = ['created', 'updated'];

async function withKnown(
  writes: readonly RecordWrite[],
  list: ListDescriptor,
  { credits, schedule, apartMs }: ActorOptions,
): Promise<readonly RecordWrite[]> {
  const isAsked = ({ event }: RecordWrite): boolean => CHANGED.includes(event?.type.split('.')[2] ?? '');
  const asked = writes.filter(isAsked).map(({ key }) => key);
  if (asked.length === 0) return writes;
  const found = await credits.of(list.name, asked);
  if (found.every((rows) => rows.length === 0)) return writes;
  const { lastSweep } = await schedule.times(list.name);
  const times = { sweptAt: lastSweep?.startedAt ?? null, apartMs: apartMs() };
  const known = new Map(asked.map((key, index) => [key, found[index] ?? []]));
  return writes.map((write) => {
    const rows = known.get(write.key) ?? [];
    return rows.length === 0 ? write : withWho(write, { list, credits: rows, ...times });
  });
}

function withWho(write: RecordWrite, facts: Omit<WhoFacts, 'decisions'>): RecordWrite {
  const { event, derived = [], state } = write;
  if (event === null || state === null) return write;
  const { decisions = [] } = state;
  const who = whoMade(event, derived, { ...facts, decisions });
  const [made = event, ...further] = who.events;
  const last = decisions.at(-1);
  if (who.rows.length === 0 || last === undefined) return write;
  const noted = [...decisions.slice(0, -1), { ...last, rows: who.rows }];
  return { ...write, event: made, derived: further, state: { ...state, decisions: noted } };
}
