/** Which records a record names. A field refers to a list by its name or object: `deal` is found by `dealId`. */
import type { ListName, Lists } from './lists/lists.js';
import type { UncheckedRecord } from './record.js';

/** Other words for an object, in field names and in the vendor's webhooks. A word may stand for several objects. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  dealLead: ['deal', 'lead'],
  contact: ['person'],
  고객: ['person'],
  회사: ['organization'],
  딜: ['deal'],
  리드: ['lead'],
  견적서: ['quote'],
  상품: ['product'],
};

export interface Reference {
  list: ListName;
  id: string;
}

/** The lists that a word stands for: `people`, `person`, `고객`. Unknown words stand for none. */
export function listsForWord(word: string, lists: Lists): ListName[] {
  const objects = Object.hasOwn(OTHER_WORDS, word) ? (OTHER_WORDS[word] ?? []) : [word];
  return objects.flatMap((object) => {
    const list = lists.byName(object) ?? lists.byObject(object);
    return list === undefined ? [] : [list.name];
  });
}

/** The records that a record names, each once, in the order of its fields. */
export function referencesIn(record: UncheckedRecord, lists: Lists): Reference[] {
  const references = new Map<string, Reference>();
  for (const [field, value] of Object.entries(record)) {
    const word = field.length > 2 && field.endsWith('Id') ? field.slice(0, -2) : field;
    const ids = word === field ? idsIn(value) : idsOf(value);
    if (ids.length === 0) continue;
    for (const list of listsForWord(word, lists)) for (const id of ids) references.set(`${list} ${id}`, { list, id });
  }
  return [...references.values()];
}

function idsOf(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [value] : [];
}

/** The value of a field such as `people`: a reference or several. Lists write `id`, the history `_id`. */
function idsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => (Array.isArray(one) ? [] : idsIn(one)));
  if (typeof value !== 'object' || value === null) return [];
  const { id, _id } = value as { id?: unknown; _id?: unknown };
  return idsOf(id ?? _id);
}
