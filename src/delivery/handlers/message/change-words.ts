/** A changed field as a chat names it. A field such as `peopleId` has an id, which says nothing to a person. Pure. */
import { builtInLists, readyMadeLists } from '../../../crm/lists/lists.js';
import { listsForWord } from '../../../crm/references.js';
import type { ChangeData, FieldChange } from '../../../events/types.js';
import type { Formats } from '../../../words/format.js';
import { wordsFor } from '../../../words/words.js';

/** As many characters of an id as tell the records of one workspace apart. */
const ID_PLACES = 8;

interface ChangeWords {
  field: string;
  /** Null: there is no value. */
  before: string | null;
  after: string | null;
}

/** The record that a field refers to has its title where `include` has read it, otherwise the start of its id. */
export function changeInWords(
  { field, before, after }: FieldChange,
  { related = {} }: ChangeData,
  formats: Formats,
): ChangeWords {
  const [, word = ''] = /^(\w+)Id$/.exec(field) ?? [];
  const [object] = [builtInLists, readyMadeLists].flatMap((lists) =>
    listsForWord(word, lists).flatMap((name) => lists.byName(name)?.object ?? []),
  );
  if (object === undefined) return { field, before: formats.value(before), after: formats.value(after) };
  const side = (id: unknown): string | null => {
    const known = Object.values(related).find((one) => one?.id === id);
    if (typeof id !== 'string' || id === '') return null;
    return known?.title ?? (id.length > ID_PLACES ? `${id.slice(0, ID_PLACES)}…` : id);
  };
  return { field: wordsFor(formats.language).word('object', object), before: side(before), after: side(after) };
}
