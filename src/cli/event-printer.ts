/** Prints events as `demo`, `start` and `tail` do on a terminal: a line each, with names where a record only has the id of another. */
import type { Inspector } from '../app/changefeed.js';
import type { CrmRecord } from '../crm/record.js';
import { workspaceOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import type { Io } from './io.js';
import { eventLine } from './print-event.js';

/** Fields with the id of a record of another list, the more telling one first. */
const REFERENCES = [
  ['peopleId', 'people'],
  ['organizationId', 'organization'],
] as const;
const NAME = '이름';

type Lookup = Pick<Inspector, 'record'>;

export async function printEvent(
  event: ChangeEvent,
  lists: Lookup,
  { out, colours, columns }: Pick<Io, 'out' | 'colours' | 'columns'>,
): Promise<void> {
  out(eventLine(event, { colours: colours.out, columns, about: await nameOfOwner(event, lists) }));
}

/** Of the person or organization that a record without a name of its own belongs to; undefined where none is stored. */
async function nameOfOwner(event: ChangeEvent, lists: Lookup): Promise<string | undefined> {
  const record: CrmRecord | null = event.data.after ?? event.data.before;
  if (record === null || typeof record[NAME] === 'string') return undefined;
  for (const [field, list] of REFERENCES) {
    const id = record[field];
    if (typeof id !== 'string' || id === '') continue;
    // A line without the name is better than none.
    const owner = await lists.record(list, id, workspaceOf(event)).catch(() => null);
    const name = owner?.[NAME];
    if (typeof name === 'string' && name !== '') return name;
  }
  return undefined;
}
