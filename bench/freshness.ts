/** How late changes are noticed while a workspace lives, compared with a walk of all lists without end in the same budget. */
import { atLeast, atMost, type Bench } from './support/bench.js';
import { readWorld, type World } from './support/lived-workspace.js';
import { rounded } from './support/turns.js';

export const freshness: Bench = {
  name: 'freshness',
  does: 'the delay of changes in a living workspace, compared with a plain walk in the same budget',
  records: [],
  run: async ({ more }) => {
    const world: World = {
      scale: Number(more['scale'] ?? 0.1),
      budget: { requests: Number(more['requests'] ?? 80), perSeconds: 10 },
      latencyMs: Number(more['latency'] ?? 200),
      rate: Number(more['rate'] ?? 2),
      walks: Number(more['walks'] ?? 4),
      history: more['history'] === '1',
      seed: Number(more['seed'] ?? 1),
    };
    // At the full size, the plain walk takes as long as ours.
    const walk = more['plain'] === '0' ? null : await readWorld(world, 'walk');
    const ours = await readWorld(world, 'changefeed');
    const { requests, perSeconds } = world.budget;
    const isWhole = world.scale >= 1;
    return {
      median: ours.named.p50,
      unit: 'seconds, p50 of named records',
      ratios: {
        'named p50 in plain walks': rounded(ours.named.p50 / ours.walkSeconds, 3),
        'created p95, seconds': ours.created.p95,
        'edits p50, seconds': ours.edits.p50,
        'edits p50 in plain walks': rounded(ours.edits.p50 / ours.walkSeconds, 3),
        'edits p95, seconds': ours.edits.p95,
        'completions p50 in plain walks': rounded(ours.completions.p50 / ours.walkSeconds, 3),
        'completions p95 in plain walks': rounded(ours.completions.p95 / ours.walkSeconds, 3),
        'slowest in plain walks': rounded(ours.all.max / ours.walkSeconds),
        'part of the budget used': rounded(ours.requestsPerMinute / ((60 * requests) / perSeconds), 3),
        ...(walk && { 'slowest against the slowest of the walk': rounded(ours.all.max / walk.all.max) }),
      },
      goals: {
        'named p50 in plain walks': atMost(1 / 20),
        ...(!isWhole && { 'created p95, seconds': atMost(5), 'completions p95 in plain walks': atMost(0.75) }),
        'completions p50 in plain walks': atMost(isWhole ? 1 / 10 : 1 / 8),
        ...(world.history
          ? { 'edits p50, seconds': atMost(isWhole ? 10 : 2), 'edits p95, seconds': atMost(isWhole ? 30 : 5) }
          : { 'edits p50 in plain walks': atMost(1 / 3) }),
        'part of the budget used': atLeast(0.98),
        'slowest in plain walks': atMost(3),
        ...(walk && { 'slowest against the slowest of the walk': atMost(1.1) }),
      },
      facts: { ...world, ours, walk },
    };
  },
};
