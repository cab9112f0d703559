/** An event as a line a person can read: what changed, from what to what. */
import type { Inspector } from '../actions/inspector.js';
import type { CrmRecord } from '../crm/record.js';
import { textOfActor } from '../events/actor.js';
import { nameItBelongsTo } from '../events/about.js';
import { differingParts, titleOfEvent, titleOfRecord, wordsOfType } from '../events/describe.js';
import type { ChangeData, ChangeEvent, FieldChange } from '../events/types.js';
import { formatsFor, nameIn, type Formats } from '../words/format.js';
import { problemText } from '../words/problems.js';
import { wordsFor, type Language } from '../words/words.js';
import type { Io } from './io.js';
import { type Colours, cut, noColours, printable, widthOf } from './text.js';

interface Fit {
  /** How many are shown. */
  changes: number;
  /** Columns for each value. */
  places: number;
}
const SMALLEST: Fit = { changes: 1, places: 10 };
/** From the longest to the shortest form of a line. */
const FITS: readonly Fit[] = [
  ...[4, 3, 2].map((changes) => ({ changes, places: 36 })),
  { changes: 2, places: 24 },
  ...[36, 24, 16].map((places) => ({ changes: 1, places })),
];
/** Titles begin in one column, also behind the longest name of an object: 80 columns have no room for two. */
const TYPE_PLACES = 'person_activity created'.length;
/** A title is not made shorter than this, except by the end of the line or where a name stands before it. */
const TITLE_PLACES = 20;
/** More than any line shows: a text of megabytes is not searched for control characters. */
const MOST_READ = 500;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const VERB_COLOURS: Readonly<Record<string, 'green' | 'cyan' | 'red' | 'dim'>> = {
  created: 'green',
  updated: 'cyan',
  deleted: 'red',
  snapshot: 'dim',
};

interface LineStyle {
  colours: Colours;
  columns?: number | undefined;
  /** The name of the person or organization that the record belongs to, if known: the record has only an id. */
  about?: string | undefined;
  /** @defaultValue 'en' */
  language?: Language | undefined;
}

interface Style {
  colours: Colours;
  formats: Formats;
}

interface Piece {
  text: string;
  paint?: ((text: string) => string) | undefined;
}

/** `12:03:11  todo updated  전화하기  완료: no → yes`, in the local time of this machine. */
export function eventLine(event: ChangeEvent, { colours, columns = Infinity, about, language }: LineStyle): string {
  const { dim } = colours;
  const style = styleOf(event, colours, language);
  const { object, verb } = wordsOfType(event.type);
  const [name, what] = [`${typeWord('object', object, language)} `, typeWord('verb', verb, language)];
  const gap = ' '.repeat(Math.max(0, TYPE_PLACES - widthOf(name + what)));
  const head = [
    [{ text: clockTime(event.data.observedAt), paint: dim }],
    [{ text: name }, { text: `${what}${gap}`, paint: colours[VERB_COLOURS[verb] ?? 'magenta'] }],
  ];
  const line = (fit: Fit): Piece[] =>
    [
      ...head,
      titlePieces(event, { fit, about, style }),
      duePieces(event.data, style),
      detailPieces(event, style),
      changePieces(event.data.changes, fit, style),
    ]
      .filter((part) => part.length > 0)
      .flatMap((part, index) => (index === 0 ? part : [{ text: '  ' }, ...part]));
  const fits = (pieces: readonly Piece[]): boolean =>
    pieces.reduce((sum, { text }) => sum + widthOf(text), 0) <= columns;
  return painted(FITS.map(line).find(fits) ?? line(SMALLEST), columns);
}

export async function printEvent(
  event: ChangeEvent,
  lists: Inspector,
  io: Io & { language?: Language | undefined },
): Promise<void> {
  const { colours, columns, language } = io;
  const about = await nameItBelongsTo(event, (list, id, workspace) => lists.record(list, id, workspace));
  io.out(eventLine(event, { colours: colours.out, columns, language, about }));
}

function painted(pieces: readonly Piece[], columns: number): string {
  let left = columns;
  let result = '';
  for (const { text, paint = String } of pieces) {
    if (left <= 0) break;
    const shown = cut(text, left);
    result += paint(shown);
    left = shown === text ? left - widthOf(text) : 0;
  }
  return result;
}

/** The same in words, without time and colours, for what is about an event: a dead letter, a decision. */
export function eventWords(event: ChangeEvent, places: number): { what: string; title: string; changes: string[] } {
  const { data } = event;
  const { object, verb } = wordsOfType(event.type);
  const text = (pieces: readonly Piece[]): string => pieces.map((piece) => piece.text).join('');
  const fit = { changes: 1, places };
  const style = styleOf(event, noColours);
  const about = text([...duePieces(data, style), ...detailPieces(event, style)]);
  return {
    what: printable(`${object} ${verb}`),
    title: text(titlePieces(event, { fit, about: undefined, style })) || printable(event.subject),
    changes: [
      ...(about === '' ? [] : [about]),
      ...data.changes.map((change) => text(changePieces([change], fit, style))),
    ],
  };
}

export function recordTitle(record: CrmRecord, places: number): string | undefined {
  const title = titleOfRecord(record);
  return title === null ? undefined : shown(title, places);
}

