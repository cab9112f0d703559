/**
 * A sweep that requests pages ahead, and one that reads page after page, over the same random changes in mid-sweep: both must end with
 * events that lead from the baseline to the truth, and neither may report a record as deleted that is there.
 */
import fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { listedApi, type ListedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const PAGE = 3;

type Change = { what: 'add' | 'edit' | 'remove'; at: number };

interface World {
  records: Map<string, string>;
  removed: Set<string>;
}

/** Ids are never used again, because a client cannot know that another record has the id. */
function apply({ records, removed }: World, { what, at }: Change, count: number): void {
  const ids = [...records.keys()];
  const id = ids[at % Math.max(1, ids.length)];
  if (what === 'add' || id === undefined) records.set(`${String(at % 100).padStart(2, '0')}-${count}`, 'new');
  else if (what === 'edit') records.set(id, `edited ${count}`);
  else if (records.delete(id)) removed.add(id);
}

const shown = ({ records }: World): UncheckedRecord[] =>
  [...records].map(([id, name]) => ({ id, 이름: name })).sort((a, b) => (a.id < b.id ? -1 : 1));

/** Cursors by the last id, as the interface's samples show them, or by position. */
const STYLES = {
  'the last id': (all: readonly UncheckedRecord[], cursor: string | null) =>
    cursor === null ? 0 : all.filter(({ id }) => String(id) <= cursor).length,
  'the position': (_all: readonly UncheckedRecord[], cursor: string | null) => Number(cursor ?? 0),
} as const;

function answersAsPaged(api: ListedApi, world: World, { style, changes, delays }: Scenario): void {
  let count = 0;
  api.before = async (cursor) => {
    const request = count++;
    for (let wait = delays[request % delays.length] ?? 0; wait > 0; wait--) await setImmediate();
    const change = changes[request];
    if (change !== undefined && change !== null) apply(world, change, request);
    const all = shown(world);
    const from = STYLES[style](all, cursor);
    const records = all.slice(from, from + PAGE);
    const next = style === 'the position' ? String(from + PAGE) : String(records.at(-1)?.['id']);
    return { list: 'people', records, nextCursor: from + PAGE < all.length ? next : null, bytes: 0 };
  };
}

interface Scenario {
  style: keyof typeof STYLES;
  count: number;
  changes: readonly (Change | null)[];
  /** Turns of the event loop that each answer takes, so that answers overtake each other. */
  delays: readonly number[];
}

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  style: fc.constantFrom('the last id' as const, 'the position' as const),
  count: fc.integer({ min: 4, max: 40 }),
  changes: fc.array(
    fc.option(
      fc.record({ what: fc.constantFrom('add', 'edit', 'remove'), at: fc.nat(1_000) }) as fc.Arbitrary<Change>,
      {
        freq: 2,
      },
    ),
    { maxLength: 60 },
  ),
  delays: fc.array(fc.nat(4), { minLength: 1, maxLength: 7 }),
});

function outcomeOf(start: ReadonlyMap<string, string>, events: readonly ChangeEvent[]): Map<string, unknown> {
  const state = new Map<string, unknown>(start);
  for (const { subject, data } of events) {
    if (data.after === null) state.delete(subject);
    else state.set(subject, data.after['이름']);
  }
  return state;
}

const redis = useRedis();
let runs = 0;

it.each([0, 8])(
  'read ahead: with %i pages ahead, the events lead from the baseline to the truth',
  async (pagesAhead) => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const ids = Array.from({ length: scenario.count }, (_, index) => String(index).padStart(2, '0'));
        const world: World = { records: new Map(ids.map((id) => [id, 'old'])), removed: new Set() };
        const start = new Map(world.records);
        const api = listedApi();
        const { sweep, events } = sweptList(redis, api, 'people', `run-${pagesAhead}-${runs++}`);
        const options = {
          pagesAhead,
          removals: { confirm: 2, afterMs: 0, maxShare: 1, maxCount: 1_000 },
          creations: { maxShare: 1, maxCount: 1_000 },
        };
        answersAsPaged(api, world, { ...scenario, changes: [] });
        await sweep(options);
        answersAsPaged(api, world, scenario);
        for (let round = 0; round < 3; round++) await sweep(options);
        answersAsPaged(api, world, { ...scenario, changes: [] });
        for (let round = 0; round < 4; round++) await sweep(options);

        const emitted = await events();
        expect(Object.fromEntries(outcomeOf(start, emitted))).toEqual(Object.fromEntries(world.records));
        if (scenario.style !== 'the last id') return;
        const deleted = emitted.filter(({ type }) => type.endsWith('.deleted')).map(({ subject }) => subject);
        expect(deleted.filter((id) => !world.removed.has(id))).toEqual([]);
      }),
      { numRuns: Number(process.env['READ_AHEAD_RUNS'] ?? 20) },
    );
  },
);
