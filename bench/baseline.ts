/** What the first sweep of a list costs: every record is new and stored with its image. */
import { atLeast, type Bench } from './support/bench.js';
import { compare, measured, onStage } from './support/stage.js';

export const baseline: Bench = {
  name: 'baseline',
  does: 'the first sweep of a list, with images',
  records: [200_000],
  run: async (flags) =>
    await onStage(flags.records[0] ?? 0, async (stage) => {
      const prepare = async (): Promise<void> => {
        await stage.redis.flushall('SYNC');
      };
      const contestants = stage.contestants.map((contestant) => ({ ...contestant, prepare }));
      const comparison = await compare({ ...stage, contestants }, { turns: flags.turns });
      return measured(comparison, { goals: { naive: atLeast(6), batched: atLeast(1.5) }, stage, flags });
    }),
};
