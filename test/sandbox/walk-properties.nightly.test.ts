import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import { SIX_LISTS } from '../../src/server/read-api/lists.js';
import { PROFILES } from '../../src/sandbox/faults/profiles.js';
import { createSandbox } from '../../src/sandbox/sandbox.js';
import { get, type Fields, type Target } from '../support/read-api.js';

// Without the parts of a profile that only make it slow.
const QUICK = {
  stallMs: 5,
  oversizedBytes: 10_000,
  latencyMs: 0,
  limitRequests: 0,
  foreignPerSecond: 0,
};

interface Page {
  records: Fields[];
  nextCursor: string | null;
}

/** Repeats the request until it gets a complete page. */
async function stubbornPage(target: Target, list: BuiltInList, cursor: string | null): Promise<Page> {
  const { path, key } = SIX_LISTS[list];
  const query = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
  for (let attempt = 0; attempt < 12; attempt++) {
    const data = await get(target, `${path}${query}`)
      .then(({ text }) => (JSON.parse(text) as { data?: Record<string, unknown> }).data)
      .catch(() => undefined);
    const records = data?.[key];
    const next = (data?.['nextCursor'] ?? null) as string | null;
    if (Array.isArray(records))
      return { records: records as Fields[], nextCursor: records.length === 0 || next === '' ? null : next };
  }
  throw new Error(`${list}: no page in 12 attempts`);
}

async function stubbornWalk(target: Target, list: BuiltInList): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await stubbornPage(target, list, cursor);
    ids.push(...page.records.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

const sizes = fc.record({
  seed: fc.nat(999),
  people: fc.nat(25),
  organizations: fc.nat(6),
  memos: fc.nat(20),
  todos: fc.nat(20),
  history: fc.nat(20),
  activity: fc.nat(30),
});
const sound = PROFILES.filter(({ sound: is }) => is);

beforeAll(() => expect(sound.length).toBeGreaterThan(40));

test.each(sound.map(({ name }) => name))(
  'sandbox walk: under "%s" a walk shows every record that existed throughout exactly once',
  async (profile) => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 3, max: 9 }), async (world, pageSize) => {
        const sandbox = createSandbox({ ...world, profile, behaviour: { ...QUICK, pageSize } });
        try {
          const target = await sandbox.start();
          for (const list of LIST_NAMES) {
            const before = idsOf(sandbox.world, list);
            const walked = await stubbornWalk(target, list);
            const after = new Set(idsOf(sandbox.world, list));
            const throughout = before.filter((id) => after.has(id));
            const counts = new Map<string, number>();
            for (const id of walked) counts.set(id, (counts.get(id) ?? 0) + 1);
            expect(throughout.filter((id) => counts.get(id) !== 1)).toEqual([]);
            if (sandbox.world.mutations === 0) expect(walked.length).toBe(before.length);
          }
        } finally {
          await sandbox.stop();
        }
      }),
      { numRuns: 2 },
    );
  },
);

/** The control: the same check fails under unsound faults. */
test.each(['cursor-offset', 'order-last-change', 'order-shuffled'])(
  'sandbox walk: under "%s" the same check fails (control)',
  async (profile) => {
    const sandbox = createSandbox({ people: 60, profile, behaviour: { ...QUICK, pageSize: 5, churn: 60 } });
    try {
      const target = await sandbox.start();
      const before = idsOf(sandbox.world, 'people');
      const walked = await stubbornWalk(target, 'people');
      const after = new Set(idsOf(sandbox.world, 'people'));
      const once = (id: string): boolean => walked.filter((each) => each === id).length === 1;
      expect(before.filter((id) => after.has(id)).every(once)).toBe(false);
    } finally {
      await sandbox.stop();
    }
  },
);

function idsOf(world: ReturnType<typeof createSandbox>['world'], list: BuiltInList): string[] {
  return world
    .order(list)
    .slice(0, Infinity)
    .map((index) => world.idOf(list, index));
}
