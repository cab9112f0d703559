/**
 * Random lives of a list: records come, change, go, come back, are held and erased, and the baseline is taken again. Its state as of each sweep is
 * what the list showed then.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CrmRecord } from '../../../src/crm/record.js';
import type { RemovalRules } from '../../../src/feed/detect/removal.js';
import { historyList, KEPT } from '../../support/history-list.js';
import { isGate } from '../../support/night.js';
import { useRedis } from '../../support/redis.js';

const test = useRedis();
const LIVES = isGate ? 200 : 5_000;
const AT_ONCE: RemovalRules = { confirm: 1, afterMs: 0, maxShare: 1, maxCount: 100 };
const NONE_AT_ONCE: RemovalRules = { ...AT_ONCE, maxShare: 0, maxCount: 0 };

const ids = fc.constantFrom('a', 'b', 'c');
const fields = fc.dictionary(
  fc.constantFrom('등급', '이름', '팀', '금액'),
  fc.oneof(
    fc.constantFrom(null, '', 'A', '가상', 0, -1, true),
    fc.constantFrom([{ id: 't1', name: '팀1' }], { id: 'u1', name: '담당' }),
  ),
);
const edit = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('set' as const), id: ids, fields }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('remove' as const), id: ids }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('erase' as const), id: ids }) },
);
const step = fc.record({
  edits: fc.array(edit, { maxLength: 3 }),
  holds: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  resyncs: fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** Null and absent are the same to the feed, and the time of change alone is no change. */
function sameRecords(found: readonly CrmRecord[], shown: readonly CrmRecord[]): void {
  expect(found.map(({ id }) => id)).toEqual(shown.map(({ id }) => id));
  found.forEach((record, at) => {
    const names = new Set([...Object.keys(record), ...Object.keys(shown[at] ?? {})]);
    const differing = [...names].filter((name) => name !== '수정 날짜' && !isSame(record[name], shown[at]?.[name]));
    expect(differing.map((name) => [record.id, name, record[name], shown[at]?.[name]])).toEqual([]);
  });
}

let lives = 0;

async function live(steps: readonly Step[]): Promise<void> {
  const list = historyList(test, KEPT, {}, `w${(lives += 1)}`);
  // What the CRM shows, and what the feed has of it: what is held stays.
  const crm = new Map<string, CrmRecord>([['stays', { id: 'stays' }]]);
  let known = new Map(crm);
  const erased = new Set<string>();
  const moments: { at: number; records: Map<string, CrmRecord> }[] = [];
  let edits = 0;
  const sweep = async (removals: RemovalRules): Promise<void> => {
    const at = await list.show([...crm.values()], { removals });
    const isHeld = removals === NONE_AT_ONCE;
    const held = isHeld ? [...known].filter(([id]) => !crm.has(id)) : [];
    known = new Map([...crm, ...held]);
    moments.push({ at, records: known });
  };
  await sweep(AT_ONCE);
  for (const { edits: all, holds, resyncs } of steps) {
    for (const one of all) {
      const stamp = new Date(Date.UTC(2026, 2, 1) + (edits += 1) * 1_000).toISOString();
      if (one.act === 'remove') crm.delete(one.id);
      else if (one.act === 'set')
        crm.set(one.id, { ...crm.get(one.id), ...one.fields, id: one.id, '수정 날짜': stamp });
      else {
        erased.add(one.id);
        const pages = [...(await list.store.pagesHolding('people', new Set([one.id]), () => false)).keys()];
        await list.store.erase('people', one.id, { pages, schema: new Map(), isDiscarded: false });
        await list.store.eraseHistory('people', one.id);
      }
    }
    if (resyncs) await list.store.forgetBaseline('people');
    await sweep(holds ? NONE_AT_ONCE : AT_ONCE);
  }
  for (const { at, records } of moments) {
    const shown = [...records.values()].filter(({ id }) => !erased.has(id));
    sameRecords(
      await list.asOf(at),
      shown.sort((one, other) => (one.id < other.id ? -1 : 1)),
    );
  }
}

it(
  'as of: the state of each sweep of any life of a list is what the list showed then',
  { timeout: 600_000 },
  async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), live), { numRuns: LIVES });
  },
);
