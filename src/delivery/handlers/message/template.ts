/** Templates. A placeholder is resolved, never executed; values are formatted and escaped. Pure. */
import { textOfActor } from '../../../events/actor.js';
import { differingParts, textOfValue, titleOfEvent, wordsOfType } from '../../../events/describe.js';
import { listOf, workspaceOf } from '../../../events/envelope.js';
import type { ListName } from '../../../crm/lists/lists.js';
import type { ChangeEvent } from '../../../events/types.js';
import { shorten } from '../../../kit/printable.js';
import { didYouMean } from '../../../kit/schema/did-you-mean.js';
import { formatsFor, type Formats } from '../../../words/format.js';
import { problemText } from '../../../words/problems.js';
import { whoText } from '../../../words/who.js';
import { wordsFor, type Language, type Words } from '../../../words/words.js';
import { valueAtPath } from '../values.js';
import { nameInCharge, NO_BACKGROUND, whoseOf, type Background } from './background.js';
import { changeInWords } from './change-words.js';
import { dueOf } from './fold.js';
import type { Service } from './services.js';

const LONGEST_TITLE = 80;
const MOST_CHANGES = 10;
const LONGEST_SIDE = 100;
/** In characters: longer values would hide the rest of the message. */
const LONGEST_VALUE = 500;

/** The reader of a message: language, time zone, service. */
export interface Reader {
  service: Service;
  language: Language;
  timeZone: string;
  /** Null for the feed's own events. */
  list?: ListName | null | undefined;
  /** @defaultValue only what the event says */
  background?: Background | undefined;
}

interface Said extends Reader {
  background: Background;
  formats: Formats;
  words: Words;
}

const PLAIN_WORDS = {
  title: titleOf,
  changes: (event: ChangeEvent, said: Said) => noticeText(event, said) ?? schemaText(event) ?? changesOf(event, said),
  object: ({ type }: ChangeEvent, { words }: Said) => words.word('object', wordsOfType(type).object),
  verb: ({ type }: ChangeEvent, { words }: Said) => words.word('verb', wordsOfType(type).verb),
  actor: ({ data }: ChangeEvent, { words }: Said) =>
    data.actor === undefined ? '' : oneLine(textOfActor(data.actor, words)),
  owner: (event: ChangeEvent) => oneLine(nameInCharge(event) ?? ''),
  due: ({ data }: ChangeEvent, { formats }: Said) => (data.due === undefined ? '' : formats.dateTime(data.due)),
  unchanged: unchangedText,
  link: (event: ChangeEvent, { background }: Said) => background.linkOf(event) ?? '',
  id: ({ id }: ChangeEvent) => id,
  type: ({ type }: ChangeEvent) => type,
  subject: ({ subject }: ChangeEvent) => subject,
  time: ({ time }: ChangeEvent, { formats }: Said) => formats.dateTime(time),
  workspace: workspaceOf,
  list: (event: ChangeEvent, { list = listOf(event) ?? null }: Said) => list ?? '',
  class: ({ data }: ChangeEvent) => data.class,
  sequence: ({ data }: ChangeEvent) => String(data.sequence),
};
type PlainWord = keyof typeof PLAIN_WORDS;

/** Placeholders of a field: `{{after.이름}}`. `record` is the current image, or the last one of a deleted record. */
const RECORD_WORDS = ['before', 'after', 'record'] as const;

function recordAt(word: string, { data }: ChangeEvent): unknown {
  if (word === 'before') return data.before;
  if (word === 'after') return data.after;
  if (word === 'record') return data.after ?? data.before;
  return data.related?.[word];
}

type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'word'; word: PlainWord; fallback: string }
  | { kind: 'field'; word: string; path: string; isRaw: boolean; fallback: string };

export type Template = readonly Piece[];
export type TemplateOutcome = { outcome: 'read'; template: Template } | { outcome: 'refused'; allowed: string };

/**
 * Parsed with the configuration: a misspelled placeholder is an error there, not an empty text in every message.
 * @param included the words of `include`, whose records have placeholders too
 */
