/** What a message says beyond its events: the names of records that they refer to, and where a person sees the record. Read once for all of them. */
import type { ListName } from '../../../crm/lists/lists.js';
import type { CrmRecord } from '../../../crm/record.js';
import { nameItBelongsTo } from '../../../events/about.js';
import { titleOfRecord } from '../../../events/describe.js';
import { personOf } from '../../../events/person-in-charge.js';
import { titlesOfRelated } from '../../../events/related.js';
import type { ChangeEvent } from '../../../events/types.js';
import type { HandlerContext } from '../handler.js';
import { listsOfField, type NameOf } from './change-words.js';

export interface Background {
  nameOf: NameOf;
  /** Whose a memo, a todo or an activity is. */
  ownerOf: (event: ChangeEvent) => string | undefined;
  /** Where a person sees the record; null: nowhere. */
  linkOf: (event: ChangeEvent) => string | null;
}

/** Of a message about events alone. */
export const NO_BACKGROUND: Background = {
  nameOf: () => undefined,
  ownerOf: () => undefined,
  linkOf: ({ data }) => data.link ?? null,
};

/** A message has few lines. What is beyond these reads keeps its id. */
const MOST_READ = 100;

type Read = Pick<HandlerContext, 'records' | 'pageOf'>;

/** Reads what is stored; nothing is asked of the CRM. A failed read costs the name, not the message. */
export async function readBackground(events: readonly ChangeEvent[], { records, pageOf }: Read): Promise<Background> {
  const reads = new Map<string, Promise<CrmRecord | null>>();
  const names = new Map<string, string>();
  const owners = new Map<ChangeEvent, string>();
  const find = (list: ListName, id: string): Promise<CrmRecord | null> => {
    const key = keyOf(list, id);
    const known = reads.get(key);
    if (known !== undefined) return known;
    if (reads.size >= MOST_READ) return Promise.resolve(null);
    const reading = records.get(list, id).catch(() => null);
    reads.set(key, reading);
    return reading;
  };
  const name = async (list: ListName, id: string): Promise<void> => {
    const record = await find(list, id);
    const title = record === null ? null : titleOfRecord(record);
    if (title !== null) names.set(keyOf(list, id), title);
  };
  const belongsTo = async (event: ChangeEvent): Promise<void> => {
    const owner = await nameItBelongsTo(event, find);
    if (owner !== undefined) owners.set(event, owner);
  };
  // In one turn of the event loop, so that one write to Redis has all reads.
  await Promise.all(
    events.flatMap((event) => [belongsTo(event), ...referencesIn(event).map(({ list, id }) => name(list, id))]),
  );
  return {
    nameOf: (list, id) => names.get(keyOf(list, id)),
    ownerOf: (event) => owners.get(event),
    linkOf: (event) => event.data.link ?? pageOf(event),
  };
}

/** The records that changed fields named before and name now. */
function referencesIn({ data: { changes } }: ChangeEvent): { list: ListName; id: string }[] {
  return changes.flatMap(({ field, before, after }) =>
    listsOfField(field).flatMap(({ name: list }) =>
      [before, after].flatMap((id) => (typeof id === 'string' && id !== '' ? [{ list, id }] : [])),
    ),
  );
}

function keyOf(list: ListName, id: string): string {
  return `${list} ${id}`;
}

/** The records of `include`, or else the one that it belongs to: each once. */
export function whoseOf(event: ChangeEvent, { ownerOf }: Background): string[] {
  const related = titlesOfRelated(event);
  return related.length > 0 ? related : [ownerOf(event) ?? []].flat();
}

/** Null where nobody is in charge, and where only an id is known, which says nothing to a reader. */
export function nameInCharge(event: ChangeEvent): string | null {
  const person = personOf(event);
  return person === null || person.name === person.id ? null : person.name;
}
