/** Masked fields are never stored or delivered as they are, and their changes are found. */
import { describe, expect, it } from 'vitest';
import type { ListInput } from '../../../src/config/schema.js';
import { sweepInNewLives } from '../../support/feed.js';
import { listedApi } from '../../support/listed.js';
import { startOtherCrm, type OtherRecord } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';
import { keysThatSay } from '../../support/stored-texts.js';
import { sweptList } from '../../support/swept-list.js';

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

describe('masks of every field:', () => {
  const EVERY = { '*': 'hash' } as const;
  const READABLE = [...PLAIN, '사람 ', '가상동', '홍길동', 'img.example', '87654321'];
  const readable = (): Promise<string[]> => keysThatSay(redis.redis, redis.keys.prefix, READABLE);
  const shown = (index: number, fields: object = {}): OtherRecord =>
    person(index, {
      매출: 87_654_321,
      '수신 동의': index % 2 === 0,
      주소: { 동: '가상동', 번지: [12, '나'] },
      담당자: { id: 'u1', name: '홍길동' },
      '프로필 사진': 'https://img.example/1?sig=1&se=1',
      ...fields,
    });
  const twentyOf = async (options: ListInput) => {
    const crm = await startOtherCrm();
    crm.lists.people = Array.from({ length: 20 }, (_, index) => shown(index));
    const run = sweepInNewLives({ redis });
    await run(crm, options);
    return { crm, run };
  };
  const hash = expect.stringMatching(/^#[\w-]{16}$/) as string;

  it('a change is found, nothing readable is stored, and a new signature or spelling is no change', async () => {
    const { crm, run } = await twentyOf({ mask: EVERY });
    crm.lists.people = crm.lists.people.map((_, index) =>
      shown(index, { '프로필 사진': 'https://img.example/1?sig=2&se=2' }),
    );
    crm.lists.people[3] = shown(3, { 주소: { 동: '가상동', 번지: [13, '나'] } });
    crm.lists.people[4] = shown(4, { 담당자: { id: 'u1', name: '홍길동 팀장' } });
    const events = await run(crm, { mask: EVERY });
    expect(events.map(({ subject, data }) => [subject, data.class])).toEqual([
      ['p3', 'edited'],
      ['p4', 'refreshed'],
    ]);
    const address = { 동: hash, 번지: [hash, hash] };
    expect(events[0]?.data.changes).toEqual([{ field: '주소', before: address, after: address }]);
    expect(events[0]?.data.changes[0]?.before).not.toEqual(events[0]?.data.changes[0]?.after);
    expect(events[0]?.data.after).toEqual({
      ...{ id: 'p3', '수정 날짜': '2026-03-01T00:00:00.000Z' },
      ...{ 이름: hash, 전화: [hash, null], 이메일: hash, 주민번호: hash, 매출: hash, '수신 동의': hash, 주소: address },
      ...{ 담당자: { id: hash, name: hash }, '프로필 사진': hash },
    });
    crm.lists.people.splice(7, 1);
    for (let sweep = 0; sweep < 2; sweep += 1) events.push(...(await run(crm, { mask: EVERY })));
    expect(events.at(-1)).toMatchObject({
      type: 'crm.person.deleted',
      subject: 'p7',
      data: { before: { 이름: hash } },
    });
    expect(await readable()).toEqual([]);
  });

  it('without the mask, all of it can be read (control)', async () => {
    await twentyOf({});
    const found = await readable();
    expect(READABLE.filter((word) => !found.some((one) => one.endsWith(word)))).toEqual(['010-5551', '910101']);
  });

  it('a field with an entry of its own is kept in that form, wherever the entry stands', async () => {
    const { crm, run } = await twentyOf({ mask: { '*': 'hash', 전화: 'last4', 주민번호: 'drop' } });
    crm.lists.people[3] = shown(3, { 이름: '새 이름' });
    const [event] = await run(crm, { mask: { '*': 'hash', 전화: 'last4', 주민번호: 'drop' } });
    expect(event?.data.after).toMatchObject({ 이름: hash, 전화: [expect.stringMatching(/^…1234#/), null] });
    expect(event?.data.after).not.toHaveProperty('주민번호');
  });

  it('todos stay watched', async () => {
    const api = listedApi([]);
    const list = sweptList(redis, api, 'todo');
    const watch = { timeZone: 'Asia/Seoul', dueSoonMs: 3_600_000 };
    const todo = {
      id: 't1',
      제목: '홍길동에게 전화',
      완료: false,
      '마지막 날짜': '2096-03-01T09:00:00.000Z',
      담당자: { id: 'u1' },
    };
    const show = async (record: object) => await list.show([record as never], { watch, rules: { mask: EVERY } });
    await show(todo);
    await show({ ...todo, 완료: true, '완료 날짜': '2026-03-01T08:00:00.000Z', 담당자: { id: 'u2' } });
    const events = await list.events();
    expect(events.map(({ type }) => type)).toEqual(['crm.todo.updated', 'crm.todo.reassigned', 'crm.todo.completed']);
    expect(events[2]).toMatchObject({ time: '2026-03-01T08:00:00.000Z', data: { after: { 제목: hash, 완료: true } } });
    expect(await redis.redis.zcard(redis.keys.due('acme'))).toBe(0);
    expect(await readable()).toEqual([]);
  });
});