export function readTemplate(source: string, included: readonly string[] = []): TemplateOutcome {
  const [first = '', ...rest] = source.split('{{');
  const pieces: Piece[] = [{ kind: 'text', text: first }];
  for (const part of rest) {
    const [placeholder = '', text] = splitOnce(part, '}}');
    if (text === undefined) return { outcome: 'refused', allowed: 'a template in which every {{ is closed by }}' };
    const piece = readPlaceholder(placeholder, included);
    if (typeof piece === 'string') return { outcome: 'refused', allowed: piece };
    pieces.push(piece, { kind: 'text', text });
  }
  return { outcome: 'read', template: pieces };
}

/** Escapes the values of the event. The template's own characters stay, so it can use links and emphasis. */
export function renderTemplate(template: Template, event: ChangeEvent, reader: Reader): string {
  const said = saidTo(reader, event);
  const text = template.map((piece) => renderPiece(piece, event, said)).join('');
  // No regular expression for the ends of lines: it would take quadratic time for a long run of spaces.
  const lines = text.split('\n').map((line) => line.trimEnd());
  const rendered = lines.join('\n').trim();
  // An empty message would be rejected. A template that renders nothing must not lose the event.
  return rendered === '' ? `${said.service.escape(titleOf(event, said))} – ${event.type}` : cut(rendered, said.service);
}

/** The message where there is no template: what happened to what, whose it is, what changed, and where to see it. */
export function usualMessage(event: ChangeEvent, reader: Reader): string {
  const said = saidTo(reader, event);
  const { service, words, formats, background } = said;
  const { notice, actor } = event.data;
  const [link, due, inCharge] = [background.linkOf(event), dueOf(event), nameInCharge(event)];
  const of = (word: PlainWord): string => service.escape(PLAIN_WORDS[word](event, said));
  const what = notice === undefined ? `${of('object')} ${of('verb')}` : words.word('problem', kindOf(event));
  const who = actor && whoText({ ...actor, name: actor.name && oneLine(actor.name) }, words);
  const by = who === undefined ? '' : ` (${service.escape(who)})`;
  const owner = inCharge === null ? [] : [words.t('event.owner', { name: oneLine(inCharge) })];
  const whose = [...whoseOf(event, background).map(oneLine), ...owner].map((text) => service.escape(text));
  const lines = [
    `${service.bold(of('title'))} – ${what}${by}`,
    whose.join(' · '),
    due === null ? '' : words.t('event.due', { when: service.escape(formats.value(due) ?? '') }),
    of('unchanged'),
    of('changes'),
    link === null ? '' : service.link(link, words.t('event.open')),
  ];
  return cut(lines.filter((line) => line !== '').join('\n'), service);
}

/** Since when, and what: a field, the record, or what refers to it. */
function unchangedText({ data: { unchanged } }: ChangeEvent, { words, formats }: Said): string {
  if (unchanged === undefined) return '';
  const { field, related, since } = unchanged;
  const lists = related.map((list) => words.word('list', list)).join(', ');
  const what = field ?? (lists === '' ? words.t('event.unchangedRecord') : lists);
  return words.t('event.unchanged', { when: formats.dateTime(since), what });
}

function saidTo(reader: Reader, { data }: ChangeEvent): Said {
  const { language, timeZone } = reader;
  const formats = formatsFor({ language, timeZone, now: data.observedAt });
  const { background = NO_BACKGROUND } = reader;
  return { ...reader, background, formats, words: wordsFor(language) };
}

