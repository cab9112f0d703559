import { USUAL, type ListDescriptor } from './descriptor.js';

/** Section 2.3 of the interface. */
export const memo = {
  ...USUAL,
  name: 'memo',
  path: 'v2/memo',
  key: 'memoList',
  object: 'memo',
} as const satisfies ListDescriptor;
