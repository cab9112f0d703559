import { expect, test } from 'vitest';
import type { SandboxOptions } from '../../sandbox/options.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import type { ServedList } from '../../src/ops/server/read-api/lists.js';
import { walk, type Fields } from '../support/read-api.js';
import { served as servedWith } from '../support/sandbox.js';

const DEAL: ServedList = { name: 'deal', path: 'v2/deal', key: 'dealList', object: 'deal' };

const served = (options: SandboxOptions = {}) => servedWith({ lists: { deal: 120, product: 7 }, ...options });

const idsOf = (records: readonly Fields[]): string[] => records.map(({ id }) => id);

test('sandbox lists: a further list is served at the path and under the key that follow from its name', async () => {
  const { sandbox, target } = await served();
  const deals = await walk(target, DEAL);
  expect(new Set(idsOf(deals)).size).toBe(120);
  expect(Object.keys(deals[0]!)).toEqual([
    'id',
    '이름',
    '상태',
    '금액',
    '설명',
    '담당자',
    '팀',
    '생성 날짜',
    '수정 날짜',
  ]);
  expect(
    await walk(target, { name: 'product', path: 'v2/product', key: 'productList', object: 'product' }),
  ).toHaveLength(7);
  expect(sandbox.world.counts).toMatchObject({ people: 30, deal: 120, product: 7 });
});

test('sandbox lists: records of a further list are created, edited and removed, and the journal has each change', async () => {
  const { sandbox, target } = await served();
  const before = await walk(target, DEAL);
  const edited = sandbox.life.editIn('deal', before[3]?.id, { status: '보류', amount: 5 });
  const created = sandbox.life.createIn('deal', { name: '새 딜' });
  const removed = sandbox.life.deleteIn('deal', before[4]?.id);
  const after = new Map((await walk(target, DEAL)).map((record) => [record.id, record]));
  expect(after.get(edited)).toMatchObject({ 상태: '보류', 금액: 5 });
  expect(after.get(edited)?.['수정 날짜']).not.toBe(before[3]?.['수정 날짜']);
  expect(after.get(created)).toMatchObject({ 이름: '새 딜' });
  expect(after.has(removed)).toBe(false);
  const seen = { list: 'deal', cause: 'direct', visibleAt: expect.stringMatching(/Z$/) as string };
  expect(sandbox.journal.lines().filter(({ line }) => line === 'mutation')).toMatchObject([
    { ...seen, kind: 'edit-record', id: edited },
    { ...seen, kind: 'create-record', id: created, before: null },
    { ...seen, kind: 'delete-record', id: removed, after: null },
  ]);
});

test.each([
  ['people', /"people".*belongs to one of the six lists/],
  ['person', /"person".*belongs to one of the six lists/],
  ['activity', /"activity".*belongs to one of the six lists/],
  ['Deal', /"Deal".*lower-case letters/],
  ['deal/history', /"deal\/history".*lower-case letters/],
  ['', /"".*lower-case letters/],
])('sandbox lists: the name "%s" is refused with the reason', (name, reason) => {
  expect(() => createSandbox({ lists: { [name]: 5 } })).toThrow(reason);
});