/** Filters of Liquid, Jinja and Handlebars: taken for a fallback, the word would be sent. */
const FILTER =
  /^(upcase|downcase|upper|lower|uppercase|lowercase|capitalize|title|trim|strip|escape|safe|default|date|truncate|join|first|last|length|size|replace|split|append|prepend|json|tojson|round|number|currency)\s*([:(|]|$)/;

/** Returns what is allowed if the placeholder does not exist. */
function readPlaceholder(source: string, included: readonly string[]): Piece | string {
  const [given = '', fallback = ''] = splitOnce(source, ' | ').map((part) => part.trim());
  const isRaw = given.startsWith('raw.');
  const path = isRaw ? given.slice('raw.'.length) : given;
  const [word = '', field = ''] = splitOnce(path, '.');
  const ofRecord = [...RECORD_WORDS, ...included];
  if (FILTER.test(fallback))
    return `{{${given}}}, without a filter: the text after | is the fallback for an empty value`;
  if (isPlain(path) && !isRaw) return { kind: 'word', word: path, fallback };
  if (ofRecord.includes(word) && field !== '') return { kind: 'field', word, path: field, isRaw, fallback };
  const plain = Object.keys(PLAIN_WORDS);
  const fields = ofRecord.map((one) => `{{${one}.<field>}}`).join(', ');
  const words = plain.map((one) => `{{${one}}}`).join(', ');
  const meant = ofRecord.includes(word) ? '' : didYouMean(word, [...plain, ...ofRecord]);
  const more = field !== '' && meant === '' ? `, and those of include: ['${word}'] if it is there` : '';
  return `${fields}, {{raw.after.<field>}}, ${words}${more}${meant}; {{… | text}} gives a fallback`;
}

function isPlain(text: string): text is PlainWord {
  return Object.hasOwn(PLAIN_WORDS, text);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function renderPiece(piece: Piece, event: ChangeEvent, said: Said): string {
  if (piece.kind === 'text') return piece.text;
  const text = piece.kind === 'word' ? PLAIN_WORDS[piece.word](event, said) : fieldText(piece, event, said);
  if (text === '') return piece.fallback;
  // The address is ours: made mere text, it would lead elsewhere. A bar would end it in the template's own link.
  return piece.kind === 'word' && piece.word === 'link' ? text.replaceAll('|', '%7C') : said.service.escape(text);
}

function fieldText({ word, path, isRaw }: Piece & { kind: 'field' }, event: ChangeEvent, { formats }: Said): string {
  const value = valueAtPath(recordAt(word, event), path);
  const text = isRaw ? textOfValue(value) : formats.value(value);
  return shorten(text?.trim() ?? '', LONGEST_VALUE);
}

/** @param end what stays where the text is cut */
export function cut(text: string, service: Service, end = ''): string {
  const { longest, mostBytes = Infinity, entity, body } = service;
  const isTooLarge = (kept: string): boolean => Buffer.byteLength(JSON.stringify(body(kept + end))) > mostBytes;
  let room = longest - end.length;
  let kept = shorten(text, room);
  while (mostBytes !== Infinity && isTooLarge(kept) && room > 1) {
    room = Math.floor(Math.min(room, kept.length) * CUT_BY);
    kept = shorten(text, room);
  }
  // Not within an entity such as `&amp;`, which would then be shown literally.
  return `${kept === text || entity === undefined ? kept : kept.replace(entity, '…')}${end}`;
}

/** Smaller leaves out more than must be; greater encodes the text more often. */
const CUT_BY = 0.9;

/** The title of the feed's own events says where the problem is: `acme, list people`. */
function titleOf(event: ChangeEvent, { formats, words }: Said): string {
  if (event.data.notice === undefined)
    return shorten(
      oneLine(titleOfEvent(event, formats.value) ?? event.data.schema?.field ?? event.subject),
      LONGEST_TITLE,
    );
  const [what = '', name = ''] = event.subject.split(/:(.*)/s);
  const { called = name } = event.data.notice.facts ?? {};
  const place = what === 'list' ? words.word('list', name) : `${words.word('place', what)} ${called}`;
  return [workspaceOf(event), ...(name === '' ? [] : [place])].join(', ');
}

function kindOf({ type }: ChangeEvent): string {
  return type.slice('changefeed.'.length);
}

function noticeText(event: ChangeEvent, { formats }: Said): string | undefined {
  const { notice } = event.data;
  return notice && problemText({ kind: kindOf(event), ...notice }, formats);
}

/** Types of values, never contents. */
function schemaText({ data: { schema } }: ChangeEvent): string | undefined {
  return schema && `• ${oneLine(schema.field)}: ${schema.before.join(', ') || '–'} → ${schema.after.join(', ') || '–'}`;
}

/** What a new record has is no change. */
function changesOf({ type, data }: ChangeEvent, { formats, words, background: { nameOf } }: Said): string {
  const changes = wordsOfType(type).verb === 'created' ? [] : data.changes;
  const lines = changes.slice(0, MOST_CHANGES).map((change) => {
    const { field, before, after } = changeInWords(change, data, { formats, nameOf });
    const [old, now] = sidesOf(before?.trim() ?? '', after?.trim() ?? '');
    return `• ${oneLine(field)}: ${old} → ${now}`;
  });
  const more = changes.length - lines.length;
  return [...lines, ...(more > 0 ? [words.t('count.more', { count: more })] : [])].join('\n');
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
