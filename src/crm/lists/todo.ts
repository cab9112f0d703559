import { USUAL, type ListDescriptor } from './descriptor.js';

/** Section 2.4 of the interface. */
export const todo = {
  ...USUAL,
  name: 'todo',
  path: 'v2/todo',
  key: 'todoList',
  object: 'todo',
  spellings: { 시작일: '시작 날짜', 종료일: '마지막 날짜', 완료일: '완료 날짜' },
} as const satisfies ListDescriptor;
