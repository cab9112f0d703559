import { expect, it } from 'vitest';
import { createLocalBudget } from '../../../src/feed/api/local-budget.js';

const limits = { requests: 8, perSeconds: 2 };
const request = { list: 'people', kind: 'walk' } as const;

function stepping() {
  let nowMs = 1_000;
  const monotonic = (): number => nowMs;
  const sleep = (ms: number): Promise<void> => {
    nowMs += ms;
    return Promise.resolve();
  };
  return { now: () => 0, monotonic, sleep };
}

it('local budget: requests are spaced evenly, and none is sent during a pause', async () => {
  const clock = stepping();
  const budget = createLocalBudget(limits, clock);
  const sentAt: number[] = [];
  const send = async (): Promise<void> => {
    await budget.take(request);
    sentAt.push(clock.monotonic() - 1_000);
  };
  for (let nth = 0; nth < 9; nth += 1) await send();
  expect(sentAt).toEqual([0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000]);
  await budget.pause(5_000);
  await budget.pause(1_000);
  await send();
  expect(sentAt.at(-1)).toBe(7_000);
});

it('local budget: a request that waits when a pause begins waits for its end', async () => {
  const clock = stepping();
  const budget = createLocalBudget(limits, {
    ...clock,
    sleep: async (ms) => {
      await clock.sleep(ms);
      if (ms === 250) await budget.pause(3_000);
    },
  });
  await budget.take(request);
  await budget.take(request);
  expect(clock.monotonic()).toBe(1_000 + 250 + 3_000);
});
