/** A rule while it is being made: as in the file, with its conditions as pairs. Pure. */
import type { Language } from '../formats.js';
import type { Path, RuleValues } from '../api.js';
import { DAY, DAYS, readValue, writtenValue, type Kind, type Reads } from './values.js';

/** The options of a rule that the form shows, as the file has them. */
export interface RuleData {
  id: string;
  to: string;
  title?: string;
  enabled?: boolean;
  on?: readonly string[];
  /** `for` is empty while no number of days is typed. */
  unchanged?: { for: string; field?: string; related?: readonly string[]; days?: 'calendar' | 'working' };
  where?: Readonly<Record<string, unknown>>;
  class?: 'edited' | 'refreshed';
  from?: readonly string[];
  workspaces?: readonly string[];
  include?: readonly string[];
  /** In place of `on`: what is said of the todos at a time of day. */
  report?: {
    what: 'todos' | 'changes';
    at: string;
    days?: 'daily' | 'mon-fri' | readonly string[];
    per?: 'person' | 'team';
  };
  /** False: each event by itself, where a mailbox would get a digest. */
  digest?: false | { every?: string; at?: string; days?: 'daily' | 'mon-fri' };
  mention?: boolean;
  /** 0: what was typed is no number. */
  mostPerMinute?: number;
  template?: string | undefined;
  language?: Language;
}

/** What was typed is kept beside what was read of it, by the name of the operand. */
export type Pair = readonly [key: string, operand: unknown, typed?: Readonly<Record<string, string>>];
export interface Draft {
  rule: RuleData;
  conditions: readonly Pair[];
  /** One of the conditions is enough. */
  isAny: boolean;
  people: readonly string[];
  teams: readonly string[];
}

export const VERBS = ['updated', 'created', 'any', 'deleted', 'unchanged'] as const;
/** A clock and no person makes the second and the third. */
export const TODO_VERBS = ['completed', 'overdue', 'due_soon', 'reopened', 'rescheduled', 'reassigned'] as const;
/** What refers to a record, and is looked at together. */
export const RELATED = ['memo', 'todo', 'activity'] as const;
export const PEOPLE = '담당자';
export const TEAMS = '팀';
const SHOWN =
  'id to title enabled report on unchanged where class from workspaces include digest mostPerMinute mention template language'.split(
    ' ',
  );

export type Operator = keyof typeof OPERANDS;
/** The operands that each has before a value is given. The first five compare before and after. */
const OPERANDS = {
  becomes: { becomes: '' },
  fromTo: { from: '', to: '' },
  changes: { changes: true },
  rises: { rises: true },
  falls: { falls: true },
  is: [],
  isNot: { not: [] },
  contains: { contains: '' },
  gte: { gte: '' },
  lte: { lte: '' },
  lt: { lt: '' },
  inNext: { inNext: '' },
  ago: { ago: '' },
  empty: { exists: false },
  filled: { exists: true },
} as const;
const COMPARING: readonly Operator[] = ['becomes', 'fromTo', 'changes', 'rises', 'falls'];

/** The fields of the list that the rule is about. */
export interface Fields {
  names: string[];
  /** In no change: a condition that they change would never hold. */
  uncompared: readonly string[];
  kinds: Readonly<Record<string, Kind>>;
  timeZone: string;
  /** The question for the values of a field. */
  valuesAt: (field: string) => Path<RuleValues> | null;
}

const OF_KIND: Readonly<Record<Kind, readonly Operator[]>> = {
  text: ['becomes', 'fromTo', 'changes', 'is', 'isNot', 'contains', 'empty', 'filled'],
  number: ['rises', 'falls', 'becomes', 'changes', 'gte', 'lte', 'empty', 'filled'],
  boolean: ['becomes', 'changes', 'is', 'empty', 'filled'],
  time: ['changes', 'lt', 'gte', 'inNext', 'ago', 'empty', 'filled'],
  reference: ['becomes', 'fromTo', 'changes', 'is', 'isNot', 'empty', 'filled'],
  list: ['changes', 'contains', 'empty', 'filled'],
};

