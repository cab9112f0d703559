/** The values that a message template can use, as text. Pure. The text format is Slack's mrkdwn, which other services accept too. */
import { workspaceOf } from '../../events/envelope.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { CrmRecord } from '../../crm/record.js';
import type { ChangeEvent, FieldChange } from '../../events/types.js';
import { differingParts, textOfValue, titleOfEvent, wordsOfType } from '../../events/describe.js';
import { shorten } from '../../runtime/printable.js';
import { valueAtPath } from '../field-path.js';

/** Placeholders without a field: `{{title}}`. Record placeholders need one: `{{after.이름}}`. */
export const PLAIN_WORDS = [
  'title',
  'changes',
  'object',
  'verb',
  'id',
  'type',
  'subject',
  'time',
  'workspace',
  'list',
  'class',
  'sequence',
] as const;
export type PlainWord = (typeof PLAIN_WORDS)[number];
export const RECORD_WORDS = ['before', 'after', 'record'] as const;
export type RecordWord = (typeof RECORD_WORDS)[number];

const LONGEST_TITLE = 80;
const MOST_CHANGES = 10;
const LONGEST_SIDE = 100;
/** In characters: longer values would hide the rest of the message. */
const LONGEST_VALUE = 500;

/** What is known of an event besides its content. */
export interface EventFacts {
  /** Null for the feed's own events. */
  list: ListName | null;
}

/** The value of a placeholder in this event, not yet escaped. */
export function plainWord(event: ChangeEvent, word: PlainWord, { list }: EventFacts): string {
  const { object, verb } = wordsOfType(event.type);
  switch (word) {
    case 'title':
      return titleOf(event);
    case 'changes':
      return event.data.notice?.message ?? changesOf(event.data.changes);
    case 'object':
      return object.replaceAll('_', ' ');
    case 'verb':
      return verb.replace(/[._]/g, ' ');
    case 'workspace':
      return workspaceOf(event);
    case 'list':
      return list ?? '';
    case 'class':
    case 'sequence':
      return String(event.data[word]);
    default:
      return event[word];
  }
}

/** `record` is the current image, or the last one of a deleted record. */
export function recordField(event: ChangeEvent, word: RecordWord, path: string): string {
  return shorten(wordsOf(valueAtPath(imageOf(event, word), path)), LONGEST_VALUE);
}

function imageOf({ data }: ChangeEvent, word: RecordWord): CrmRecord | null {
  return word === 'record' ? (data.after ?? data.before) : data[word];
}

function titleOf(event: ChangeEvent): string {
  if (event.data.notice !== undefined) return placeOf(event);
  return shorten(titleOfEvent(event) ?? event.subject, LONGEST_TITLE);
}

/** Where the feed has a problem: `acme, list people`. */
function placeOf(event: ChangeEvent): string {
  const place = event.subject.replace(':', ' ');
  return [workspaceOf(event), ...(place === 'workspace' ? [] : [place])].join(', ');
}

function changesOf(changes: readonly FieldChange[]): string {
  const lines = changes.slice(0, MOST_CHANGES).map(({ field, before, after }) => {
    const [old, now] = sidesOf(wordsOf(before), wordsOf(after));
    return `• ${oneLine(field, LONGEST_SIDE)}: ${old} → ${now}`;
  });
  const more = changes.length - lines.length;
  return [...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

/** Cut at their ends, two long texts could look equal. */
function sidesOf(before: string, after: string): string[] {
  const areLong = before.length > LONGEST_SIDE && after.length > LONGEST_SIDE;
  const sides = areLong ? differingParts(before, after) : [before, after];
  return sides.map((text) => (text === '' ? '–' : oneLine(text, LONGEST_SIDE)));
}

/** In names too: a line break there would begin a line that looks like one of ours. */
function oneLine(text: string, longest: number): string {
  return shorten(text.replace(/\s+/g, ' '), longest);
}

/** Shows nothing, and parts what stands around it. */
const GAP = '\u200b';
/** They look like the characters of the formatting that they replace. A backslash would do in Markdown, and be shown by Slack. */
const LOOKALIKES: Readonly<Record<string, string>> = { '*': '∗', '`': 'ˋ', '~': '∼', _: '＿' };

/**
 * Makes a value mere text, in Slack's format and in the Markdown of services that take it: it notifies nobody, disguises no link, formats
 * nothing, and does not change the direction of what follows. An address in full stays a link, which shows where it leads.
 */
export function escapeText(text: string): string {
  return (
    text
      .replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // `@everyone` and `@name`; an e-mail address stays whole.
      .replace(/(?<![\p{L}\p{N}.+-])@|@(?=(?:channel|everyone|here|all)\b)/giu, `@${GAP}`)
      // `[text](address)`, `[text][name]` and `[name]: address`.
      .replace(/\](?=[([:])/g, `]${GAP}`)
      // An underscore within a word is part of a name or an address.
      .replace(/[*`~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (mark) => LOOKALIKES[mark] ?? mark)
  );
}

/** A value as readable text, not yet escaped; empty where there is none. */
function wordsOf(value: unknown): string {
  return textOfValue(value)?.trim() ?? '';
}
