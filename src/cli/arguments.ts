/** Arguments and options that several commands share, and readers of their texts. */
import { Option } from 'commander';
import { usage } from '../kit/errors.js';
import type { ListName } from '../crm/lists/lists.js';
import { parseBeginning } from '../events/log-id.js';
import { parseDuration } from '../kit/duration.js';
import { readTime } from '../kit/iso-time.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';
import { anEventType, meantType, selectsType } from '../events/event-pattern-schema.js';
import type { Conditions } from '../delivery/handlers/where.js';
import { meantList } from '../crm/lists/list-name.js';
import { argument, asText, option, restArguments, type Known, type Parameter, type Read } from './command.js';

export function listArgument(description: string): Parameter<ListName> {
  return { ...argument(description, asText), resolve: listNamed };
}

export function listArguments(description: string): Parameter<ListName[]> {
  return { ...restArguments(description, asText), resolve: listsNamed };
}

/** `all` is every list of the workspace. */
export function listsOrAll(description: string): Parameter<string[]> {
  return {
    ...restArguments(description, asText, '<…>'),
    resolve: (names, known) => names.flatMap((name) => (name === 'all' ? [name] : listsNamed([name], known))),
  };
}

/** `--record todo 0198f0ac`: a list and the id of a record, in one option. */
export function recordOption(description: string): Parameter<{ list: ListName; id: string } | undefined> {
  return {
    term: (name) =>
      new Option(`--${name} <list> <id...>`, description).argParser((text, before?: { list: string; id: string }) => {
        if (before !== undefined && before.id !== '') throw usage(`--${name}: give one list and one id, at the end.`);
        return before === undefined ? { list: text, id: '' } : { ...before, id: text };
      }),
    resolve({ list, id }, known) {
      if (id === '') throw usage('--record: give the list and the id of the record, such as --record todo 0198f0ac.');
      return { list: listNamed(list, known), id };
    },
  };
}

export function workspaceOption(description: string): Parameter<string | undefined> {
  return { ...option('name', description, asText), resolve: workspaceNamed };
}

export function listsNamed(texts: readonly string[], known: Known): ListName[] {
  return [...new Set(texts.map((text) => listNamed(text, known)))];
}

function listNamed(text: string, { lists }: Known): ListName {
  const list = lists.parse(text);
  if (list !== undefined) return list.name;
  throw usage(
    `There is no list "${text}"${meantList(text, lists)}. The lists are ${lists.all.map(({ name }) => name).join(', ')}.`,
  );
}

function workspaceNamed(name: string, { config: { workspaces } }: Known): string {
  const names = workspaces.map((workspace) => workspace.name);
  if (names.includes(name)) return name;
  throw usage(
    `--workspace: there is no workspace "${name}"${didYouMean(name, names)}. The configuration names ${names.join(', ')}.`,
  );
}

/** A reader that says what is allowed when `parse` gives undefined. `name` may stand before a part of the value. */
function reader<T>(allowed: string, parse: (text: string) => T | undefined): Read<T> {
  return (text, name) => {
    const value = parse(text);
    if (value !== undefined) return value;
    throw usage(`${name}: found "${text}"; allowed: ${allowed}.`);
  };
}

export function word<Word extends string>(...words: readonly Word[]): Read<Word> {
  return (text, name) => {
    const found = words.find((one) => one === text);
    if (found !== undefined) return found;
    throw usage(`${name}: found "${text}"${didYouMean(text, words)}; allowed: ${words.join(', ')}.`);
  };
}

export function words<Word extends string>(...allowed: readonly Word[]): Read<Word[]> {
  return (text, name) => separated(text, name).map((part) => word(...allowed)(part, name));
}

export const separated: Read<string[]> = (text) => text.split(',').map((part) => part.trim());

export function wholeNumber({ least = 0, most = 999_999_999 } = {}): Read<number> {
  return reader(`a whole number from ${least} to ${most}`, (text) => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  });
}

const nameAndCount = reader(
  'a name and a number of records, such as deal=500',
  (text) => /^([^=]+)=(.*)$/.exec(text) ?? undefined,
);

/** `deal=500` */
export function recordCount(limits: { most: number }): Read<[name: string, count: number]> {
  return (text, option) => {
    const [, name = '', count = ''] = nameAndCount(text, option);
    return [name, wholeNumber(limits)(count, `${option} ${name}`)];
  };
}

export const port = wholeNumber({ most: 65_535 });

export const positiveNumber = reader('a number, 0 or more', (text) => {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
});

export const httpUrl = reader('a URL such as http://localhost:3000/hook', (text) =>
  /^https?:[/][/]/i.test(text) && URL.canParse(text) ? text : undefined,
);

/** In ms. */
export const duration = reader('a duration with its unit, such as 200ms, 30s or 15m', parseDuration);

/** As ms. The sandbox has no workspace: without a zone it is UTC. */
export const dayOrTime = reader('a day or a time, such as 2026-03-01 or 2026-03-01T09:00:00Z', (text) => {
  const ms = readTime(text, 'UTC');
  return ms !== null && ms >= 0 ? ms : undefined;
});

/** Patterns of event types. One that no event can match is refused: its empty output would mean "nothing happened". */
export function typeOption(description: string, name = 'type'): Parameter<string[] | undefined> {
  return {
    ...option('patterns', description, separated),
    resolve(patterns, { lists }) {
      const dead = patterns.find((pattern) => !selectsType(pattern, lists));
      if (dead === undefined) return patterns;
      throw usage(`--${name}: found "${dead}"${meantType(dead, lists)}; allowed: ${anEventType(lists)}.`);
    },
  };
}

/** `100/10s`; `none` and `0` are no limit. */
export const rateLimit = reader('requests/duration such as 100/10s, or "none"', (text) => {
  if (text === '0' || text === 'none') return null;
  const [, requests, window = ''] = /^(\d+)\/(.+)$/.exec(text) ?? [];
  const perMs = parseDuration(window) ?? 0;
  return requests !== undefined && perMs > 0 ? { requests: Number(requests), perMs } : undefined;
});

export const asConditions: Read<Conditions> = (text, name) => {
  try {
    return JSON.parse(text) as Conditions;
  } catch {
    throw usage(
      `${name}: found ${JSON.stringify(text)}; allowed: conditions in JSON, such as '{"after.유형":"전화"}'.`,
    );
  }
};

/** As it is written: a date or time without a zone belongs to each workspace's own. */
export const logOffset = reader(
  'a log id (1700000000000-0), a time (2026-03-01T09:00:00Z), "beginning" or "now"',
  (text) => {
    if (text === 'beginning') return '0';
    return text === 'now' || /^\d+-\d+$/.test(text) || parseBeginning(text, 'UTC') !== undefined ? text : undefined;
  },
);
