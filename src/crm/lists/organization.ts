import { KEPT_OF_CONTACTS } from './contacts.js';
import { USUAL, type ListDescriptor } from './descriptor.js';

/** Section 2.2 of the interface. */
export const organization = {
  ...USUAL,
  name: 'organization',
  path: 'v2/organization',
  key: 'organizationList',
  object: 'organization',
  merged: true,
  systemKept: KEPT_OF_CONTACTS,
} as const satisfies ListDescriptor;
