import { describe, expect, it } from 'vitest';
import { creationTimeOf, modifiedAtOf } from '../../src/detect/fields.js';
import { valueTypesOf } from '../../src/detect/stored-record.js';
import { compileRules } from '../../src/detect/rules.js';

const time = '2026-03-01T10:00:00.000Z';
const other = '2026-03-02T10:00:00.000Z';

describe("a record's own times", () => {
  it('are found under every name that real bodies use, in either composition', () => {
    for (const name of ['수정 날짜', 'updatedAt', '수정 날짜'.normalize('NFD')])
      expect(modifiedAtOf({ [name]: time })).toBe(time);
    for (const name of ['생성 날짜', 'createdAt', 'date']) expect(creationTimeOf({ [name]: time })).toBe(time);
  });

  it('prefer the documented name, and use the next when that is empty', () => {
    expect(modifiedAtOf({ updatedAt: other, '수정 날짜': time })).toBe(time);
    expect(creationTimeOf({ date: other, createdAt: time })).toBe(time);
    for (const nothing of [null, '', 7, undefined])
      expect(modifiedAtOf({ '수정 날짜': nothing, updatedAt: time })).toBe(time);
  });

  it('are null where no name holds a text', () => {
    expect([modifiedAtOf({ date: time }), creationTimeOf({ updatedAt: time }), modifiedAtOf({ updatedAt: 1 })]).toEqual(
      [null, null, null],
    );
  });
});

describe('fields: kept by the system', () => {
  const counters = [
    '리드 개수',
    '딜 개수',
    '진행중 딜 개수',
    '성사된 딜 개수',
    '실패된 딜 개수',
    '종료된 딜 수',
    '총 매출',
    '연결된 고객 수',
  ];
  const notes = ['최근 작성된 노트', '최근 노트 작성일', '최근 노트 작성자'];
  const forms = ['최근 제출된 웹폼', '최근 웹폼 제출 날짜', '제출된 웹폼 목록'];
  const sequences = [
    '최근 등록한 시퀀스',
    '최근 시퀀스 등록일',
    '누적 시퀀스 등록수',
    '현재 진행중인 시퀀스 여부',
    '등록된 시퀀스 목록',
  ];
  const activity = ['최근 고객 활동일', '최근 연락일', '최근 이메일 받은 날짜', '최근 이메일'];
  const todos = ['다음 TODO', '다음 TODO 날짜', '전체 TODO', '완료 TODO', '미완료 TODO'];
  const kept = [...counters, ...notes, ...forms, ...sequences, ...activity, ...todos];

  it.each(['people', 'organization'] as const)('are counters and latest things of other records, in %s', (list) => {
    const { isSystemKept } = compileRules(list);
    expect(kept.filter((field) => !isSystemKept(field))).toEqual([]);
    expect(['이름', '담당자', '', '딜', '다음 TODO 담당자', '내 딜 개수'].filter(isSystemKept)).toEqual([]);
  });

  it.each(['memo', 'todo', 'history', 'activity'] as const)('is nothing in %s', (list) => {
    const { isSystemKept } = compileRules(list);
    expect(['', '이름', ...kept].filter(isSystemKept)).toEqual([]);
  });
});

describe('fields: the other spelling of a todo field', () => {
  const names = (record: object, list: 'todo' | 'memo' = 'todo') => [
    ...valueTypesOf(record as Record<string, unknown>, compileRules(list)).keys(),
  ];

  it('is mapped to the documented name', () => {
    expect(names({ 시작일: time, 종료일: time, 완료일: time })).toEqual(['시작 날짜', '마지막 날짜', '완료 날짜']);
  });

  it('is a field of its own when the record also has the documented name, and in other lists', () => {
    expect(names({ 완료일: time, '완료 날짜': time })).toEqual(['완료일', '완료 날짜']);
    expect(names({ 완료일: time }, 'memo')).toEqual(['완료일']);
  });
});
