/** Reads the body of a hint: `{ list, ids }`, or the vendor's webhook, which is unsigned: it only queues look-ups. */
import { isObject, type UncheckedRecord } from '../../../crm/record.js';
import { problemOfIds } from '../../../crm/hint.js';
import { listsForWord } from '../../../crm/references.js';
import type { ListName, Lists } from '../../../crm/lists/lists.js';

/** `nothing`: it names no record of a polled list. The vendor checks a new webhook with an empty request. */
export type ParsedHint =
  | { outcome: 'named'; lists: readonly ListName[]; ids: readonly string[] }
  | { outcome: 'nothing'; reason: string }
  | { outcome: 'refused'; status: 400 | 404; reason: string };

export function parseHint(text: string, polled: Lists): ParsedHint {
  if (text.trim() === '') return { outcome: 'nothing', reason: 'The body is empty.' };
  const body = jsonOf(text);
  if (!isObject(body)) return refused(400, 'expected a JSON object, found something else');
  const isOwn = Object.hasOwn(body, 'list') || Object.hasOwn(body, 'ids');
  return isOwn ? ownBody(body, polled) : vendorBody(body, polled);
}

function ownBody({ list: name, ids }: UncheckedRecord, polled: Lists): ParsedHint {
  if (typeof name !== 'string') return refused(400, 'expected "list" to be the name of a list');
  const list = polled.parse(name);
  if (list === undefined) {
    const allowed = polled.all.map((one) => one.name).join(', ');
    return refused(404, `there is no polled list of the name in "list"; allowed: ${allowed}`);
  }
  return namedOrRefused([list.name], ids);
}

function vendorBody({ objectType: word, objectId: id }: UncheckedRecord, polled: Lists): ParsedHint {
  const lists = typeof word === 'string' && id !== undefined ? listsForWord(word, polled) : [];
  if (lists.length > 0) return namedOrRefused(lists, [id]);
  return { outcome: 'nothing', reason: 'The body names no record of a list that is polled.' };
}

function namedOrRefused(lists: readonly ListName[], ids: unknown): ParsedHint {
  const problem = problemOfIds(ids);
  return problem === null ? { outcome: 'named', lists, ids: ids as string[] } : refused(400, problem);
}

function refused(status: 400 | 404, what: string): ParsedHint {
  return { outcome: 'refused', status, reason: `hint: ${what}.` };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
