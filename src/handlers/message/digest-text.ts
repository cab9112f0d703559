/** A digest in words: a title, a line per event for the first ones, and a link. Nothing is escaped here. Pure. */
import { titleOfEvent, wordsOfType } from '../../events/describe.js';
import type { ChangeEvent } from '../../events/types.js';
import type { DigestSummary } from '../../handlers/handler.js';
import { shorten } from '../../runtime/printable.js';
import type { Formats } from '../../words/format.js';
import { problemText } from '../../words/problems.js';
import { wordsFor } from '../../words/words.js';
import type { TitledText } from './chat.js';

const NOTICE = 'changefeed.';
const MOST_TYPES = 6;
const MOST_PEOPLE = 10;
const MOST_CHANGES = 2;
const LONGEST_TITLE = 80;
const LONGEST_SIDE = 30;

export function digestText(digest: DigestSummary, formats: Formats): TitledText {
  const { workspace, count, types, people, first, link } = digest;
  const { t, word, countOf } = wordsFor(formats.language);
  const typed = types.map(({ type, count: events }) => {
    if (type.startsWith(NOTICE))
      return t('digest.person', { name: word('problem', type.slice(NOTICE.length)), count: formats.number(events) });
    const { object, verb } = wordsIn(type, formats);
    const records = countOf(wordsOfType(type).object, events);
    return t(verb === word('verb', 'updated') ? 'digest.updated' : 'digest.type', {
      object,
      verb,
      records,
      count: formats.number(events),
    });
  });
  const named = people.map(({ name, count: events }) =>
    t('digest.person', { name: onOneLine(name, LONGEST_TITLE), count: formats.number(events) }),
  );
  const more = count - first.length;
  return {
    title: t('digest.title', { workspace, changes: countOf('change', count), types: upTo(MOST_TYPES, typed) }),
    lines: [
      ...(named.length > 0 ? [t('digest.people', { people: upTo(MOST_PEOPLE, named) })] : []),
      ...first.map((event) => `• ${eventLine(event, formats)}`),
      ...(more > 0 ? [t('count.more', { count: formats.number(more) })] : []),
    ],
    link: link === null ? null : { text: t('digest.link'), url: link },
  };
}

function eventLine(event: ChangeEvent, formats: Formats): string {
  const { data, subject, type } = event;
  if (data.notice !== undefined)
    return onOneLine(problemText({ kind: type.slice(NOTICE.length), ...data.notice }, formats), 4 * LONGEST_TITLE);
  const title = onOneLine(titleOfEvent(event, formats.value) ?? subject, LONGEST_TITLE);
  const said = wordsFor(formats.language).t('digest.event', { title, ...wordsIn(type, formats) });
  const side = (value: unknown): string => onOneLine(formats.value(value) ?? '–', LONGEST_SIDE);
  const changes = data.changes
    .slice(0, MOST_CHANGES)
    .map(({ field, before, after }) => `${onOneLine(field, LONGEST_SIDE)}: ${side(before)} → ${side(after)}`);
  const more = data.changes.length - changes.length;
  return [said, ...changes, ...(more > 0 ? [`+${more}`] : [])].join(' · ');
}

function wordsIn(type: string, { language }: Formats): { object: string; verb: string } {
  const { word } = wordsFor(language);
  const { object, verb } = wordsOfType(type);
  return { object: word('object', object), verb: word('verb', verb) };
}

function upTo(most: number, texts: readonly string[]): string {
  const more = texts.length - most;
  return [...texts.slice(0, most), ...(more > 0 ? [`+${more}`] : [])].join(', ');
}

/** A line break in a name would begin a line that looks like one of ours. */
function onOneLine(text: string, longest: number): string {
  return shorten(text.replace(/\s+/gu, ' ').trim(), longest);
}
