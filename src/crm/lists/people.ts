import { KEPT_OF_CONTACTS } from './contacts.js';
import { USUAL, type ListDescriptor } from './descriptor.js';

/** Section 2.1 of the interface. */
export const people = {
  ...USUAL,
  name: 'people',
  path: 'v2/people',
  key: 'peopleList',
  object: 'person',
  merged: true,
  systemKept: KEPT_OF_CONTACTS,
} as const satisfies ListDescriptor;
