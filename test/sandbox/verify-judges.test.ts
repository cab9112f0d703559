/** Is the judge fair? A plain detector that loses and invents nothing must score full marks; one with a flaw must not. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIST_NAMES, OBJECT_OF, type ListName } from '../../src/events/lists.js';
import { createSandbox } from '../../src/sandbox/sandbox.js';
import type { JudgedEvent } from '../../src/sandbox/verify/read.js';
import { essence } from '../../src/sandbox/verify/same.js';
import { scoreEvents, type Score } from '../../src/sandbox/verify/score.js';
import { readPage, type Fields, type PageRead, type Target } from '../support/read-api.js';

interface Flaw {
  /** Does not see every so many changes. */
  losesEvery?: number;
  /** Takes the first absence for a removal, and a new order of keys for a change. */
  hasty?: boolean;
}

/** Walks the lists, compares with what it saw last, and tells. */
class PlainDetector {
  readonly events: JudgedEvent[] = [];
  readonly #known = new Map<ListName, Map<string, { record: Fields; sequence: number; missing: number }>>();
  readonly #flaw: Flaw;
  #changes = 0;

  constructor(flaw: Flaw = {}) {
    this.#flaw = flaw;
  }

  async sweep(target: Target, list: ListName): Promise<void> {
    const known = this.#known.get(list);
    const next = known ?? new Map<string, { record: Fields; sequence: number; missing: number }>();
    const seen = new Set<string>();
    let cursor: string | null = null;
    do {
      const page: PageRead = await readPage(target, list, cursor);
      for (const record of page.records) {
        seen.add(record.id);
        this.#see(list, next, record, known === undefined);
      }
      cursor = page.records.length === 0 || page.nextCursor === '' ? null : (page.nextCursor ?? null);
    } while (cursor !== null);
    for (const [id, entry] of next) {
      entry.missing = seen.has(id) ? 0 : entry.missing + 1;
      if (entry.missing < (this.#flaw.hasty === true ? 1 : 2)) continue;
      next.delete(id);
      this.#tell(list, 'deleted', id, entry.record, null, entry.sequence + 1);
    }
    this.#known.set(list, next);
  }

  #see(
    list: ListName,
    known: Map<string, { record: Fields; sequence: number; missing: number }>,
    record: Fields,
    quiet: boolean,
  ): void {
    const before = known.get(record.id);
    const text = (fields: Fields): string | null =>
      this.#flaw.hasty === true ? JSON.stringify(fields) : essence(fields, { ignore: new Set(), refNames: 'ignored' });
    if (before !== undefined && text(before.record) === text(record)) return;
    const sequence = (before?.sequence ?? 0) + (quiet ? 0 : 1);
    known.set(record.id, { record, sequence, missing: 0 });
    if (quiet || ++this.#changes % (this.#flaw.losesEvery ?? Infinity) === 0) return;
    this.#tell(list, before === undefined ? 'created' : 'updated', record.id, before?.record ?? null, record, sequence);
  }

  #tell(
    list: ListName,
    verb: string,
    subject: string,
    before: Fields | null,
    after: Fields | null,
    sequence: number,
  ): void {
    const observedAt = new Date().toISOString();
    const id = createHash('sha256')
      .update(JSON.stringify([list, subject, sequence]))
      .digest('hex');
    this.events.push({
      id,
      type: `crm.${OBJECT_OF[list]}.${verb}`,
      subject,
      time: observedAt,
      source: '/w',
      data: { before, after, sequence, observedAt },
    });
  }
}

interface Run {
  seed: number;
  steps: readonly number[];
}

async function scoreOf({ seed, steps }: Run, profile: string, flaw?: Flaw): Promise<Score> {
  const sandbox = createSandbox({
    seed,
    people: 14,
    memos: 10,
    todos: 12,
    history: 12,
    activity: 12,
    limit: null,
    profile,
    behaviour: { pageSize: 4 },
  });
  try {
    const target = await sandbox.start();
    const detector = new PlainDetector(flaw);
    // Two more sweeps of a still world at the end: what is to be seen is seen then, and removals are confirmed.
    for (const count of [0, ...steps, 0, 0]) {
      if (count === 0) sandbox.behave({ churn: 0, mishaps: { 'cursor-row-deleted': { times: 0 } } });
      sandbox.step(count);
      for (const list of LIST_NAMES) await detector.sweep(target, list);
    }
    return scoreEvents({ journal: sandbox.journal.lines(), events: detector.events });
  } finally {
    await sandbox.stop();
  }
}

const runs = fc.record({ seed: fc.nat(500), steps: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }) });

test.each([
  'calm',
  'churn',
  'moving',
  'order-id',
  'cursor-snapshot',
  'restless',
  'wild',
  'end-empty-page',
  'minute-stamps',
  'still-stamps',
])('under "%s" a plain detector has full recall and invents nothing', async (profile) => {
  await fc.assert(
    fc.asyncProperty(runs, async (run) => {
      const score = await scoreOf(run, profile);
      const { missed, inventions, recall, falseEvents, orderViolations, sequenceGaps, repeated } = score;
      expect({ missed, inventions }).toEqual({ missed: [], inventions: [] });
      expect({ recall, falseEvents, orderViolations, sequenceGaps, repeated }).toEqual({
        recall: 1,
        falseEvents: 0,
        orderViolations: 0,
        sequenceGaps: 0,
        repeated: 0,
      });
    }),
    { numRuns: 4 },
  );
});

const run: Run = { seed: 3, steps: [15, 15] };

test('a detector that loses changes is found out', async () => {
  const score = await scoreOf(run, 'calm', { losesEvery: 10 });
  expect(score.recall).toBeLessThan(1);
  expect(score.recall).toBeGreaterThan(0.7);
  expect(score.missed.length).toBe(score.expected - score.found);
});

test('a detector that takes noise for changes is found out', async () => {
  const score = await scoreOf(run, 'restless', { hasty: true });
  expect(score.falseEvents).toBeGreaterThan(20);
  expect(score.inventions.every(({ reason }) => reason === 'nothing-changed' || reason === 'unknown-record')).toBe(
    true,
  );
});

test('a hasty detector on shifting pages invents removals, and is found out', async () => {
  const sandbox = createSandbox({ people: 40, limit: null, behaviour: { pageSize: 5, cursor: 'offset', churn: 6 } });
  try {
    const target = await sandbox.start();
    const detector = new PlainDetector({ hasty: true });
    for (let sweep = 0; sweep < 8; sweep++) await detector.sweep(target, 'people');
    const score = scoreEvents({ journal: sandbox.journal.lines(), events: detector.events });
    expect(score.falseEvents).toBeGreaterThan(0);
  } finally {
    await sandbox.stop();
  }
});
