import { expect, test } from 'vitest';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import type { SandboxOptions } from '../../sandbox/options.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import { get, walk, walkAll } from '../support/read-api.js';
import { served } from '../support/sandbox.js';

const sandboxOf = (options: SandboxOptions = {}) => served({ people: 120, ...options });

test('sandbox: a walk of each list shows every record exactly once', async () => {
  const { sandbox, target } = await sandboxOf();
  const lists = await walkAll(target);
  for (const list of LIST_NAMES) {
    expect(lists[list].length).toBe(sandbox.world.counts[list]);
    expect(new Set(lists[list].map(({ id }) => id)).size).toBe(lists[list].length);
  }
  expect(sandbox.world.counts).toMatchObject({
    people: 120,
    organization: 24,
    memo: 180,
    todo: 180,
    history: 480,
    activity: 480,
  });
});

test('sandbox: the same seed gives the same bytes, another seed gives others', async () => {
  const options = { people: 30, seed: 7 };
  const bytes = async (seed: number): Promise<string> =>
    (await get((await sandboxOf({ ...options, seed })).target, 'v2/people')).text;
  const [first, again, other] = [await bytes(7), await bytes(7), await bytes(8)];
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test('sandbox: an edit is on the next page, and the journal marks it as visible from then on', async () => {
  const { sandbox, target } = await sandboxOf();
  const id = sandbox.life.editPerson(undefined, { position: '고문' });
  const before = sandbox.journal.lines().filter((line) => line.line === 'mutation');
  expect(before.map((line) => line.visibleAt)).toEqual([null]);
  const person = (await walk(target, 'people')).find((record) => record.id === id);
  expect(person?.['포지션']).toBe('고문');
  expect(sandbox.journal.lines()).toMatchObject([
    {
      line: 'mutation',
      kind: 'edit-person',
      list: 'people',
      id,
      cause: 'direct',
      visibleAt: expect.stringMatching(/Z$/) as string,
    },
    { line: 'walk', list: 'people' },
  ]);
});

test('sandbox: the seeded stream makes the same mutations in every run', () => {
  const clock = { now: () => Date.UTC(2026, 1, 1), monotonic: () => 0, sleep: () => Promise.resolve() };
  const lives = [1, 2].map(() => {
    const sandbox = createSandbox({ people: 120, clock });
    return { verbs: sandbox.step(100), lines: sandbox.journal.lines() };
  });
  expect(lives[0]?.lines.length).toBeGreaterThan(100);
  expect(lives[1]).toEqual(lives[0]);
});

test('sandbox: a seed and a start give the same records on any day', () => {
  const [dayMs, startMs, timeOfDayMs] = [86_400_000, Date.UTC(2031, 4, 6), 7 * 3_600_000];
  const imagesOf = (day: number, start?: number) => {
    const clock = {
      now: () => startMs + day * dayMs + timeOfDayMs,
      monotonic: () => 0,
      sleep: () => Promise.resolve(),
    };
    const { world } = createSandbox({ people: 20, clock, ...(start !== undefined && { start }) });
    const all = (list: (typeof LIST_NAMES)[number]) => world.order(list).slice(0, Infinity);
    return LIST_NAMES.map((list) => all(list).map((index) => world.image(list, index)));
  };
  expect(imagesOf(40, startMs)).toEqual(imagesOf(0));
  expect(imagesOf(40)).not.toEqual(imagesOf(0));
});
