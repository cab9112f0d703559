/** The sliding window of a workspace's granted requests, in Redis, shared by all processes. */
import type { BudgetLimits, BudgetWindow, Refusal, WindowAnswer } from './budget.js';
import type { Reads } from '../../redis/reads.js';
import type { WorkspaceKeys, WorkspaceRedis } from '../../redis/keys.js';
import { loadScript, unexpectedAnswer, words } from '../../redis/scripts.js';

const takeBudget = loadScript('take-budget', import.meta.url);
const pauseBudget = loadScript('pause-budget', import.meta.url);

/** The TTL of the keys: longer than the allowance takes to climb from a tenth of the budget to all of it. */
const LEAST_TTL_MS = 1_200_000;
const TTL_WINDOWS = 100;
/** Refusals of this time have one cause: an answer of a usual API takes less, and a retry at least 200 ms. */
const ONE_REFUSAL_MS = 1_000;

export function createBudgetWindow({ redis, keys, workspace }: WorkspaceRedis): BudgetWindow {
  const used = [keys.budget(workspace), keys.budgetWindow(workspace), keys.budgetPause(workspace)];
  return {
    async take({ wanted, allowed, burst, windowMs, refusal }) {
      const ttlMs = Math.max(LEAST_TTL_MS, TTL_WINDOWS * windowMs);
      const args = [wanted, allowed, burst, windowMs, refusal ?? '', ttlMs];
      return answerOf(words(takeBudget, await takeBudget.run(redis, used, args)));
    },
    async refused({ pauseMs, recentMs }) {
      const args = [Math.max(1, Math.ceil(pauseMs)), ONE_REFUSAL_MS, recentMs];
      await pauseBudget.run(redis, [keys.budget(workspace), keys.budgetPause(workspace)], args);
    },
  };
}

function answerOf([word, first = '', second = '', third = '']: readonly string[]): WindowAnswer {
  if (word === 'granted') return { outcome: 'granted', requests: Number(first), waitMs: Number(second) };
  if (word === 'none') return { outcome: 'other refusal', refusal: null };
  if (word !== 'other') throw unexpectedAnswer(takeBudget, word ?? 'nothing');
  return { outcome: 'other refusal', refusal: { id: first, level: Number(second), agoMs: Number(third) } };
}

/** The last 429, how long requests are paused after it, and the used share of the last window. */
export async function readBudgetUse(
  { reads, keys, workspace }: WorkspaceKeys & { reads: Reads },
  { requests, perSeconds }: BudgetLimits,
): Promise<{ refusal: Refusal | null; pausedMs: number; used: number }> {
  const budget = keys.budget(workspace);
  const [fields, ttlMs, pausedMs] = (await Promise.all([
    reads('hmget', budget, 'ends', 'refusal', 'level', 'last', 'used'),
    reads('pttl', budget),
    reads('pttl', keys.budgetPause(workspace)),
  ])) as [(string | null)[], number, number];
  const [ends = null, id = null, level = null, last, taken] = fields;
  const nowMs = Number(ends) - ttlMs;
  // `taken` is the number of requests in the window when one was last asked for.
  const isNow = ttlMs > 0 && nowMs - Number(last) < perSeconds * 1_000;
  const now = { pausedMs: Math.max(0, pausedMs), used: isNow ? Math.min(1, (Number(taken) || 0) / requests) : 0 };
  if (ends === null || id === null || ttlMs <= 0) return { refusal: null, ...now };
  return { refusal: { id, level: Number(level), agoMs: Math.max(0, nowMs - Number(id)) }, ...now };
}
