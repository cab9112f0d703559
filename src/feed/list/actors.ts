/** Who made a change, as the rows of histories say. No event waits for its actor, and none is lost without it. */
import { actorIn, creditsOf, whoMade, type WhoFacts } from '../detect/actor.js';
import type { ListDescriptor } from '../../crm/lists/descriptor.js';
import type { ListName, Lists } from '../../crm/lists/lists.js';
import { messageOf } from '../../kit/errors.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import type { CreditStore } from '../store/credits.js';
import { eventsOf } from '../../events/envelope.js';
import type { RecordWrite } from '../store/sweep-state.js';

export interface ActorOptions {
  workspace: string;
  lists: Lists;
  credits: CreditStore;
  /** The clock of the API less ours, ms; null where it is not known. */
  apartMs: () => number | null;
  clock: Clock;
  log: Log;
}

interface Edits {
  known: number;
  of: number;
}

export type Actors = ReturnType<typeof createActors>;

export function createActors(options: ActorOptions) {
  const { workspace, lists, credits, clock, log } = options;
  const named = new Set(lists.all.flatMap(({ history }) => history?.of.map(({ object }) => object) ?? []));
  /** Falls back to what needs no Redis, where Redis or what is stored there is at fault. */
  const orWithout = async <T>(doing: Promise<T>, without: T): Promise<T> =>
    await doing.catch((error: unknown) => {
      log.debug({ workspace, error: messageOf(error) }, 'who made a change is not known');
      return without;
    });
  const edits = new Map<ListName, Edits>();
  return {
    /** The edits that this process has committed, by list, and those whose author is known. */
    edits: () => [...edits].map(([list, counts]) => ({ list, ...counts })),
    /**
     * The same writes, with events that say who made the change, as far as it is known.
     * @param sweptAt ISO 8601: when the last complete sweep of the list began
     */
    async sign(
      name: ListName,
      writes: readonly RecordWrite[],
      sweptAt: string | null,
    ): Promise<readonly RecordWrite[]> {
      const list = lists.byName(name);
      if (list?.history !== undefined) return writes.map((write) => sayingWho(write, list));
      if (list === undefined || !named.has(list.object)) return writes;
      return await orWithout(withKnown(writes, { list, sweptAt }, options), writes);
    },
    /** Keeps what new rows of a history say for the records that they name. */
    async committed(name: ListName, writes: readonly RecordWrite[]): Promise<void> {
      const list = lists.byName(name);
      if (list?.history !== undefined) {
        const credited = rowsIn(eventsOf({ writes })).flatMap((row) => creditsOf(row, list, lists));
        if (credited.length > 0) await orWithout(credits.add(credited, clock.now()), undefined);
      } else if (list !== undefined && named.has(list.object)) countEdits(edits, name, writes);
    },
  };
}

function countEdits(counts: Map<ListName, Edits>, list: ListName, writes: readonly RecordWrite[]): void {
  const edits = writes.flatMap(({ event }) =>
    event?.data.class === 'edited' && event.type.endsWith('.updated') ? [event] : [],
  );
  const { known, of } = counts.get(list) ?? { known: 0, of: 0 };
  const signed = edits.filter(({ data }) => data.actor !== undefined).length;
  counts.set(list, { known: known + signed, of: of + edits.length });
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
  { list, sweptAt }: { list: ListDescriptor; sweptAt: string | null },
  { credits, apartMs }: ActorOptions,
): Promise<readonly RecordWrite[]> {
  const isAsked = ({ event }: RecordWrite): boolean => CHANGED.includes(event?.type.split('.')[2] ?? '');
  const asked = writes.filter(isAsked).map(({ key }) => key);
  if (asked.length === 0) return writes;
  const creditsOfEach = await credits.of(list.name, asked);
  if (creditsOfEach.every((rows) => rows.length === 0)) return writes;
  const times = { sweptAt, apartMs: apartMs() };
  const creditsByKey = new Map(asked.map((key, index) => [key, creditsOfEach[index] ?? []]));
  return writes.map((write) => {
    const rows = creditsByKey.get(write.key) ?? [];
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
