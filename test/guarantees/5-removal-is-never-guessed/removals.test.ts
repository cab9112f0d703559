/** Guarantee 5: a record is deleted only after two complete sweeps without it, and a mass removal waits for a person. */
import { describe, expect, it } from 'vitest';
import type { ListInput } from '../../../src/config/schema.js';
import { sweepInNewLives, summaryOf } from '../../support/feed.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const UNGUARDED = { maxShare: 1, maxCount: 1_000 };

describe('removal is never guessed', () => {
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

  it('removal: a record that two complete sweeps do not show is deleted once', async () => {
    const crm = await startOtherCrm();
    const sweep = sweepInNewLives({ redis });
    await sweep(crm);
    const { id } = crm.lists.people.shift()!;
    const events = [...(await sweep(crm)), ...(await sweep(crm)), ...(await sweep(crm))];
    expect(events.map(summaryOf)).toEqual([`deleted ${id}`]);
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
});
