/** What a sweep of an unchanged list costs, compared with downloading its bytes and with two naive pipelines. */
import { atLeast, atMost, type Bench } from './support/bench.js';
import { compare, measured, onStage, warmUp } from './support/stage.js';

export const unchanged: Bench = {
  name: 'unchanged',
  does: 'a sweep of an unchanged list',
  records: [200_000],
  run: async (flags) =>
    await onStage(flags.records[0] ?? 0, async (stage) => {
      await warmUp(stage, flags.warmUp);
      const comparison = await compare(stage, { turns: flags.turns, settleMs: 2_000 });
      const goals = { download: atMost(1.25), naive: atLeast(60), batched: atLeast(20) };
      return measured(comparison, { goals, stage, flags });
    }),
};
