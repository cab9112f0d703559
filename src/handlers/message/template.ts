/**
 * Templates: text with `{{…}}` placeholders. A placeholder is resolved, never executed: a word (`{{title}}`) or a field of the record
 * (`{{after.이름}}`, `{{record.담당자.name}}`), with an optional fallback after ` | `. Pure.
 */
import { listOf } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import { shorten } from '../../runtime/printable.js';
import { didYouMean } from '../../schema-kit/did-you-mean.js';
import {
  PLAIN_WORDS,
  RECORD_WORDS,
  escapeText,
  plainWord,
  recordField,
  type EventFacts,
  type PlainWord,
  type RecordWord,
} from './facts.js';

export const DEFAULT_TEMPLATE = '*{{title}}* – {{object}} {{verb}}\n{{changes}}';

/** In characters; Slack's recommendation, far below the length at which it truncates. */
const LONGEST_TEXT = 4_000;

type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'word'; word: PlainWord; fallback: string }
  | { kind: 'field'; word: RecordWord; path: string; fallback: string };

export type Template = readonly Piece[];
export type TemplateOutcome = { outcome: 'read'; template: Template } | { outcome: 'refused'; allowed: string };

/** Parsed together with the configuration, so that a misspelled placeholder is an error there and not an empty text in every message. */
export function readTemplate(source: string): TemplateOutcome {
  const pieces: Piece[] = [];
  let rest = source;
  for (let open = rest.indexOf('{{'); open >= 0; open = rest.indexOf('{{')) {
    const close = rest.indexOf('}}', open);
    if (close < 0) return { outcome: 'refused', allowed: 'a template in which every {{ is closed by }}' };
    if (open > 0) pieces.push({ kind: 'text', text: rest.slice(0, open) });
    const piece = readPlaceholder(rest.slice(open + 2, close));
    if (typeof piece === 'string') return { outcome: 'refused', allowed: piece };
    pieces.push(piece);
    rest = rest.slice(close + 2);
  }
  if (rest !== '') pieces.push({ kind: 'text', text: rest });
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
  return cut(lines.join('\n').trim());
}

/** Returns what is allowed if the placeholder does not exist. */
function readPlaceholder(source: string): Piece | string {
  const [path = '', fallback = ''] = splitOnce(source, ' | ').map((part) => part.trim());
  const [word = '', field = ''] = splitOnce(path, '.');
  const plain = PLAIN_WORDS.find((one) => one === path);
  if (plain !== undefined) return { kind: 'word', word: plain, fallback };
  const record = RECORD_WORDS.find((one) => one === word);
  if (record !== undefined && field !== '') return { kind: 'field', word: record, path: field, fallback };
  const fields = RECORD_WORDS.map((one) => `{{${one}.<field>}}`).join(', ');
  const words = PLAIN_WORDS.map((one) => `{{${one}}}`).join(', ');
  const meant = record === undefined ? didYouMean(word, [...PLAIN_WORDS, ...RECORD_WORDS]) : '';
  return `${fields}, ${words}${meant}; {{… | text}} gives a fallback`;
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function renderPiece(piece: Piece, event: ChangeEvent, facts: EventFacts): string {
  if (piece.kind === 'text') return piece.text;
  const text = piece.kind === 'word' ? plainWord(event, piece.word, facts) : recordField(event, piece.word, piece.path);
  return text === '' ? piece.fallback : escapeText(text);
}

/** Does not cut within an entity such as `&amp;`, which would then be shown literally. */
function cut(text: string): string {
  const kept = shorten(text, LONGEST_TEXT);
  return kept === text ? text : kept.replace(/&[a-z]{0,3}…$/, '…');
}
