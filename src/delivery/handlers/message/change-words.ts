/** A changed field as a chat names it. A field such as `peopleId` has an id, which says nothing to a person. Pure. */
import { builtInLists, readyMadeLists, type ListName } from '../../../crm/lists/lists.js';
import type { ListDescriptor } from '../../../crm/lists/descriptor.js';
import { listsForWord } from '../../../crm/references.js';
import type { ChangeData, FieldChange } from '../../../events/types.js';
import { fieldLabel } from '../../../words/field-label.js';
import type { Formats } from '../../../words/format.js';
import { wordsFor } from '../../../words/words.js';

/** As many characters of an id as tell the records of one workspace apart. */
const ID_PLACES = 8;

/** Undefined: the record is not stored, or has no name. */
export type NameOf = (list: ListName, id: string) => string | undefined;

interface ChangeWords {
  field: string;
  /** Null: there is no value. */
  before: string | null;
  after: string | null;
}

/** Whose ids a field such as `peopleId` has; none: its values are no ids. */
export function listsOfField(field: string): Pick<ListDescriptor, 'name' | 'object'>[] {
  const [, word = ''] = /^(\w+)Id$/.exec(field) ?? [];
  if (word === '') return [];
  return [builtInLists, readyMadeLists].flatMap((lists) =>
    listsForWord(word, lists).flatMap((name) => lists.byName(name) ?? []),
  );
}

/** The record that a field refers to has its title where it is stored, otherwise the start of its id. */
export function changeInWords(
  { field, before, after }: FieldChange,
  { related = {} }: ChangeData,
  { formats, nameOf }: { formats: Formats; nameOf: NameOf },
): ChangeWords {
  const lists = listsOfField(field);
  const { language, value } = formats;
  const label = fieldLabel(language, field);
  if (lists[0] === undefined) return { field: label, before: value(before), after: value(after) };
  const side = (id: unknown): string | null => {
    if (typeof id !== 'string' || id === '') return null;
    const included = Object.values(related).find((one) => one?.id === id)?.title;
    const stored = lists.flatMap(({ name }) => nameOf(name, id) ?? [])[0];
    return included ?? stored ?? (id.length > ID_PLACES ? `${id.slice(0, ID_PLACES)}…` : id);
  };
  const named = label === field ? wordsFor(language).word('object', lists[0].object) : label;
  return { field: named, before: side(before), after: side(after) };
}
