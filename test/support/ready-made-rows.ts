/** Synthetic answers of the ready-made lists, for tests that need a row of each. */
import type { ReadApi } from '../../src/feed/api/read-api.js';
import { readyMadeLists, type ListName } from '../../src/crm/lists/lists.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { listedApi, type ListedApi } from './listed.js';

const USER = { type: 'user', id: '5b0e0c52-0000-4000-8000-000000000001', name: '담당A' };
const OWNERS = [
  { id: '5b0e0c52-0000-4000-8000-000000000001', name: '담당A' },
  { id: '5b0e0c52-0000-4000-8000-000000000002', name: '담당B' },
] as const;
const COUNT = 12;

const idOf = (kind: string, index: number): string =>
  `0198f0c0-0000-7000-8${kind}00-${String(index).padStart(12, '0')}`;
const time = (ms: number): string => new Date(ms).toISOString();

function sale(name: string, kind: string, { index, atMs }: { index: number; atMs: number }): UncheckedRecord {
  return {
    id: idOf(kind, index),
    peopleId: null,
    organizationId: null,
    이름: `${name} ${index}`,
    파이프라인: { id: '0198f0c0-0000-7000-8e00-000000000001', name: '영업' },
    '파이프라인 단계': { id: '0198f0c0-0000-7000-8f00-000000000001', name: '상담' },
    금액: 1_000_000 * index,
    상태: '진행중',
    마감일: null,
    담당자: OWNERS[0],
    '생성 날짜': time(atMs),
    '수정 날짜': time(atMs),
  };
}

const HISTORIES: Readonly<Record<string, { kind: string; of: string; about: string }>> = {
  people_history: { kind: 'a', of: 'peopleId', about: '1' },
  organization_history: { kind: 'b', of: 'organizationId', about: '2' },
  lead_history: { kind: 'c', of: 'leadId', about: 'd' },
};

function historyRow(list: string, { index, atMs }: { index: number; atMs: number }): UncheckedRecord {
  const { kind, of, about } = HISTORIES[list] ?? { kind: '0', of: 'id', about: '0' };
  return {
    id: idOf(kind, index),
    [of]: idOf(about, index % COUNT),
    type: 'editField',
    source: USER,
    fieldName: '담당자',
    fieldValue: { _id: OWNERS[1].id, name: OWNERS[1].name },
    ownerId: USER.id,
    createdAt: time(atMs),
  };
}

function rowOf(list: ListName, at: { index: number; atMs: number }): UncheckedRecord {
  if (list === 'deal') return sale('딜', 'e', at);
  return list === 'lead' ? sale('리드', 'd', at) : historyRow(list, at);
}

export interface ReadyMadeRows {
  api: Pick<ReadApi, 'fetchPage' | 'fetchIfChanged'>;
  /** A new row in each list, and another value in the first one. Of leads, the history says who changed it. */
  change: (atMs: number) => void;
  remove: () => void;
  drift: () => void;
}

export function readyMadeRows(atMs: number): ReadyMadeRows {
  const lists = new Map<ListName, ListedApi>(
    readyMadeLists.all.map(({ name }) => [
      name,
      listedApi(
        Array.from({ length: COUNT }, (_, index) => rowOf(name, { index, atMs })),
        50,
      ),
    ]),
  );
  const each = (change: (list: ListedApi, name: ListName) => UncheckedRecord[]): void =>
    lists.forEach((list, name) => (list.records = change(list, name)));
  const of = (name: ListName): ListedApi => {
    const found = lists.get(name);
    if (found === undefined) throw new Error(`"${name}" is no ready-made list`);
    return found;
  };
  return {
    api: {
      fetchPage: (list, options) => of(list).fetchPage(list, options),
      fetchIfChanged: (list, options) => of(list).fetchIfChanged(list, options),
    },
    change(nowMs) {
      each(({ records: [first, ...others] }, name) => [
        name in HISTORIES ? { ...first, ownerId: null } : { ...first, 담당자: OWNERS[1], '수정 날짜': time(nowMs) },
        ...others,
        rowOf(name, { index: COUNT, atMs: nowMs }),
      ]);
    },
    remove: () => each(({ records: [first = {}, _second, ...others] }) => [first, ...others]),
    drift: () => each(({ records }) => records.map((record) => ({ ...record, '가입 경로': '소개' }))),
  };
}