function titlePieces(
  event: ChangeEvent,
  { fit, about, style: { colours, formats } }: { fit: Fit; about: string | undefined; style: Style },
): Piece[] {
  const record = event.data.after ?? event.data.before;
  if (record === null) return [];
  const person = about ?? nameIn(record['people']) ?? nameIn(record['organization']);
  const places = Math.max(fit.places, person === undefined ? TITLE_PLACES : 0);
  const { bold } = colours;
  const title = shown(titleOfEvent(event, formats.value) ?? event.subject, places);
  const { actor } = event.data;
  const by = actor === undefined ? nameIn(record['source']) : textOfActor(actor, wordsFor(formats.language));
  return [
    ...(person === undefined ? [] : [{ text: cut(printable(person), places), paint: bold }, { text: '  ' }]),
    { text: title, paint: person === undefined ? bold : undefined },
    ...(by === undefined ? [] : [{ text: `  ${byText(cut(printable(by), places), formats)}` }]),
  ];
}

function duePieces({ due, late }: ChangeData, { colours: { dim }, formats }: Style): Piece[] {
  if (due === undefined) return [];
  const { t } = wordsFor(formats.language);
  const text = t('event.due', { when: formats.dateTime(due) });
  return [{ text, paint: dim }, { text: late === true ? `, ${t('event.late')}` : '' }];
}

function detailPieces(event: ChangeEvent, { colours: { dim }, formats }: Style): Piece[] {
  const { notice, schema, mergedInto, reappeared } = event.data;
  const { t } = wordsFor(formats.language);
  const kind = event.type.slice('changefeed.'.length);
  const text = [
    ...(notice === undefined ? [] : [problemText({ kind, ...notice }, formats)]),
    ...(schema === undefined
      ? []
      : [`${schema.field} ${schema.kind}: ${schema.before.join(', ') || '—'} → ${schema.after.join(', ') || '—'}`]),
    ...(mergedInto === undefined ? [] : [t('event.merged', { id: mergedInto })]),
    ...(reappeared === undefined ? [] : [t('event.reappeared')]),
  ].join('; ');
  if (text === '') return [];
  return [{ text: printable(text), paint: notice === undefined ? dim : undefined }];
}

function changePieces(changes: readonly FieldChange[], fit: Fit, { colours: { dim }, formats }: Style): Piece[] {
  const shown = changes.slice(0, fit.changes).flatMap(({ field, before, after, actor }, index) => [
    ...(index === 0 ? [] : [{ text: ' · ', paint: dim }]),
    { text: `${printable(field)}:`, paint: dim },
    { text: ` ${difference(before, after, fit.places, formats)}` },
    ...(actor === undefined
      ? []
      : [
          {
            text: ` ${byText(cut(printable(textOfActor(actor, wordsFor(formats.language))), fit.places), formats)}`,
            paint: dim,
          },
        ]),
  ]);
  const more = changes.length - fit.changes;
  return more > 0 ? [...shown, { text: ` +${more}`, paint: dim }] : shown;
}

function byText(name: string, { language }: Formats): string {
  return wordsFor(language).t('event.by', { name });
}

/** Only the parts of long texts that differ: cut at their ends, they would look equal. */
function difference(before: unknown, after: unknown, places: number, formats: Formats): string {
  const textOf = (value: unknown): string => (value === '' ? '""' : shown(formats.value(value) ?? '—', places));
  const [old, now] = [textOf(before), textOf(after)];
  if (isTime(before) && isTime(after)) return times(before, after, places, formats);
  const areTexts = typeof before === 'string' && typeof after === 'string';
  if (!areTexts || (old !== now && !old.endsWith('…') && !now.endsWith('…'))) return `${old} → ${now}`;
  const [oldPart, newPart] = differingParts(before, after);
  return `${shown(oldPart, places)} → ${shown(newPart, places)}`;
}

/** `Sun 1 Mar, 21:30 → 22:00`; in little room, only the part that differs. */
function times(before: string, after: string, places: number, { date, time, dateTime }: Formats): string {
  const isTight = places < widthOf(dateTime(before));
  const ofOneDay = date(before) === date(after);
  if (ofOneDay) return `${isTight ? time(before) : dateTime(before)} → ${time(after)}`;
  return isTight ? `${date(before)} → ${date(after)}` : `${dateTime(before)} → ${dateTime(after)}`;
}

function styleOf({ data }: ChangeEvent, colours: Colours, language: Language = 'en'): Style {
  return { colours, formats: formatsFor({ language, now: data.observedAt }) };
}

/** The verb stays as the type has it, because a person may give it as --type. */
function typeWord(group: 'object' | 'verb', name: string, language: Language = 'en'): string {
  return printable(language === 'en' ? name : wordsFor(language).word(group, name));
}

function shown(text: string, places: number): string {
  return cut(printable(text.slice(0, MOST_READ)), places);
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && TIME.test(value);
}

/** `2026-03-01 21:30`, in local time, like the time that begins the line. This locale writes days as the API does. */
export function localTime(iso: string): string {
  return localSecond(iso).slice(0, 16);
}

export function localSecond(iso: string): string {
  return new Date(iso).toLocaleString('sv-SE');
}

function clockTime(iso: string): string {
  const at = new Date(iso);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
