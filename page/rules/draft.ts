/** A rule while it is being made: as in the file, with its conditions as pairs. Pure. */
import type { Language } from '../formats.js';
import type { Path, RuleValues } from '../api.js';

/** The options of a rule that the form shows, as the file has them. */
export interface RuleData {
  id: string;
  to: string;
  title?: string;
  enabled?: boolean;
  on?: readonly string[];
  where?: Readonly<Record<string, unknown>>;
  class?: 'edited';
  from?: readonly string[];
  workspaces?: readonly string[];
  include?: readonly string[];
  digest?: { every?: string; at?: string; days?: 'daily' | 'mon-fri' };
  mostPerMinute?: number;
  template?: string | undefined;
  language?: Language;
}

export type Pair = readonly [key: string, operand: unknown];
export interface Draft {
  rule: RuleData;
  conditions: readonly Pair[];
  /** One of the conditions is enough. */
  isAny: boolean;
  people: readonly string[];
  teams: readonly string[];
}

export const VERBS = ['updated', 'created', 'any', 'deleted'] as const;
/** A clock and no person makes the second and the third. */
export const TODO_VERBS = ['completed', 'overdue', 'due_soon', 'reopened', 'rescheduled', 'reassigned'] as const;
export const PEOPLE = '담당자';
export const TEAMS = '팀';
const SHOWN = 'id to title enabled on where class from workspaces include digest mostPerMinute template language'.split(
  ' ',
);

export type Operator = keyof typeof OPERANDS;
/** What each has before a value is given. The first five compare before and after. */
const OPERANDS = {
  becomes: { becomes: '' },
  fromTo: { from: '', to: '' },
  changes: { changes: true },
  rises: { rises: true },
  falls: { falls: true },
  is: [],
  contains: { contains: '' },
  gte: { gte: '' },
  lte: { lte: '' },
  empty: { exists: false },
  filled: { exists: true },
} as const;
const COMPARING: readonly Operator[] = ['becomes', 'fromTo', 'changes', 'rises', 'falls'];

export type Kind = 'text' | 'number' | 'boolean' | 'time' | 'reference' | 'list';
/** The fields of the list that the rule is about. */
export interface Fields {
  names: string[];
  /** In no change: a condition that they change would never hold. */
  uncompared: readonly string[];
  kinds: Readonly<Record<string, Kind>>;
  /** Where the values of a field are asked for. */
  valuesAt: (field: string) => Path<RuleValues> | null;
}

const OF_KIND: Readonly<Record<Kind, readonly Operator[]>> = {
  text: ['becomes', 'fromTo', 'changes', 'is', 'contains', 'empty', 'filled'],
  number: ['rises', 'falls', 'becomes', 'changes', 'gte', 'lte', 'empty', 'filled'],
  boolean: ['becomes', 'changes', 'empty', 'filled'],
  time: ['changes', 'empty', 'filled'],
  reference: ['becomes', 'fromTo', 'changes', 'is', 'empty', 'filled'],
  list: ['changes', 'contains', 'empty', 'filled'],
};

/** What a field holds, of the types that its schema has, the most frequent first. */
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

export function eventOf({ on = [] }: RuleData): { object: string; verb: string } {
  const [, object = '', verb = ''] = (on.at(-1) ?? '').split('.');
  return { object, verb: on.length === 2 ? 'any' : verb };
}

export const typesOf = (object: string, verb: string): string[] =>
  (verb === 'any' ? ['created', 'updated'] : [verb]).map((one) => `crm.${object}.${one}`);

export const rootOf = (rule: RuleData): string => (eventOf(rule).verb === 'deleted' ? 'before.' : 'after.');

export const fieldOf = ([key]: Pair): string => key.replace(/^(before|after)\./, '');

/** Undefined for what the form does not have. */
export function operatorOf([key, operand]: Pair): Operator | undefined {
  if (Array.isArray(operand)) return operand.every((one) => typeof one === 'string') ? 'is' : undefined;
  const said = given([key, operand]);
  if ('exists' in said) return said['exists'] === true ? 'filled' : 'empty';
  if ('from' in said) return 'to' in said ? 'fromTo' : undefined;
  const known = (Object.keys(OPERANDS) as Operator[]).find((one) => one in said);
  return known !== undefined && COMPARING.includes(known) === !/^(before|after)\./.test(key) ? known : undefined;
}

