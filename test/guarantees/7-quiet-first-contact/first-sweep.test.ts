/** Guarantee 7: the first complete sweep of a list emits nothing. */
import { expect, it } from 'vitest';
import { sweepInNewLives, summaryOf } from '../../support/feed.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const redis = useRedis();

it('first contact: the first sweep emits nothing, and the next one only what changed', async () => {
  const crm = await startOtherCrm();
  const sweep = sweepInNewLives({ redis });
  expect(await sweep(crm)).toEqual([]);
  const [first] = crm.lists.people;
  crm.lists.people[0] = { ...first!, 이름: '새 이름', '수정 날짜': '2026-03-02T09:00:00.000Z' };
  expect((await sweep(crm)).map(summaryOf)).toEqual([`updated ${first!.id} 이름`]);
});

it("first contact: with baseline: 'emit' there is a snapshot of every record (control)", async () => {
  const crm = await startOtherCrm();
  const events = await sweepInNewLives({ redis })(crm, { baseline: 'emit' });
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['crm.person.snapshot']));
  expect(events).toHaveLength(crm.lists.people.length);
});
