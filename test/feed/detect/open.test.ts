import { expect, it } from 'vitest';
import { descriptorOf } from '../../../src/crm/lists/lists.js';
import { USUAL } from '../../../src/crm/lists/descriptor.js';
import { openRecords, openWeight } from '../../../src/feed/detect/open.js';

const HOUR_MS = 3_600_000;
const deals = { ...USUAL, name: 'deal', path: 'v2/deal', key: null, object: 'deal' };

it('open: todos that are not done, with the hour they are due at, in both spellings', () => {
  const rows = [
    { id: 'a', 완료: false, '마지막 날짜': new Date(500_000 * HOUR_MS).toISOString() },
    { id: 'b', 완료: false, 종료일: new Date(500_024 * HOUR_MS).toISOString() },
    { id: 'c', 완료: false, '마지막 날짜': null },
    { id: 'd', 완료: true, '마지막 날짜': new Date(500_000 * HOUR_MS).toISOString() },
    { id: 'e' },
  ];
  expect(openRecords({ records: rows }, descriptorOf('todo'))).toEqual([500_000, 500_024, null]);
  expect(openRecords({ records: rows }, descriptorOf('memo'))).toEqual([]);
});

it('open: records with another value than the closed ones, in either Unicode form', () => {
  const list = { ...deals, open: { field: '상태', closed: ['성사', 'Lost'] } };
  const rows = ['진행', '성사', '성사'.normalize('NFD'), 'Lost', null].map((상태, at) => ({ id: `d${at}`, 상태 }));
  expect(openRecords({ records: rows }, list)).toEqual([null, null]);
});

it('open: the nearer a due date, before or after now, the more it weighs', () => {
  expect(openWeight([500_000], 500_000 * HOUR_MS)).toBe(1);
  expect(openWeight([500_024, 499_976], 500_000 * HOUR_MS)).toBe(1);
  expect(openWeight([null], 500_000 * HOUR_MS)).toBe(1 / 8);
});