export function pairOf(field: string, operator: Operator, rule: RuleData): Pair {
  return [COMPARING.includes(operator) ? field : `${rootOf(rule)}${field}`, OPERANDS[operator]];
}

const given = ([, operand]: Pair): Readonly<Record<string, unknown>> => Object(operand) as Record<string, unknown>;

/** The value that is given under a name; empty where there is none. */
export function textIn(pair: Pair, name: string): string {
  const value = given(pair)[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** The names of an operand under which a value is given. */
export function valuesOf(pair: Pair): string[] {
  if ('rises' in given(pair) || 'falls' in given(pair)) return ['by'];
  return ['becomes', 'from', 'to', 'contains', 'gte', 'lte'].filter((one) => one in given(pair));
}

export function withValue([key, operand]: Pair, name: string, text: string, kind: Kind): Pair {
  const isNumber =
    (kind === 'number' && text.trim() !== '' && !Number.isNaN(Number(text))) || name === 'gte' || name === 'lte';
  const value = kind === 'boolean' ? text === 'true' : isNumber ? Number(text) : text;
  const { [name]: _former, ...others } = operand as Record<string, unknown>;
  return [key, name === 'by' && text === '' ? others : { ...others, [name]: value }];
}

export function isComplete({ rule, conditions }: Draft): boolean {
  const isGiven = (pair: Pair): boolean =>
    fieldOf(pair) !== '' &&
    (!Array.isArray(pair[1]) || pair[1].length > 0) &&
    valuesOf(pair).every((name) => name === 'by' || textIn(pair, name) !== '');
  return rule.to !== '' && conditions.every(isGiven);
}

/** Null where two conditions have one key: the file has only one of them. */
export function ruleOf({ rule, conditions, isAny, people, teams }: Draft): RuleData | null {
  const root = rootOf(rule);
  const owners = [[`${root}${PEOPLE}`, people] as const, [`${root}${TEAMS}`, teams] as const];
  const any = conditions.map((pair) => Object.fromEntries([pair]));
  const joined = isAny && any.length > 1 ? [['any', any] as const] : conditions;
  const pairs = [...joined, ...owners.filter(([, names]) => names.length > 0)];
  const { where: _where, class: _class, include: _include, ...others } = rule;
  const { object, verb } = eventOf(rule);
  if (new Set(pairs.map(([key]) => key)).size < pairs.length) return null;
  return {
    ...others,
    // Without a condition, what the system counts by itself would be told too.
    ...(verb === 'updated' && conditions.length === 0 && { class: 'edited' }),
    ...(pairs.length > 0 && { where: Object.fromEntries(pairs) }),
    ...(['todo', 'memo', 'deal', 'lead'].includes(object) && { include: ['person', 'organization'] }),
  };
}

/** Null where the rule says what the form cannot show: it would be lost. */
export function draftOf(rule: RuleData): Draft | null {
  const root = rootOf(rule);
  const { [`${root}${PEOPLE}`]: people = [], [`${root}${TEAMS}`]: teams = [], ...others } = rule.where ?? {};
  const { any, ...rest } = others;
  // A field may be called so.
  const isAny = Array.isArray(any);
  const groups = isAny ? (any as object[]) : [others];
  const conditions = groups.flatMap((one): Pair[] => Object.entries(one));
  const { object, verb } = eventOf(rule);
  const isShown =
    Object.keys(rule).every((option) => SHOWN.includes(option)) &&
    conditions.every((pair) => operatorOf(pair) !== undefined) &&
    (!isAny || (Object.keys(rest).length === 0 && groups.every((one) => Object.keys(one).length === 1))) &&
    [people, teams].every(Array.isArray) &&
    [...VERBS, ...TODO_VERBS].some((one) => one === verb) &&
    typesOf(object, verb).join() === rule.on?.join() &&
    (rule.from ?? ['user']).join() === 'user';
  return isShown ? { rule, conditions, isAny, people: people as string[], teams: teams as string[] } : null;
}
