/** Interrupts work that would make rounds of the event loop long. */
import { setImmediate } from 'node:timers/promises';

/** A round that has had nothing to do is shorter than this. */
const IDLE_MS = 0.1;
const MOST_MS = 50;

/**
 * Waits until what has come meanwhile is done, for 50 ms at most. Node accepts one connection in a round of its event loop: without this, a health
 * check waits as many long rounds as there are connections before it.
 */
export async function giveWay(): Promise<void> {
  const until = performance.now() + MOST_MS;
  for (let [before, now] = [-Infinity, performance.now()]; now - before > IDLE_MS && now < until;) {
    before = now;
    await setImmediate();
    now = performance.now();
  }
}
