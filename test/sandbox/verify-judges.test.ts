/** Is the score right? A correct plain detector must get a perfect score; one with a flaw must not. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { SIX_LISTS } from '../../src/ops/server/read-api/lists.js';
import { scoreEvents, type Score } from '../../sandbox/verify/score.js';
import { rowsOfGate } from '../support/night.js';
import { PlainDetector, type Flaw } from '../support/plain-detector.js';

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
      if (count === 0) sandbox.behave({ churn: 0, schedules: { 'cursor-row-deleted': { times: 0 } } });
      sandbox.step(count);
      for (const list of Object.values(SIX_LISTS)) await detector.sweep(target, list);
    }
    return scoreEvents({ journal: sandbox.journal.lines(), events: detector.events, removalAfterMs: 0 });
  } finally {
    await sandbox.stop();
  }
}

const runs = fc.record({ seed: fc.nat(500), steps: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }) });

const PROFILES = [
  'moving',
  'restless',
  'calm',
  'churn',
  'order-id',
  'cursor-snapshot',
  'wild',
  'end-empty-page',
  'minute-stamps',
  'still-stamps',
];

test.each(rowsOfGate(2, PROFILES))(
  'verify: under "%s" a correct detector has full recall and no false events',
  async (profile) => {
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
  },
);

const run: Run = { seed: 3, steps: [15, 15] };

test('verify: a detector that misses changes gets a lower recall (control)', async () => {
  const score = await scoreOf(run, 'calm', { losesEvery: 10 });
  expect(score.recall).toBeLessThan(1);
  expect(score.recall).toBeGreaterThan(0.7);
  expect(score.missed.length).toBe(score.expected - score.found);
});

test('verify: a detector that reports noise gets false events (control)', async () => {
  const score = await scoreOf(run, 'restless', { hasty: true });
  expect(score.falseEvents).toBeGreaterThan(20);
  expect(score.inventions.every(({ reason }) => reason === 'nothing-changed' || reason === 'unknown-record')).toBe(
    true,
  );
});

test('verify: a detector that reports removals too early on shifting pages gets false events (control)', async () => {
  const sandbox = createSandbox({ people: 40, limit: null, behaviour: { pageSize: 5, cursor: 'offset', churn: 6 } });
  try {
    const target = await sandbox.start();
    const detector = new PlainDetector({ hasty: true });
    for (let sweep = 0; sweep < 8; sweep++) await detector.sweep(target, SIX_LISTS.people);
    const score = scoreEvents({ journal: sandbox.journal.lines(), events: detector.events, removalAfterMs: 0 });
    expect(score.falseEvents).toBeGreaterThan(0);
  } finally {
    await sandbox.stop();
  }
});
