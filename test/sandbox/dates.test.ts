import { expect, test } from 'vitest';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import type { Clock } from '../../src/kit/clock.js';
import { createSandbox } from '../../sandbox/sandbox.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 4, 6);
const at = (day: number): Clock => ({
  now: () => START + day * DAY_MS + 7 * 3_600_000,
  monotonic: () => 0,
  sleep: () => Promise.resolve(),
});

function recordsOf({ world }: ReturnType<typeof createSandbox>, list: (typeof LIST_NAMES)[number]) {
  return world
    .order(list)
    .slice(0, Infinity)
    .map((index) => world.image(list, index)!);
}

test('sandbox dates: a seed and a start give the same records on any day', () => {
  const imagesOf = (day: number, start?: number) => {
    const sandbox = createSandbox({ people: 20, clock: at(day), ...(start !== undefined && { start }) });
    return LIST_NAMES.map((list) => recordsOf(sandbox, list));
  };
  expect(imagesOf(40, START)).toEqual(imagesOf(0));
  expect(imagesOf(40)).not.toEqual(imagesOf(0));
});
