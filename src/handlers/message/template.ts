/** Templates in Slack's mrkdwn. A placeholder is resolved, never executed. Pure. */
import { differingParts, textOfValue, titleOfEvent, wordsOfType } from '../../events/describe.js';
import { listOf, workspaceOf } from '../../events/envelope.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { ChangeEvent, FieldChange } from '../../events/types.js';
import { shorten } from '../../runtime/printable.js';
import { didYouMean } from '../../schema-kit/did-you-mean.js';
import { valueAtPath } from '../field-path.js';

export const DEFAULT_TEMPLATE = '*{{title}}* – {{object}} {{verb}}\n{{changes}}';

/** In characters; Slack's recommendation, far below the length at which it truncates. */
const LONGEST_TEXT = 4_000;
const LONGEST_TITLE = 80;
const MOST_CHANGES = 10;
const LONGEST_SIDE = 100;
/** In characters: longer values would hide the rest of the message. */
const LONGEST_VALUE = 500;

interface EventFacts {
  /** Null for the feed's own events. */
  list: ListName | null;
}

const PLAIN_WORDS = {
  title: titleOf,
  changes: ({ data }: ChangeEvent) => data.notice?.message ?? changesOf(data.changes),
  object: ({ type }: ChangeEvent) => wordsOfType(type).object.replaceAll('_', ' '),
  verb: ({ type }: ChangeEvent) => wordsOfType(type).verb.replace(/[._]/g, ' '),
  id: ({ id }: ChangeEvent) => id,
  type: ({ type }: ChangeEvent) => type,
  subject: ({ subject }: ChangeEvent) => subject,
  time: ({ time }: ChangeEvent) => time,
  workspace: workspaceOf,
  list: (_event: ChangeEvent, { list }: EventFacts) => list ?? '',
  class: ({ data }: ChangeEvent) => data.class,
  sequence: ({ data }: ChangeEvent) => String(data.sequence),
};
type PlainWord = keyof typeof PLAIN_WORDS;

/** Placeholders of a field: `{{after.이름}}`. `record` is the current image, or the last one of a deleted record. */
const RECORD_WORDS = {
  before: ({ data }: ChangeEvent) => data.before,
  after: ({ data }: ChangeEvent) => data.after,
  record: ({ data }: ChangeEvent) => data.after ?? data.before,
};
type RecordWord = keyof typeof RECORD_WORDS;

type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'word'; word: PlainWord; fallback: string }
  | { kind: 'field'; word: RecordWord; path: string; fallback: string };

export type Template = readonly Piece[];
export type TemplateOutcome = { outcome: 'read'; template: Template } | { outcome: 'refused'; allowed: string };

/** Parsed with the configuration: a misspelled placeholder is an error there, not an empty text in every message. */
export function readTemplate(source: string): TemplateOutcome {
  const [first = '', ...rest] = source.split('{{');
  const pieces: Piece[] = [{ kind: 'text', text: first }];
  for (const part of rest) {
    const [placeholder = '', text] = splitOnce(part, '}}');
    if (text === undefined) return { outcome: 'refused', allowed: 'a template in which every {{ is closed by }}' };
    const piece = readPlaceholder(placeholder);
    if (typeof piece === 'string') return { outcome: 'refused', allowed: piece };
    pieces.push(piece, { kind: 'text', text });
  }
  return { outcome: 'read', template: pieces };
}

/** Escapes the values of the event. The template's own characters stay, so it can use links and emphasis. */
export function renderTemplate(
  template: Template,
  event: ChangeEvent,
  facts: EventFacts = { list: listOf(event) ?? null },
): string {
  const text = template.map((piece) => renderPiece(piece, event, facts)).join('');
  // No regular expression for the ends of lines: it would take quadratic time for a long run of spaces.
  const lines = text.split('\n').map((line) => line.trimEnd());
  const rendered = lines.join('\n').trim();
  // An empty message would be rejected. A template that renders nothing must not lose the event.
  return rendered === '' ? `${escapeText(titleOf(event))} – ${event.type}` : cut(rendered);
}

