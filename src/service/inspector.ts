/** What a person asks about a list, and decides about it. */
import type { Histories } from '../actions/feed.js';
import type { Inspector } from '../actions/inspector.js';
import type { Rules } from '../feed/detect/rules.js';
import { listSchema } from '../feed/detect/schema-drift/schema.js';
import { titleOfRecord } from '../events/describe.js';
import { objectOf } from '../events/envelope.js';
import type { ListName } from '../crm/lists/lists.js';
import { explainRecord } from '../feed/list/explain.js';
import type { HeldRecords } from '../ops/server/page/source.js';
import type { SweepStore } from '../feed/store/sweep-store.js';
import { isoTime } from '../kit/clock.js';
import { usage } from '../kit/errors.js';
import type { AppContext } from '../../workers/context.js';
import { findRecords, formerRecords, storedRecords } from './find-records.js';
import { createMuting } from './mutes.js';
import { createSnooze } from './snooze.js';
import { listIn, storedRecord, type Workspace, type Workspaces } from '../../workers/workspaces.js';

/** How many of the newest events of the log are read to find those of a record. */
const NEWEST_EVENTS = 10_000;

const EXAMPLES = 3;

async function heldIn({ name, store, lists }: Workspace): Promise<HeldRecords[]> {
  const all = [...lists.keys()].map(async (list) => {
    const { held = [] } = (await store.load(list)).state.lastSweep ?? {};
    return await Promise.all(
      held.map(async (one): Promise<HeldRecords> => {
        if (one.what === 'creations') {
          return { ...one, workspace: name, list, examples: await store.heldNew(list) };
        }
        const ids = await store.someMissing(list, EXAMPLES);
        const records = await Promise.all(ids.map((id) => storedRecord(store, list, id)));
        const examples = ids.map((id, index) => {
          const record = records[index] ?? null;
          return { id, title: record === null ? null : titleOfRecord(record) };
        });
        return { ...one, workspace: name, list, examples };
      }),
    );
  });
  return (await Promise.all(all)).flat();
}

export function createInspector(
  context: AppContext,
  workspaces: Workspaces,
  histories: Pick<Histories, 'recordsAsOf'>,
): Inspector {
  const { redis, keys, clock } = context;
  const choose = (list: ListName, name: string | undefined): { store: SweepStore; rules: Rules } => {
    const workspace = workspaces.choose(name);
    return { store: workspace.store, rules: listIn(workspace, list).rules };
  };
  return {
    ...createMuting(context, workspaces),
    names: (workspace) => [...workspaces.choose(workspace).lists.keys()],
    async explain(list, id, workspace) {
      const { store, rules } = choose(list, workspace);
      return await explainRecord(store, { list, id, rules });
    },
    async record(list, id, workspace) {
      return await storedRecord(choose(list, workspace).store, list, id);
    },
    async find(list, query = {}, workspace) {
      const { name, store } = workspaces.choose(workspace);
      const { rules } = choose(list, workspace);
      if (rules.list.recognisedOnly) throw usage(`find: of the list "${list}", only the keys of rows are stored.`);
      const { at, ...asked } = query;
      const now = isoTime(clock.now());
      if (at !== undefined) {
        const former = formerRecords(histories.recordsAsOf(list, at, { workspace }));
        return { ...(await findRecords(former, { ...asked, now })), asOf: at };
      }
      const { lastSweep } = (await store.load(list)).state;
      const found = await findRecords(storedRecords({ redis, keys, workspace: name }, list), { ...asked, now });
      return { ...found, asOf: lastSweep?.completedAt ?? null };
    },
    async events(list, id, workspace) {
      const { store, rules } = choose(list, workspace);
      const events = await store.recentEvents(0, NEWEST_EVENTS);
      return events.filter((event) => event.subject === id && objectOf(event) === rules.list.object);
    },
    schema: async (list, workspace) => listSchema(await choose(list, workspace).store.schema(list)),
    held: async (list, workspace) => (await choose(list, workspace).store.load(list)).state.lastSweep?.held ?? [],
    async allHeld(workspace) {
      const chosen = workspace === undefined ? workspaces.all() : [workspaces.choose(workspace)];
      return (await Promise.all(chosen.map(heldIn))).flat();
    },
    discard: async (list, workspace, what) => await choose(list, workspace).store.discardHeld(list, what),
    accept: async (list, workspace, what) => await choose(list, workspace).store.acceptHeld(list, what),
    snooze: createSnooze(context, workspaces),
    resync: async (list, workspace) => await choose(list, workspace).store.forgetBaseline(list),
  };
}
