import { expect, test } from 'vitest';
import type { SandboxOptions } from '../../sandbox/options.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import type { ServedList } from '../../src/server/read-api/lists.js';
import { readPage, walk, walkAll, type Fields } from '../support/read-api.js';
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

test('sandbox lists: the six lists have the same records with and without a further list', async () => {
  const [plain, more] = [await served({ lists: {} }), await served()];
  expect(await walkAll(more.target)).toEqual(await walkAll(plain.target));
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

test('sandbox lists: the stream of mutations reaches every further list', async () => {
  const { sandbox } = await served();
  sandbox.step(300);
  const lists = new Set(sandbox.journal.lines().flatMap((line) => (line.line === 'mutation' ? [line.list] : [])));
  expect([...lists]).toEqual(expect.arrayContaining(['people', 'todo', 'deal', 'product']));
});

test('sandbox lists: paging and faults apply to a further list as to the six', async () => {
  const { sandbox, target } = await served({ behaviour: { pageSize: 10, end: 'missing', empties: 'absent' } });
  const all = await walk(target, DEAL);
  expect(all.flatMap((record) => Object.values(record))).not.toContain(null);
  const first = await readPage(target, DEAL);
  expect(first.nextCursor).toBe(all[9]?.id);
  sandbox.behave({ drift: 'added', cursor: 'offset' });
  expect((await readPage(target, DEAL)).records[0]).toEqual({ ...all[0], recordVersion: 1 });
  sandbox.behave({ schedules: { 'json-500': { every: 1 } } });
  await expect(readPage(target, DEAL)).rejects.toThrow('500');
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
