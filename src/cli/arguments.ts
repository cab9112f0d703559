/** What stands behind an option or argument, read from its text; what cannot be read is a usage error that names the option. */
import { ChangefeedError } from '../errors.js';
import { EVENT_TYPES, NOTICE_TYPES, TODO_VERBS, VERBS, isOwnType } from '../events/catalogue.js';
import { LIST_NAMES, OBJECT_OF, PATH_OF, parseListName, type ListName } from '../events/lists.js';
import { compileTypePattern } from '../events/pattern.js';
import { parseDuration } from '../runtime/duration.js';
import { nearest } from '../schema-kit/did-you-mean.js';

export type Read<T> = (text: string) => T;
/** An option that may be given several times. */
export type Repeated<T> = (text: string, before?: T) => T;

/** Several lists, one argument each. */
export function listName(text: string, before: readonly ListName[] = []): ListName[] {
  const list = parseListName(text);
  if (list !== undefined) return before.includes(list) ? [...before] : [...before, list];
  const known = [...LIST_NAMES, ...LIST_NAMES.map((name) => PATH_OF[name].slice('v2/'.length))];
  throw usage(`There is no list "${text}"${meant(text, known)}. The lists are ${LIST_NAMES.join(', ')}.`);
}

/** Several lists, or all of them by the word `all`. */
export function listNameOrAll(text: string, before: readonly ListName[] = []): ListName[] {
  return text === 'all' ? [...LIST_NAMES] : listName(text, before);
}

/** One list. */
export function aList(text: string): ListName {
  const [list] = listName(text);
  return list as ListName;
}

/** A word of the command itself, as in `rules test`. */
export function theWord(word: string): Read<string> {
  return (text) => {
    if (text === word) return text;
    throw usage(`Found "${text}"${meant(text, [word])}; allowed: ${word}.`);
  };
}

/** `이름,등급*`: field patterns. */
export function fieldNames(text: string): string[] {
  return separated(text);
}

export function wholeNumber(option: string, { least = 0, most = 999_999_999 } = {}): Read<number> {
  return (text) => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw usage(`${option}: found "${text}"; allowed: a whole number from ${least} to ${most}.`);
  };
}

export function positiveNumber(option: string): Read<number> {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isFinite(value) && value >= 0) return value;
    throw usage(`${option}: found "${text}"; allowed: a number, 0 or more.`);
  };
}

export function duration(option: string): Read<number> {
  return (text) => {
    const ms = parseDuration(text);
    if (ms !== undefined) return ms;
    throw usage(`${option}: found "${text}"; allowed: a duration with its unit, such as 200ms, 30s or 15m.`);
  };
}

/** `a,b`: some of these words. */
export function someOf<Word extends string>(option: string, words: readonly Word[]): Read<Word[]> {
  return (text) =>
    separated(text).map((part) => {
      const word = words.find((one) => one === part);
      if (word !== undefined) return word;
      throw usage(
        `${option}: found "${part}"${meant(part, words)}; allowed: ${words.join(', ')}, separated by commas.`,
      );
    });
}

/** Event types with `*`. One that no event can have would be a silence that looks like "nothing happened". */
export function eventPatterns(option: string): Read<string[]> {
  return (text) =>
    separated(text).map((pattern) => {
      if ([...EVENT_TYPES, ...NOTICE_TYPES].some(compileTypePattern(pattern)) || isOwnType(pattern)) return pattern;
      const example = meant(pattern, [...EVENT_TYPES, ...NOTICE_TYPES]);
      throw usage(
        `${option}: no event has a type like "${pattern}"${example}. Types are ${typesText()}; * stands for any text.`,
      );
    });
}

/** `100/10s`; `none` and `0` are no limit. */
export function rateLimit(option: string): Read<{ requests: number; perMs: number } | null> {
  return (text) => {
    if (text === '0' || text === 'none') return null;
    const [, requests, window = ''] = /^(\d+)\/(.+)$/.exec(text) ?? [];
    const perMs = parseDuration(window);
    if (requests !== undefined && perMs !== undefined && perMs > 0) return { requests: Number(requests), perMs };
    throw usage(`${option}: found "${text}"; allowed: requests/duration such as 100/10s, or "none".`);
  };
}

/** `deal=500`, once for each list: how many records by the name of the list. */
export function recordCounts(option: string, limits: { most: number }): Repeated<Record<string, number>> {
  return (text, before = {}) => {
    const [, name, count] = /^([^=]+)=(.*)$/.exec(text) ?? [];
    if (name === undefined || count === undefined) {
      throw usage(`${option}: found "${text}"; allowed: a name and a number of records, such as deal=500.`);
    }
    if (Object.hasOwn(before, name)) throw usage(`${option}: "${name}" is given twice; name each list once.`);
    return { ...before, [name]: wholeNumber(`${option} ${name}`, limits)(count) };
  };
}

/** A log id as it stands, a time as the log id of its millisecond. */
export function logPlace(option: string): Read<string> {
  return (text) => {
    if (text === 'now') return 'now';
    if (text === 'beginning') return '0';
    if (/^\d+-\d+$/.test(text)) return text;
    const ms = Date.parse(text);
    if (!Number.isNaN(ms) && ms >= 0) return `${ms}-0`;
    throw usage(
      `${option}: found "${text}"; allowed: a log id (1700000000000-0), a time (2026-03-01T09:00:00Z), "beginning" or "now".`,
    );
  };
}

/** @throws ChangefeedError CF_USAGE when the configuration names no such workspace */
export function checkWorkspace(
  name: string | undefined,
  { workspaces }: { workspaces: readonly { name: string }[] },
): void {
  const names = workspaces.map((workspace) => workspace.name);
  if (name === undefined || names.includes(name)) return;
  throw usage(
    `--workspace: there is no workspace "${name}"${meant(name, names)}. The configuration names ${names.join(', ')}.`,
  );
}

function usage(message: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message });
}

function meant(text: string, candidates: readonly string[]): string {
  const candidate = nearest(text, candidates);
  return candidate === undefined ? '' : ` (did you mean ${candidate}?)`;
}

function separated(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

function typesText(): string {
  const objects = LIST_NAMES.map((list) => OBJECT_OF[list]).join('|');
  return `crm.(${objects}).(${VERBS.join('|')}) and crm.todo.(${TODO_VERBS.join('|')})`;
}
