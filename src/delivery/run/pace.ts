/**
 * When attempts may go to a destination, which many subscriptions, workspaces and processes share: at its rate, at most so many in a minute, and none
 * while it has refused.
 */
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';
import { loadScript, unexpectedAnswer, words } from '../../redis/scripts.js';
import type { Rate } from '../handlers/handler.js';
import { ALLOWANCE_MS } from '../moments.js';

const takeTurn = loadScript('take-turn', import.meta.url);
const holdDestination = loadScript('hold-destination', import.meta.url);

/** A run that waits for longer makes it harder to pause its subscription, and is one more that a crash counts as an attempt. */
const LONGEST_WAIT_MS = 10_000;
/** An attempt is left to its end a little after its timeout. */
const ENDING_MS = 1_000;

interface Asked {
  /** Subscription and job: the same event goes to many subscriptions. */
  id: string;
  attempt: number;
  rate: Rate | undefined;
  /** Attempts in a minute, of all that have a limit; 0: it has none. */
  most: number;
  timeoutMs: number;
}

type Answer = { outcome: 'go' | 'alone' } | { outcome: 'wait' | 'rest'; ms: number };

export function createPaceStore(redis: Redis, keys: Keys) {
  const hold = async (destination: string, ...about: [id: string, ms: number | '', then: 'next' | 'gone']) => {
    await holdDestination.run(redis, [keys.pace(destination), keys.turns(destination)], about);
  };
  return {
    async ask(destination: string, { id, attempt, rate, most, timeoutMs }: Asked): Promise<Answer> {
      const touched = [keys.pace(destination), keys.turns(destination), keys.sent(destination)];
      const intervalMs = rate === undefined ? 0 : Math.ceil((rate.perSeconds * 1_000) / rate.requests);
      const bounds = [ALLOWANCE_MS, LONGEST_WAIT_MS, timeoutMs + ENDING_MS];
      const answer = await takeTurn.run(redis, touched, [id, attempt, intervalMs, most, ...bounds]);
      const [outcome, ms] = words(takeTurn, answer);
      if (outcome === 'go' || outcome === 'alone') return { outcome };
      if (outcome === 'wait' || outcome === 'rest') return { outcome, ms: Number(ms) };
      throw unexpectedAnswer(takeTurn, outcome);
    },
    /** @param again the refused delivery is tried again, and is the first to go then */
    hold: (destination: string, { id, ms, again }: { id: string; ms: number; again: boolean }) =>
      hold(destination, id, Math.ceil(ms), again ? 'next' : 'gone'),
    /** What went alone was not refused again. */
    release: (destination: string, id: string) => hold(destination, id, '', 'gone'),
  };
}
