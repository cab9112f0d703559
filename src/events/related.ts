/** The parts of a delivered event that the log does not have: where a person sees the record, and the records that it refers to. Pure. */
import type { Lists } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import { listsForWord, referencesIn, type Reference } from '../crm/references.js';
import { titleOfRecord } from './describe.js';
import { objectOf } from './envelope.js';
import type { ChangeEvent, Related } from './types.js';

/** The address for each object, with `{id}` in it. */
export type Links = ReadonlyMap<string, string>;

/** @param given by object or list name, as a configuration has it */
export function linksByObject(given: Readonly<Record<string, string>>, lists: Lists): Links {
  const objectsOf = (word: string): string[] =>
    listsForWord(word, lists).flatMap((name) => lists.byName(name)?.object ?? []);
  return new Map(Object.entries(given).flatMap(([word, link]) => objectsOf(word).map((object) => [object, link])));
}

/** The link to an event's record; null where the workspace has none for such a record, and for an event that is not about a record. */
export function linkOf(event: ChangeEvent, links: Links): string | null {
  return (event.data.after ?? event.data.before) === null ? null : linkTo(objectOf(event), event.subject, links);
}

/** The link to a record; null where the workspace has none for such a record. */
export function linkTo(object: string, id: string, links: Links): string | null {
  return links.get(object)?.replaceAll('{id}', encoded(id)) ?? null;
}

/** Also what would end the link in the text of a chat, such as `)`. */
function encoded(id: string): string {
  const escapeOf = (one: string): string => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(id).replace(/[!'()*]/g, escapeOf);
}

/** The fields that are asked for, or all of them, by object or list name. */
export type Include = Readonly<Record<string, true | readonly string[]>>;

/** The records to which an event's record refers, by the words of `include`; null where it refers to no such record. */
export function referencesOf({ data }: ChangeEvent, include: Include, lists: Lists): [string, Reference | null][] {
  const record = data.after ?? data.before;
  const references = record === null ? [] : referencesIn(record, lists);
  return Object.keys(include).map((word) => {
    const names = listsForWord(word, lists);
    return [word, references.find(({ list }) => names.includes(list)) ?? null];
  });
}

/** `id` and `title`, and the fields that are asked for. */
export function relatedRecord(record: CrmRecord, id: string, asked: Include[string]): Related {
  const names = asked === true ? null : new Set(asked.map((name) => name.normalize('NFC')));
  const fields = Object.entries(record).filter(([field]) => names?.has(field.normalize('NFC')) ?? true);
  return { ...Object.fromEntries(fields), id, title: titleOfRecord(record) ?? id };
}

/** The titles of the records of `include`, each once. */
export function titlesOfRelated({ data: { related = {} } }: ChangeEvent): string[] {
  return [...new Set(Object.values(related).flatMap((one) => (one === null ? [] : [one.title])))];
}
