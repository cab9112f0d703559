/** What a sweep costs when 1 % of the records changed in few pages, 1 % at random, and everything. */
import { atLeast, atMost, type Bench } from './support/bench.js';
import type { ChangeCommand } from './support/pages.js';
import { compare, measured, onStage, warmUp, type Comparison, type Stage } from './support/stage.js';

const CASES = {
  'few pages': { where: 'few pages', share: 0.01 },
  random: { where: 'random', share: 0.01 },
  all: { where: 'all', share: 1 },
} as const;
const GOALS = {
  'few pages: download': atMost(1.6),
  'random: naive': atLeast(15),
  'all: naive': atLeast(3),
};

export const changed: Bench = {
  name: 'changed',
  does: 'a sweep of a list of which 1 % changed in few pages, 1 % at random, or everything',
  records: [200_000],
  run: async (flags) =>
    await onStage(flags.records[0] ?? 0, async (stage) => {
      await warmUp(stage, flags.warmUp);
      const cases = [];
      for (const [name, { where, share }] of Object.entries(CASES)) {
        const [result, pages] = await compareChanged(stage, flags.turns, { where, share });
        cases.push([name, { ...result, pages }] as const);
      }
      const own = cases.map(([, { median }]) => median);
      const ratios = cases.flatMap(([name, result]) =>
        Object.entries(result.ratios).map(([against, ratio]) => [`${name}: ${against}`, ratio] as const),
      );
      const whole = measured(
        { median: own[1] ?? 0, ratios: Object.fromEntries(ratios), contestants: {} },
        { goals: GOALS, stage, flags },
      );
      return { ...whole, facts: { ...whole.facts, contestants: undefined, cases: Object.fromEntries(cases) } };
    }),
};

async function compareChanged(
  stage: Stage,
  turns: number,
  { where, share }: { where: ChangeCommand['where']; share: number },
): Promise<[Comparison, number]> {
  let pages = 0;
  const before = async (): Promise<void> => {
    pages = (await stage.pages.change(where, share)).pages;
  };
  const result = await compare(stage, { turns, before });
  return [result, pages];
}
