import { USUAL, type ListDescriptor } from './descriptor.js';

/** Section 2.5 of the interface, which shows neither fields nor key: the key is the one of real answers. */
export const activity = {
  ...USUAL,
  name: 'activity',
  path: 'v2/people/activity',
  key: 'peopleActivityList',
  keyIsWritten: false,
  object: 'person_activity',
  ids: 'optional',
  growsOnly: true,
} as const satisfies ListDescriptor;
