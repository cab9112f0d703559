/** The person in charge of a record: a user of the CRM. */
import type { UncheckedRecord } from '../crm/record.js';
import { shorten } from '../kit/printable.js';
import type { ChangeEvent } from './types.js';

const OWNER_FIELDS = ['담당자', 'owner'] as const;
/** The unit is characters. */
const LONGEST_NAME = 200;

export interface PersonInCharge {
  id: string;
  /** The id where the record has no name. */
  name: string;
}

/** Finds the person in charge of an event's record, which may be gone. */
export function personOf({ data: { after, before } }: Pick<ChangeEvent, 'data'>): PersonInCharge | null {
  const record = after ?? before;
  return record === null ? null : personInCharge(record);
}

/** Finds the person in charge; null where the record names no one. Memos and histories name only an id. */
export function personInCharge(record: UncheckedRecord): PersonInCharge | null {
  for (const field of OWNER_FIELDS) {
    const value = Object.hasOwn(record, field) ? record[field] : undefined;
    if (typeof value !== 'object' || value === null) continue;
    const { id, name } = value as { id?: unknown; name?: unknown };
    if (typeof id === 'string') return { id, name: shorten(typeof name === 'string' ? name : id, LONGEST_NAME) };
  }
  const id = Object.hasOwn(record, 'ownerId') ? record['ownerId'] : undefined;
  return typeof id === 'string' && id !== '' ? { id, name: id } : null;
}
