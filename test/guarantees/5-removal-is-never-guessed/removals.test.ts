/**
 * Guarantee 5: a record is deleted only after two complete sweeps and 30 s without it, and a mass removal waits for a person.
 */
import { expect, it } from 'vitest';
import type { ListInput } from '../../../src/config/schema.js';
import { systemClock } from '../../../src/kit/clock.js';
import { sweepInNewLives, summaryOf } from '../../support/feed.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const UNGUARDED = { maxShare: 1, maxCount: 1_000 };

const redis = useRedis();

it.each<[string, ListInput, string[]]>([
  ['a record that one sweep does not show is not deleted', {}, []],
  ['with one sweep as proof, it is (control)', { removals: { confirm: 1 } }, ['deleted']],
])('removal: %s', async (_what, options, expected) => {
  const crm = await startOtherCrm();
  const sweep = sweepInNewLives({ redis });
  await sweep(crm, options);
  const all = crm.lists.people;
  const verbs: string[] = [];
  for (const people of [all.slice(1), all, all]) {
    crm.lists.people = people;
    verbs.push(...(await sweep(crm, options)).map((event) => summaryOf(event).split(' ')[0]!));
  }
  expect(verbs).toEqual(expected);
});

it.each<[string, ListInput, string[]]>([
  ['is not deleted', {}, []],
  [
    'without the time between them is deleted (control)',
    { removals: { after: '0s' } },
    Array<string>(8).fill('deleted'),
  ],
])('removal: a list that is empty in every sweep of 20 s %s', async (_what, options, expected) => {
  let minutes = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + minutes * 60_000 };
  const crm = await startOtherCrm();
  crm.lists.people = crm.lists.people.slice(0, 8);
  const sweep = sweepInNewLives({ redis, clock });
  await sweep(crm, options);
  minutes = 1;
  const all = crm.lists.people;
  const verbs: string[] = [];
  for (const [people, pause] of [
    [[], 0.1],
    [[], 0.1],
    [[], 0.1],
    [all, 0],
    [all, 0],
  ] as const) {
    crm.lists.people = [...people];
    verbs.push(...(await sweep(crm, options)).map((event) => summaryOf(event).split(' ')[0]!));
    minutes += pause;
  }
  expect(verbs.filter((verb) => verb === 'deleted')).toEqual(expected);
});

it('removal: a record that all sweeps of 30 s do not show is deleted once', async () => {
  let seconds = 60;
  const clock = { ...systemClock, now: () => systemClock.now() + seconds * 1_000 };
  const crm = await startOtherCrm();
  const sweep = sweepInNewLives({ redis, clock });
  await sweep(crm);
  const { id } = crm.lists.people.shift()!;
  const found: string[][] = [];
  for (const pause of [0, 20, 11, 60]) {
    seconds += pause;
    found.push((await sweep(crm)).map(summaryOf));
  }
  expect(found).toEqual([[], [], [`deleted ${id}`], []]);
});

it.each<[string, ListInput, number]>([
  ['is held', {}, 0],
  ['without the guard is reported (control)', { removals: UNGUARDED }, 16],
])('removal: a list that loses nearly all its records %s', async (_what, options, expected) => {
  const crm = await startOtherCrm();
  const sweep = sweepInNewLives({ redis });
  await sweep(crm, options);
  crm.lists.people = crm.lists.people.slice(0, 1);
  const events = [...(await sweep(crm, options)), ...(await sweep(crm, options)), ...(await sweep(crm, options))];
  expect(events.filter(({ type }) => type.endsWith('.deleted'))).toHaveLength(expected);
});
