/** The person, organization, deal or lead of a record without a name of its own: a memo, a todo or an activity has only its id. */
import type { ListName } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import { workspaceOf } from './envelope.js';
import type { ChangeEvent } from './types.js';

/** The stored record; null when there is none, or when only a digest of it is stored. */
export type FindRecord = (list: ListName, id: string, workspace: string) => Promise<CrmRecord | null>;

/** Fields with the id of a record of another list, the more telling one first. */
const REFERENCES = [
  ['peopleId', 'people'],
  ['organizationId', 'organization'],
  ['dealId', 'deal'],
  ['leadId', 'lead'],
] as const;
const NAME = '이름';

/** Undefined where the record has its own name, and where no name is stored. */
export async function nameItBelongsTo(event: ChangeEvent, find: FindRecord): Promise<string | undefined> {
  const record: CrmRecord | null = event.data.after ?? event.data.before;
  if (record === null || typeof record[NAME] === 'string') return undefined;
  return (await recordItBelongsTo(record, workspaceOf(event), find))?.name;
}

/** Null where no name is stored. */
export async function recordItBelongsTo(
  record: CrmRecord,
  workspace: string,
  find: FindRecord,
): Promise<{ list: ListName; id: string; name: string } | null> {
  for (const [field, list] of REFERENCES) {
    const id = record[field];
    if (typeof id !== 'string' || id === '') continue;
    // A record without the name is better than none.
    const owner = await find(list, id, workspace).catch(() => null);
    const name = owner?.[NAME];
    if (typeof name === 'string' && name !== '') return { list, id, name };
  }
  return null;
}
