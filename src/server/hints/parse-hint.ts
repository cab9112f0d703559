/**
 * Reads the body of a hint: `{ list, ids }`, or the body of the vendor's webhook, which names an object and a record (`objectType`,
 * `objectId`). Pure. Webhooks are unsigned, so nothing of a body is taken for true: the named records are looked up, no more.
 */
import { isObject, type UncheckedRecord } from '../../crm/record.js';
import { MOST_IDS, problemOfIds } from '../../crm/hint.js';
import { listsForWord, type Reference } from '../../crm/references.js';
import type { ListName, Lists } from '../../crm/lists/lists.js';

/** `nothing`: well-formed, but it names no record of a polled list. The vendor checks a new webhook's address with such a request. */
export type ParsedHint =
  | { outcome: 'named'; named: ReadonlyMap<ListName, readonly string[]> }
  | { outcome: 'nothing'; reason: string }
  | { outcome: 'refused'; status: 400 | 404; reason: string };

/** @param lists the lists that are polled */
export function parseHint(text: string, lists: Lists): ParsedHint {
  if (text.trim() === '') return { outcome: 'nothing', reason: 'The body is empty.' };
  const body = jsonOf(text);
  if (body === undefined) return refused(400, 'expected a JSON object, found something else');
  // The vendor sends one record per request; others may send several.
  const bodies = Array.isArray(body) ? (body as unknown[]) : [body];
  const named = new Map<ListName, string[]>();
  let ids = 0;
  for (const one of bodies) {
    const found = isObject(one)
      ? referencesOf(one, lists)
      : refused(400, 'expected a JSON object, found something else');
    if ('outcome' in found) return found;
    ids += found.length;
    // The queue keeps no more of a list.
    if (ids > MOST_IDS) return refused(400, `expected at most ${MOST_IDS} ids in one request, found more`);
    for (const { list, id } of found) {
      const ofList = named.get(list);
      if (ofList === undefined) named.set(list, [id]);
      else ofList.push(id);
    }
  }
  if (named.size > 0) return { outcome: 'named', named };
  return { outcome: 'nothing', reason: 'The body names no record of a list that is polled.' };
}

type Refused = Extract<ParsedHint, { outcome: 'refused' }>;

function referencesOf(body: UncheckedRecord, lists: Lists): Reference[] | Refused {
  return Object.hasOwn(body, 'list') || Object.hasOwn(body, 'ids') ? ownBody(body, lists) : vendorBody(body, lists);
}

function ownBody({ list: name, ids }: UncheckedRecord, lists: Lists): Reference[] | Refused {
  if (typeof name !== 'string') return refused(400, 'expected "list" to be the name of a list');
  const list = lists.parse(name);
  if (list === undefined) {
    const allowed = lists.all.map((one) => one.name).join(', ');
    return refused(404, `there is no polled list of the name in "list"; allowed: ${allowed}`);
  }
  const problem = problemOfIds(ids);
  if (problem !== null) return refused(400, problem);
  return (ids as string[]).map((id) => ({ list: list.name, id }));
}

/** The vendor's pages disagree on names, and an object may be written in Korean or in English. */
const OBJECT_FIELDS = ['objectType', 'object', 'objectName'];
const ID_FIELDS = ['objectId', 'recordId', 'id'];

function vendorBody(body: UncheckedRecord, lists: Lists): Reference[] | Refused {
  const word = textIn(body, OBJECT_FIELDS);
  const id = textIn(body, ID_FIELDS);
  if (word === null || id === null) return [];
  const problem = problemOfIds([id]);
  if (problem !== null) return refused(400, problem);
  return listsForWord(word, lists).map((list) => ({ list, id }));
}

function textIn(body: UncheckedRecord, fields: readonly string[]): string | null {
  const field = fields.find((name) => typeof body[name] === 'string' && body[name] !== '');
  return field === undefined ? null : (body[field] as string);
}

function refused(status: 400 | 404, what: string): Refused {
  return { outcome: 'refused', status, reason: `hint: ${what}.` };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
