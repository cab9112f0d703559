import { USUAL, type ListDescriptor } from './descriptor.js';

/** Section 2.5 of the interface, which shows neither fields nor key: the key is the one of real answers. */
export const history = {
  ...USUAL,
  name: 'history',
  path: 'v2/deal/history',
  key: 'dealHistoryList',
  keyIsWritten: false,
  object: 'deal_history',
  ids: 'optional',
  growsOnly: true,
} as const satisfies ListDescriptor;