/** The type of a field's values, of those that its schema has, the most frequent first. */
export function kindOf(forms: readonly { form: string }[]): Kind {
  const form = forms.map((one) => one.form).find((one) => !['null', 'empty list'].includes(one)) ?? '';
  if (form === 'number' || form === 'boolean') return form;
  if (form.startsWith('timestamp')) return 'time';
  if (/^(list of )?\{.*\bid\b.*\}$/.test(form)) return 'reference';
  return form.startsWith('list') ? 'list' : 'text';
}

/** A change is seen only where the record was changed. */
export function operatorsFor(kind: Kind, verb: string): Operator[] {
  return OF_KIND[kind].filter((one) => verb === 'updated' || verb === 'any' || !COMPARING.includes(one));
}

/** The same operand is called otherwise of a time, and of a yes or no. */
export function nameOf(operator: Operator, kind: Kind): Operator | 'since' | 'equals' {
  if (operator === 'gte' && kind === 'time') return 'since';
  return operator === 'is' && kind === 'boolean' ? 'equals' : operator;
}

export function eventOf({ on = [] }: RuleData): { object: string; verb: string } {
  const [, object = '', verb = ''] = (on.at(-1) ?? '').split('.');
  return { object, verb: on.length === 2 ? 'any' : verb };
}

export const typesOf = (object: string, verb: string): string[] =>
  (verb === 'any' ? ['created', 'updated'] : [verb]).map((one) => `crm.${object}.${one}`);

/** With or without what only a rule about what has not happened has. */
export function ofVerb({ unchanged, ...rule }: RuleData, verb: string): RuleData {
  return verb === 'unchanged' ? { ...rule, unchanged: unchanged ?? { for: '14d' } } : rule;
}

/** Null where it is not in days. */
export function daysOf({ unchanged }: RuleData): number | null {
  const [, count] = /^(\d+)d$/.exec(unchanged?.for ?? '') ?? [];
  return count === undefined ? null : Number(count);
}

export const rootOf = (rule: RuleData): string => (eventOf(rule).verb === 'deleted' ? 'before.' : 'after.');

export const fieldOf = ([key]: Pair): string => key.replace(/^(before|after)\./, '');

/** Undefined for what the form does not have. */
export function operatorOf(pair: Pair): Operator | undefined {
  const said = given(pair);
  const chosen = isState(pair) ? chosenIn(pair) : null;
  if (chosen !== null) {
    if (!chosen.every((one) => typeof one === 'string' || typeof one === 'boolean')) return undefined;
    return Array.isArray(pair[1]) ? 'is' : 'isNot';
  }
  if ('exists' in said && isState(pair)) return said['exists'] === true ? 'filled' : 'empty';
  if ('from' in said) return 'to' in said ? 'fromTo' : undefined;
  const known = (Object.keys(OPERANDS) as Operator[]).find((one) => one in said);
  return known !== undefined && COMPARING.includes(known) !== isState(pair) ? known : undefined;
}

const isState = ([key]: Pair): boolean => /^(before|after)\./.test(key);

export function pairOf(field: string, operator: Operator, rule: RuleData): Pair {
  return [COMPARING.includes(operator) ? field : `${rootOf(rule)}${field}`, OPERANDS[operator]];
}

const given = ([, operand]: Pair): Readonly<Record<string, unknown>> => Object(operand) as Record<string, unknown>;

/** The values of a choice of several; null for another condition. */
export function chosenIn(pair: Pair): readonly unknown[] | null {
  const { not } = given(pair);
  if (Array.isArray(pair[1])) return pair[1] as unknown[];
  return not === undefined ? null : Array.isArray(not) ? (not as unknown[]) : [not];
}

export function withChosen([key, operand]: Pair, values: readonly (string | boolean)[]): Pair {
  return [key, Array.isArray(operand) ? values : { not: values }];
}

/** The value that was read; undefined where there is nothing yet, or what was typed cannot be read. */
export function valueIn(pair: Pair, name: string): unknown {
  const value = given(pair)[name];
  return value === '' ? undefined : value;
}

/** As it is typed. */
export function textIn(pair: Pair, name: string): string {
  return pair[2]?.[name] ?? writtenValue(given(pair)[name]);
}

/** The names of an operand under which a value is given. */
export function valuesOf(pair: Pair): string[] {
  if ('rises' in given(pair) || 'falls' in given(pair)) return ['by'];
  return VALUES.filter((one) => one in given(pair));
}

const VALUES = ['becomes', 'from', 'to', 'contains', 'gte', 'lte', 'lt', 'inNext', 'ago'];

