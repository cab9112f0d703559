/**
 * The turn of an attempt at its destination. What waits for seconds waits in its run, whose lock is renewed. Where it is longer, the run gives its job
 * back to the front of the queue, and the queue rests: nothing of it gets past what waits.
 */
import { sleepUntilAborted, systemClock } from '../../kit/clock.js';
import { limitOf } from './allowance.js';
import { originOf } from '../deliveries.js';
import { TakenOver, turnOf, type GivenRun, type NoTurn, type RunOptions } from './run.js';

/** `alone`: after a refusal, as the only one. */
export interface Turn {
  outcome: 'go' | 'alone';
}

const GO = { outcome: 'go' } as const;

/** Waits until the attempt may go. @throws TakenOver */
export async function waitForTurn(run: GivenRun, attempt: number, context: RunOptions): Promise<Turn | NoTurn> {
  const { subscription, pace, closing } = context;
  const { destination, rate, timeoutMs } = subscription;
  if (destination === undefined) return GO;
  const { job, lock } = run;
  // A replay and a snapshot are not limited.
  const most = originOf(job.id ?? '') === undefined ? (limitOf(context) ?? 0) : 0;
  for (;;) {
    const answer = await pace.ask(destination, { id: turnOf(run, context), attempt, rate, most, timeoutMs });
    if (answer.outcome === 'rest') return { outcome: 'rests', waitMs: answer.ms };
    if (answer.outcome !== 'wait') return { outcome: answer.outcome };
    const signal = AbortSignal.any([closing, lock.interrupt.signal]);
    await sleepUntilAborted(systemClock, answer.ms, signal);
    if (lock.interrupt.cause === 'lost') throw new TakenOver();
    if (signal.aborted) return { outcome: 'stopping' };
  }
}

export function hasTurn(turn: Turn | NoTurn): turn is Turn {
  return turn.outcome === 'go' || turn.outcome === 'alone';
}

/** What went alone has ended: the others need not wait until it would be late. */
export async function endTurn({ outcome }: Turn | NoTurn, run: GivenRun, context: RunOptions): Promise<void> {
  const { destination } = context.subscription;
  if (outcome === 'alone' && destination !== undefined) await context.pace.release(destination, turnOf(run, context));
}
