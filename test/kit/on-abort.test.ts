import { expect, it, onTestFinished } from 'vitest';
import { systemClock, onAbort } from '../../src/kit/clock.js';

it('signal: Node.js warns of no leak when many wait for one signal, and each can stop listening', async () => {
  const warnings: string[] = [];
  const warned = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const stop = new AbortController();
  const calls: number[] = [];
  const forgets = Array.from({ length: 20 }, (_, nth) => onAbort(stop.signal, () => calls.push(nth)));
  const sleeps = Array.from({ length: 20 }, () => systemClock.sleep(60_000, stop.signal).catch(() => 'aborted'));
  for (const forget of forgets.slice(1)) forget();
  stop.abort();
  expect(await Promise.all(sleeps)).toEqual(Array.from({ length: 20 }, () => 'aborted'));
  expect(calls).toEqual([0]);
  // Warnings are emitted in the next tick.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});