export function withValue([key, operand, typed]: Pair, name: string, text: string, reads: Reads): Pair {
  const { [name]: _former, ...others } = operand as Record<string, unknown>;
  const value = readValue(text, name, reads);
  // Without an amount, any rise is one.
  const read = name === 'by' && value === null ? others : { ...others, [name]: value ?? '' };
  return [key, read, { ...typed, [name]: text }];
}

/** Why a value is not taken as it was typed; null while nothing is. */
export function faultOf(pair: Pair, name: string): 'number' | 'by' | 'day' | 'days' | 'same' | null {
  const { from, to } = given(pair);
  if (name === 'to' && to === from && valueIn(pair, 'to') !== undefined) return 'same';
  if (valueIn(pair, name) !== undefined || textIn(pair, name).trim() === '') return null;
  return ({ by: 'by', inNext: 'days', ago: 'days', lt: 'day' } as const)[name] ?? 'number';
}

export function isComplete({ rule, conditions }: Draft): boolean {
  if (rule.report !== undefined) return rule.to !== '' && rule.report.at !== '';
  const isGiven = (pair: Pair): boolean =>
    fieldOf(pair) !== '' &&
    chosenIn(pair)?.length !== 0 &&
    valuesOf(pair).every((name) => name === 'by' || valueIn(pair, name) !== undefined) &&
    valuesOf(pair).every((name) => faultOf(pair, name) === null);
  const { mostPerMinute = 1, digest } = rule;
  return (
    rule.to !== '' &&
    rule.unchanged?.for !== '' &&
    conditions.every(isGiven) &&
    mostPerMinute > 0 &&
    (!digest || digest.at !== '')
  );
}

/** As it is where the rule says nothing: a mailbox gets one mail in the morning. */
export function withUsualDigest(draft: Draft, handler: string | undefined): Draft {
  const isUsual = handler === 'email' && draft.rule.digest === undefined;
  return isUsual ? { ...draft, rule: { ...draft.rule, digest: { at: '09:00' } } } : draft;
}

/** What the former destination has and this one has not is left out. */
export function sentTo(rule: RuleData, to: string, handler: string | undefined): RuleData {
  const { digest, mostPerMinute, mention, template, ...others } = rule;
  const both = { ...(digest && { digest }), ...(template !== undefined && { template }) };
  if (handler === 'email') return { ...others, ...both, to };
  if (handler !== 'message') return { ...others, to };
  const ofChats = { ...(mostPerMinute !== undefined && { mostPerMinute }), ...(mention !== undefined && { mention }) };
  return { ...others, ...both, ...ofChats, to };
}

/** A state, such as a grade, holds whatever has changed: also where the system has counted something. */
export function matchesCounters({ rule, conditions, isAny }: Draft): boolean {
  const isUpdate = ['updated', 'any'].includes(eventOf(rule).verb);
  return isUpdate && (isAny && conditions.length > 0 ? conditions.some(isState) : conditions.every(isState));
}

/** Null where two conditions say the same of one field: the file has only one of them. */
export function ruleOf(draft: Draft): RuleData | null {
  const { rule, conditions, isAny, people, teams } = draft;
  if (rule.report !== undefined) return reportRule(rule);
  const root = rootOf(rule);
  const owners = [[`${root}${PEOPLE}`, people] as const, [`${root}${TEAMS}`, teams] as const];
  const any = conditions.map(([key, operand]) => ({ [key]: operand }));
  const joined: readonly Pair[] = isAny && any.length > 1 ? [['any', any]] : conditions;
  const pairs = together([...joined, ...owners.filter(([, names]) => names.length > 0)]);
  const { where: _where, class: edited, include: _include, ...others } = rule;
  const { object } = eventOf(rule);
  if (pairs === null) return null;
  return {
    ...others,
    ...(edited !== undefined && matchesCounters(draft) && { class: edited }),
    ...(pairs.size > 0 && { where: Object.fromEntries(pairs) }),
    ...(['todo', 'memo', 'deal', 'lead'].includes(object) && { include: ['person', 'organization'] }),
  };
}

/** Without what is about events. */
function reportRule({ id, to, title, enabled, report, workspaces, language }: RuleData): RuleData {
  return {
    ...{ id, to },
    ...(title !== undefined && { title }),
    ...(enabled !== undefined && { enabled }),
    ...(report && { report }),
    ...(workspaces && { workspaces }),
    ...(language && { language }),
  };
}

