/** Masked fields are never stored or delivered as they are, and their changes are found. */
import { expect, it } from 'vitest';
import type { ListInput } from '../../../src/config/schema.js';
import { sweepInNewLives } from '../../support/feed.js';
import { startOtherCrm, type OtherRecord } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';
import { keysThatSay } from '../../support/stored-texts.js';

const MASK = { 전화: 'last4', 이메일: 'hash', 주민번호: 'drop' } as const;

const person = (index: number, fields: object = {}): OtherRecord => ({
  id: `p${index}`,
  이름: `사람 ${index}`,
  전화: ['010-5550-1234', null],
  이메일: 'gildong@crm.example',
  주민번호: '900101-1234567',
  '수정 날짜': '2026-03-01T00:00:00.000Z',
  ...fields,
});
const PLAIN = ['010-5550', '010-5551', 'gildong@', '900101', '910101'];

const redis = useRedis();
const said = (): Promise<string[]> => keysThatSay(redis.redis, redis.keys.prefix, PLAIN);

async function twenty(options: ListInput) {
  const crm = await startOtherCrm();
  crm.lists.people = Array.from({ length: 20 }, (_, index) => person(index));
  const run = sweepInNewLives({ redis });
  expect(await run(crm, options)).toEqual([]);
  return { crm, run };
}

it('masks: a masked field is stored and delivered in its other form, and its changes are found', async () => {
  const { crm, run } = await twenty({ mask: MASK });
  crm.lists.people[3] = person(3, { 전화: ['010-5551-1234', null] });
  crm.lists.people[4] = person(4, { 주민번호: '910101-1234567' });
  const [event, ...others] = await run(crm, { mask: MASK });
  expect(others).toEqual([]);
  const { after, changes } = event!.data;
  const [phone, email] = [/^…1234#[\w-]{6}$/, /^#[\w-]{16}$/];
  expect(changes).toEqual([
    {
      field: '전화',
      before: [expect.stringMatching(phone), null],
      after: [expect.stringMatching(phone), null],
    },
  ]);
  expect(after).toEqual({
    ...{ id: 'p3', 이름: '사람 3', '수정 날짜': expect.any(String) as string },
    전화: changes[0]?.after,
    이메일: expect.stringMatching(email) as string,
  });
  expect(await said()).toEqual([]);
});

it('masks: a mask that is added or taken away makes no event, and is applied to what is stored by the next sweep', async () => {
  const { crm, run } = await twenty({});
  expect(await said()).not.toEqual([]);
  crm.lists.people[5] = person(5, { 전화: ['010-5551-1234', null], 이메일: 'other@crm.example' });
  const added = await run(crm, { mask: MASK });
  expect(added.map(({ subject, data }) => [subject, data.changes.map(({ field }) => field)])).toEqual([
    ['p5', ['이메일', '전화']],
  ]);
  expect(await said()).toEqual([]);
  expect(await run(crm, { mask: { ...MASK, 주민번호: 'hash' } })).toEqual([]);
  expect(await run(crm, {})).toEqual([]);
  expect(await said()).not.toEqual([]);
  crm.lists.people[5] = person(5);
  expect(await run(crm, {})).toHaveLength(1);
});

it('masks: a removed record that was stored before its fields were masked is reported without them', async () => {
  const { crm, run } = await twenty({});
  crm.lists.people.splice(7, 1);
  await run(crm, { removals: { confirm: 3 }, mask: MASK });
  await run(crm, { removals: { confirm: 3 }, mask: MASK });
  const [event] = await run(crm, { removals: { confirm: 3 }, mask: MASK });
  expect(event).toMatchObject({ type: 'crm.person.deleted', data: { before: { 이름: '사람 7' } } });
  expect(await said()).toEqual([]);
});
