/** A digest in words: a title, a line for each of the first records, and a link. Nothing is escaped here. Pure. */
import { TODO_FIELDS } from '../../../crm/todo-fields.js';
import { titleOfEvent, wordsOfType } from '../../../events/describe.js';
import type { ChangeEvent } from '../../../events/types.js';
import type { DigestSummary } from '../handler.js';
import { shorten } from '../../../kit/printable.js';
import type { Formats } from '../../../words/format.js';
import { problemText } from '../../../words/problems.js';
import { wordsFor } from '../../../words/words.js';
import { nameInCharge, NO_BACKGROUND, whoseOf, type Background } from './background.js';
import { changeInWords } from './change-words.js';
import { dueOf, foldEvents } from './fold.js';
import type { TitledText, Line } from '../titled.js';

const NOTICE = 'changefeed.';
const MOST_TYPES = 6;
const MOST_PEOPLE = 10;
const MOST_CHANGES = 2;
const LONGEST_TITLE = 80;
const LONGEST_SIDE = 30;

type Counted<Part extends 'types' | 'people'> = DigestSummary[Part][number];

export function digestText(digest: DigestSummary, formats: Formats, background = NO_BACKGROUND): TitledText {
  const { workspace, count, types, people, records, link } = digest;
  const { t, word, countOf } = wordsFor(formats.language);
  const typeText = ({ type, count: events }: Counted<'types'>): string => {
    const shown = formats.number(events);
    if (type.startsWith(NOTICE))
      return t('digest.person', { name: word('problem', type.slice(NOTICE.length)), count: shown });
    const { object, verb } = wordsIn(type, formats);
    const records = countOf(wordsOfType(type).object, events);
    const key = verb === word('verb', 'updated') ? 'digest.updated' : 'digest.type';
    return t(key, { object, verb, records, count: shown });
  };
  const personText = ({ name, count: events }: Counted<'people'>): string =>
    t('digest.person', { name: onOneLine(name, LONGEST_TITLE), count: formats.number(events) });
  /** What is beyond the first ones is added up. */
  const upTo = (most: number, all: readonly { text: string; count: number }[]): string => {
    const others = all.slice(most).reduce((sum, one) => sum + one.count, 0);
    const rest = others > 0 ? [t('digest.others', { count: formats.number(others) })] : [];
    return [...all.slice(0, most).map(({ text }) => text), ...rest].join(', ');
  };
  const more = count - records.reduce((sum, one) => sum + one.count, 0);
  // Of a person whose name no record has, only an id is known, which says nothing to a reader.
  const named = people.filter(({ id, name }) => name !== id);
  const inCharge = [...named, ...people.filter((one) => !named.includes(one))];
  const unowned = count - people.reduce((sum, one) => sum + one.count, 0);
  const nobody = unowned > 0 ? [personText({ id: '', name: t('digest.nobody'), count: unowned })] : [];
  const owners = upTo(
    Math.min(MOST_PEOPLE, named.length),
    inCharge.map((one) => ({ text: personText(one), count: one.count })),
  );
  return {
    title: t('digest.title', {
      workspace,
      changes: countOf('change', count),
      types: upTo(
        MOST_TYPES,
        types.map((one) => ({ text: typeText(one), count: one.count })),
      ),
    }),
    lines: [
      ...(named.length > 0 ? [t('digest.people', { people: [owners, ...nobody].join(', ') })] : []),
      ...records.flatMap(({ events: [first, ...rest] }) =>
        first === undefined ? [] : [recordLine([first, ...rest], formats, background)],
      ),
      ...(more > 0 ? [t('count.more', { count: formats.number(more) })] : []),
    ],
    link: link === null ? null : { text: t('digest.link'), url: link },
  };
}

/** What happened to one record, whose it is, who is in charge, when it is due, what changed, and where it is seen. */
function recordLine(
  events: readonly [ChangeEvent, ...ChangeEvent[]],
  formats: Formats,
  background: Background,
): string | Line {
  const { event, verbs, changes: all } = foldEvents(events);
  const { data, subject, type } = event;
  if (data.notice !== undefined) {
    const notice = problemText({ kind: type.slice(NOTICE.length), ...data.notice }, formats);
    return withLink(`• ${onOneLine(notice, 4 * LONGEST_TITLE)}`, event, background, formats);
  }
  const { t, word } = wordsFor(formats.language);
  const title = onOneLine(titleOfEvent(event, formats.value) ?? subject, LONGEST_TITLE);
  const verb = verbs.map((one) => word('verb', one)).join(', ');
  const side = (text: string | null): string => onOneLine(text ?? '–', LONGEST_SIDE);
  const changes = all
    .slice(0, MOST_CHANGES)
    .map((change) => changeInWords(change, data, { formats, nameOf: background.nameOf }))
    .map(({ field, before, after }) => `${side(field)}: ${side(before)} → ${side(after)}`);
  const more = all.length - changes.length;
  const isSaid = (names: readonly string[]): boolean => all.some(({ field }) => names.includes(field.normalize('NFC')));
  const owner = isSaid(OWNERS) ? null : nameInCharge(event);
  const due = isSaid(TODO_FIELDS.due) ? null : dueOf(event);
  const parts = [
    t('digest.event', { title, object: wordsIn(type, formats).object, verb }),
    ...whoseOf(event, background).map(side),
    ...(owner === null ? [] : [t('event.owner', { name: side(owner) })]),
    ...(due === null ? [] : [t('digest.due', { when: side(formats.value(due)) })]),
    ...changes,
    ...(more > 0 ? [`+${more}`] : []),
  ];
  return withLink(`• ${parts.join(' · ')}`, event, background, formats);
}

const OWNERS: readonly string[] = TODO_FIELDS.owner;

function withLink(text: string, event: ChangeEvent, { linkOf }: Background, { language }: Formats): string | Line {
  const url = linkOf(event);
  if (url === null) return text;
  const line: Line = { text, link: { text: wordsFor(language).t('event.open'), url } };
  return line;
}

function wordsIn(type: string, { language }: Formats): { object: string; verb: string } {
  const { word } = wordsFor(language);
  const { object, verb } = wordsOfType(type);
  return { object: word('object', object), verb: word('verb', verb) };
}

/** A line break in a name would begin a line that looks like one of ours. */
function onOneLine(text: string, longest: number): string {
  return shorten(text.replace(/\s+/gu, ' ').trim(), longest);
}

/** Those of which a digest says something. */
export function eventsIn({ records }: DigestSummary): ChangeEvent[] {
  return records.flatMap(({ events }) => events);
}