/** Two comparisons of one field are one condition, such as a range. */
function together(pairs: readonly Pair[]): Map<string, unknown> | null {
  const all = new Map<string, unknown>();
  for (const pair of pairs) {
    const [key, operand] = pair;
    const former = all.get(key);
    const isMore =
      isState(pair) &&
      [former, operand].every((one) => typeof one === 'object' && !Array.isArray(one)) &&
      Object.keys(operand as object).every((name) => !(name in (former as object)));
    if (former !== undefined && !isMore) return null;
    all.set(key, isMore ? { ...(former as object), ...(operand as object) } : operand);
  }
  return all;
}

function apart(key: string, operand: unknown): Pair[] {
  const isOne = !isState([key, operand]) || typeof operand !== 'object' || Array.isArray(operand) || operand === null;
  return isOne ? [[key, operand]] : Object.entries(operand).map((one) => [key, Object.fromEntries([one])]);
}

/** A number, a text, a yes or no; of times, a day and days. */
function isShownValue(pair: Pair, name: string): boolean {
  const value = given(pair)[name];
  if (name === 'inNext' || name === 'ago') return typeof value === 'string' && DAYS.test(value);
  if (name === 'lt' || ((name === 'gte' || name === 'lte') && typeof value !== 'number'))
    return name !== 'lte' && typeof value === 'string' && DAY.test(value);
  return ['string', 'number', 'boolean'].includes(typeof value) || (name === 'by' && value === undefined);
}

function isShownStretch(rule: RuleData): boolean {
  const { related } = rule.unchanged ?? {};
  const isShown = related?.every((list) => RELATED.some((one) => one === list)) ?? true;
  return isShown && (rule.unchanged === undefined) === (daysOf(rule) === null);
}

/** Null where the rule says what the form cannot show: it would be lost. */
export function draftOf(rule: RuleData): Draft | null {
  if (rule.report !== undefined) {
    const isKnown = ['daily', 'mon-fri', 'mon'].includes(String(rule.report.days ?? 'mon-fri'));
    return isKnown ? { rule, conditions: [], isAny: false, people: [], teams: [] } : null;
  }
  const root = rootOf(rule);
  const where = Object.entries(rule.where ?? {});
  const owners = (field: string): unknown =>
    where.find(([key, of]) => key === `${root}${field}` && Array.isArray(of))?.[1];
  const [people = [], teams = []] = [owners(PEOPLE), owners(TEAMS)];
  const others = Object.fromEntries(where.filter(([, operand]) => operand !== people && operand !== teams));
  const { any, ...rest } = others;
  // A field may be called so.
  const isAny = Array.isArray(any);
  const groups = isAny ? (any as object[]) : [others];
  const conditions = groups.flatMap((one) => Object.entries(one)).flatMap(([key, operand]) => apart(key, operand));
  const { object, verb } = eventOf(rule);
  const isShown =
    Object.keys(rule).every((option) => SHOWN.includes(option)) &&
    (rule.class ?? 'edited') === 'edited' &&
    conditions.every((pair) => operatorOf(pair) !== undefined) &&
    conditions.every((pair) => valuesOf(pair).every((name) => isShownValue(pair, name))) &&
    (!isAny || (Object.keys(rest).length === 0 && conditions.length === groups.length)) &&
    [...VERBS, ...TODO_VERBS].some((one) => one === verb) &&
    isShownStretch(rule) &&
    typesOf(object, verb).join() === rule.on?.join() &&
    (rule.from ?? ['user']).join() === 'user';
  if (!isShown) return null;
  const draft = { rule, conditions, isAny, people: people as string[], teams: teams as string[] };
  // Counters are asked for by a rule that they match, and by no other.
  return matchesCounters(draft) ? draft : { ...draft, rule: { ...rule, class: 'edited' } };
}

/** What people write comes first, then what the system counts, then ids. */
export function byUse(names: readonly string[], kept: readonly string[]): string[] {
  const rank = (name: string): number => (/(^i|I)d$/.test(name) ? 2 : kept.includes(name) ? 1 : 0);
  return [...names].sort((a, b) => rank(a) - rank(b));
}