/** Of Liquid, Jinja and Handlebars: taken for a fallback, the word would be sent. */
const FILTER =
  /^(upcase|downcase|upper|lower|uppercase|lowercase|capitalize|title|trim|strip|escape|safe|default|date|truncate|join|first|last|length|size|replace|split|append|prepend|json|tojson|round|number|currency)\s*([:(|]|$)/;

/** Returns what is allowed if the placeholder does not exist. */
function readPlaceholder(source: string): Piece | string {
  const [path = '', fallback = ''] = splitOnce(source, ' | ').map((part) => part.trim());
  const [word = '', field = ''] = splitOnce(path, '.');
  if (FILTER.test(fallback))
    return `{{${path}}}, without a filter: the text after | is the fallback for an empty value`;
  if (isWord(PLAIN_WORDS, path)) return { kind: 'word', word: path, fallback };
  if (isWord(RECORD_WORDS, word) && field !== '') return { kind: 'field', word, path: field, fallback };
  const [plain, ofRecord] = [Object.keys(PLAIN_WORDS), Object.keys(RECORD_WORDS)];
  const fields = ofRecord.map((one) => `{{${one}.<field>}}`).join(', ');
  const words = plain.map((one) => `{{${one}}}`).join(', ');
  const meant = ofRecord.includes(word) ? '' : didYouMean(word, [...plain, ...ofRecord]);
  return `${fields}, ${words}${meant}; {{… | text}} gives a fallback`;
}

function isWord<Words extends object>(words: Words, text: string): text is keyof Words & string {
  return Object.hasOwn(words, text);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function renderPiece(piece: Piece, event: ChangeEvent, facts: EventFacts): string {
  if (piece.kind === 'text') return piece.text;
  const text =
    piece.kind === 'word'
      ? PLAIN_WORDS[piece.word](event, facts)
      : shorten(wordsOf(valueAtPath(RECORD_WORDS[piece.word](event), piece.path)), LONGEST_VALUE);
  return text === '' ? piece.fallback : escapeText(text);
}

/** Does not cut within an entity such as `&amp;`, which would then be shown literally. */
export function cut(text: string): string {
  const kept = shorten(text, LONGEST_TEXT);
  return kept === text ? text : kept.replace(/&[a-z]{0,3}…$/, '…');
}

/** For the feed's own events, where it has a problem: `acme, list people`. */
function titleOf(event: ChangeEvent): string {
  if (event.data.notice === undefined) return shorten(titleOfEvent(event) ?? event.subject, LONGEST_TITLE);
  const place = event.subject.replace(':', ' ');
  return [workspaceOf(event), ...(place === 'workspace' ? [] : [place])].join(', ');
}

function changesOf(changes: readonly FieldChange[]): string {
  const lines = changes.slice(0, MOST_CHANGES).map(({ field, before, after }) => {
    const [old, now] = sidesOf(wordsOf(before), wordsOf(after));
    return `• ${oneLine(field)}: ${old} → ${now}`;
  });
  const more = changes.length - lines.length;
  return [...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

/** Cut at their ends, two long texts could look equal. */
function sidesOf(before: string, after: string): string[] {
  const areLong = before.length > LONGEST_SIDE && after.length > LONGEST_SIDE;
  const sides = areLong ? differingParts(before, after) : [before, after];
  return sides.map((text) => (text === '' ? '–' : oneLine(text)));
}

/** In names too: a line break there would begin a line that looks like one of ours. */
function oneLine(text: string): string {
  return shorten(text.replace(/\s+/g, ' '), LONGEST_SIDE);
}

/** Shows nothing, and parts what stands around it. */
const GAP = '\u200b';
/** They look like the formatting they replace. A backslash would do in Markdown, and be shown by Slack. */
const LOOKALIKES: Readonly<Record<string, string>> = { '*': '∗', '`': 'ˋ', '~': '∼', _: '＿' };

/** Makes a value mere text, in mrkdwn and Markdown: it notifies nobody, disguises no link and formats nothing. */
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

function wordsOf(value: unknown): string {
  return textOfValue(value)?.trim() ?? '';
}
