/**
 * Field names of the interface (section 2) in both spellings that servers use: which fields are timestamps, and which the
 * system keeps. How a field is compared is decided in `crm/fields.ts`.
 */
import type { ListName } from '../events/lists.js';

/** The record's own change time. It does not prove a change: fields change without it, and it moves without them. */
const STAMP_FIELDS: readonly string[] = ['수정 날짜', 'updatedAt'];
const CREATION_FIELDS: readonly string[] = ['생성 날짜', 'createdAt', 'date'];

/** The fields of a todo, the documented name first. 완료 is a boolean, 담당자 a reference, 팀 a list of them; the others are dates. */
export const TODO_FIELDS = {
  done: ['완료'],
  doneAt: ['완료 날짜', '완료일'],
  start: ['시작 날짜', '시작일'],
  due: ['마지막 날짜', '종료일'],
  owner: ['담당자'],
  teams: ['팀'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Counters and latest-activity fields that the system updates when *other* records change. */
const SYSTEM_KEPT_PATTERNS: readonly string[] = [
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
export function systemKeptFields(list: ListName): readonly string[] {
  return list === 'people' || list === 'organization' ? SYSTEM_KEPT_PATTERNS : [];
}

export function isStampField(field: string): boolean {
  return STAMP_FIELDS.includes(field);
}

export function modifiedAtOf(record: Readonly<Record<string, unknown>>): string | null {
  return firstText(record, STAMP_FIELDS);
}

export function creationTimeOf(record: Readonly<Record<string, unknown>>): string | null {
  return firstText(record, CREATION_FIELDS);
}

/** The first value under any of the names, in either Unicode form. Undefined: no field exists. Null: one exists and is empty. */
export function firstValue(record: Readonly<Record<string, unknown>>, fields: readonly string[]): unknown {
  let found: unknown;
  for (const name of fields.flatMap((field) => [field, field.normalize('NFD')])) {
    const value = record[name];
    if (value !== undefined && value !== null) return value;
    if (value === null) found = null;
  }
  return found;
}

function firstText(record: Readonly<Record<string, unknown>>, fields: readonly string[]): string | null {
  for (const field of fields) {
    const value = record[field] ?? record[field.normalize('NFD')];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}
