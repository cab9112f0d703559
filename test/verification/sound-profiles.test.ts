import { randomBytes } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { rowsOfGate } from '../support/night.js';
import { runProfile, type ProfileRun } from './run-profile.js';

const judged = async (run: Pick<ProfileRun, 'profile' | 'rounds' | 'midRun'>): Promise<object> => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const { score } = await runProfile({ ...run, seed: 5, redisUrl: inject('redisUrl'), prefix, mutationsPerRound: 30 });
  const { recall, falseEvents, orderViolations, sequenceGaps, repeated, missed, inventions, actors } = score;
  expect(score.expected).toBeGreaterThan(20);
  return {
    recall,
    falseEvents,
    orderViolations,
    sequenceGaps,
    repeated,
    missed,
    inventions,
    wrongActors: actors.wrong,
  };
};
const PERFECT = {
  ...{ recall: 1, falseEvents: 0, orderViolations: 0, sequenceGaps: 0, repeated: 0 },
  ...{ missed: [], inventions: [], wrongActors: 0 },
};

/** The short form of `npm run verify:profiles`: two profiles, a short life, the whole judgement. */
it.each(rowsOfGate(1, ['wild', 'flaky']))(
  'under a sound profile nothing is missed and nothing invented: %s',
  { timeout: 240_000 },
  async (profile) => {
    expect(await judged({ profile, rounds: 2 })).toEqual(PERFECT);
  },
);

it(
  'nothing is missed, nothing invented, and no actor is wrong: while history is refused, lies, is late and is written no more in mid-run',
  { timeout: 240_000 },
  async () => {
    const midRun = [
      {},
      { historyLists: '403' },
      { historyLists: 'served', historyRows: 'lying' },
      { historyRows: 'late' },
      { historyRows: 'none' },
      { historyRows: 'true' },
    ] as const;
    expect(await judged({ profile: 'calm', rounds: midRun.length, midRun })).toEqual(PERFECT);
  },
);
