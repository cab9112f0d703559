/** The lists of the interface. A further built-in list is one more descriptor here, and its name in `BUILT_IN`. */
import { USUAL, type HistoryRole, type ListDescriptor } from './descriptor.js';

/** Fields of people, organizations, deals and leads that the system refreshes when *other* records change. */
export const KEPT_BY_SYSTEM: readonly string[] = [
  '리드 개수',
  '딜 개수',
  '진행중 딜 개수',
  '성사된 딜 개수',
  '실패된 딜 개수',
  '종료된 딜 수',
  '총 매출',
  '연결된 고객 수',
  '최근 작성된 노트',
  '최근 노트 작성일',
  '최근 노트 작성자',
  '최근 제출된 웹폼',
  '최근 웹폼 제출 날짜',
  '제출된 웹폼 목록',
  '최근 등록한 시퀀스',
  '최근 시퀀스 등록일',
  '누적 시퀀스 등록수',
  '현재 진행중인 시퀀스 여부',
  '등록된 시퀀스 목록',
  '최근 고객 활동일',
  '최근 연락일',
  '최근 이메일*',
  '다음 TODO',
  '다음 TODO 날짜',
  '전체 TODO',
  '완료 TODO',
  '미완료 TODO',
];

/** The names of a list in each place. A function, so that the compiler keeps the literals. */
export function named<const Names extends Record<'name' | 'path' | 'key' | 'object', string>>(names: Names): Names {
  return names;
}

/** Section 2.1 of the interface. */
const people = {
  ...USUAL,
  ...named({ name: 'people', path: 'v2/people', key: 'peopleList', object: 'person' }),
  merged: true,
  systemKept: KEPT_BY_SYSTEM,
} as const satisfies ListDescriptor;

/** Section 2.2 of the interface. */
const organization = {
  ...USUAL,
  ...named({ name: 'organization', path: 'v2/organization', key: 'organizationList', object: 'organization' }),
  merged: true,
  systemKept: KEPT_BY_SYSTEM,
} as const satisfies ListDescriptor;

/** Section 2.3 of the interface. */
const memo = {
  ...USUAL,
  ...named({ name: 'memo', path: 'v2/memo', key: 'memoList', object: 'memo' }),
} as const satisfies ListDescriptor;

/** Section 2.4 of the interface. */
const todo = {
  ...USUAL,
  ...named({ name: 'todo', path: 'v2/todo', key: 'todoList', object: 'todo' }),
  spellings: { 시작일: '시작 날짜', 종료일: '마지막 날짜', 완료일: '완료 날짜' },
  open: { field: '완료', closed: [true], due: '마지막 날짜' },
} as const satisfies ListDescriptor;

/** A history of these objects. All name the changed field, its value and the person or program alike. */
export function historyOf(...of: HistoryRole['of']): HistoryRole {
  return { of, changed: 'fieldName', value: 'fieldValue', actor: 'source' };
}

/** Rows are only ever added, and may have no id. The interface does not show the keys: these are of real answers. */
export const ROWS = {
  ...USUAL,
  keyIsWritten: false,
  ids: 'optional',
  growsOnly: true,
} as const satisfies Partial<ListDescriptor>;

/** Section 2.5 of the interface. */
const history = {
  ...ROWS,
  ...named({ name: 'history', path: 'v2/deal/history', key: 'dealHistoryList', object: 'deal_history' }),
  history: historyOf({ object: 'deal', field: 'dealId' }, { object: 'lead', field: 'leadId' }),
} as const satisfies ListDescriptor;

/** Section 2.5 of the interface. */
const activity = {
  ...ROWS,
  ...named({ name: 'activity', path: 'v2/people/activity', key: 'peopleActivityList', object: 'person_activity' }),
} as const satisfies ListDescriptor;

export const BUILT_IN = [people, organization, memo, todo, history, activity] as const;
