/** Conditions as data, in the forms that docs/delivery.md lists. Values are never converted: "3" is not 3. */
import { z } from 'zod';
import { isObject, type CrmRecords } from '../../crm/record.js';
import type { ChangeEvent } from '../../events/types.js';
import { compilePattern, type Asked, type Where, type WorkspaceOfEvent } from '../../events/pattern.js';
import { parseDuration } from '../../kit/duration.js';
import { usage } from '../../kit/errors.js';
import { readTime } from '../../kit/iso-time.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { matching } from '../../kit/schema/fields.js';
import { pathText, type Path } from '../../kit/schema/problem.js';
import {
  CHANGE_OPERATORS,
  changeCondition,
  changeAt,
  compileChange,
  isReferred,
  type ChangeCondition,
} from './change-condition.js';
import { equal, normal, plain, valueAtPath, type Plain } from './values.js';

type FieldOf<Records> = { [Name in keyof Records]: keyof Records[Name] & string }[keyof Records];

/** All must hold. The fields of records that the program has added to `CrmRecords` are completed by the editor. */
export type Conditions = {
  readonly [path: string]: Plain | readonly Plain[] | Comparison | ChangeCondition | readonly Conditions[] | undefined;
  /** One of these must hold. A condition within has no further `any`. */
  readonly any?: readonly Conditions[] | undefined;
} & { readonly [Field in FieldOf<CrmRecords>]?: ChangeCondition };
/** `workspace`: where the event comes from, with what your program put with it. */
export type Predicate = (event: ChangeEvent, workspace: WorkspaceOfEvent) => boolean;

const ROOTS = ['before', 'after', 'data', 'type', 'subject', 'time', 'changed', 'workspace'] as const;
const MOST_CONDITIONS = 50;
const A_WHERE = `conditions such as { "after.<field>": <value> } or { "<field>": { changes: true } }, or in code a function (event) => boolean`;
const A_CHANGE = `an object of ${CHANGE_OPERATORS.join(', ')} (a bare name is a field and what it did; "after.<field>" has a value)`;

const span = matching(/^[1-9]\d{0,4}[mhd]$/, "a duration in minutes, hours or days such as '7d'");
const ordered = z.union([z.string(), z.number()], { error: 'a number or a text' });
const comparison = z
  .strictObject({
    not: z.union([plain, z.array(plain)], { error: 'a value, or an array of values' }),
    gt: ordered,
    gte: ordered,
    lt: ordered,
    lte: ordered,
    contains: plain,
    matches: z.string({ error: 'a text with *' }),
    exists: z.boolean({ error: 'true or false' }),
    inNext: span,
    ago: span,
  })
  .partial();
/** What a value of the record is compared with. */
export type Comparison = z.infer<typeof comparison>;
const COMPARISONS = Object.keys(comparison.shape);
const A_CONDITION = `a value, an array of values, or an object of ${COMPARISONS.join(', ')}`;

const value = z.union([plain, z.array(plain), comparison, changeCondition]);
/** As a schema for editors. What is allowed where is checked by `problemsOf`, which says more. */
export const conditionsSchema = z.object({ any: z.array(z.record(z.string(), value)).optional() }).catchall(value);

/** Code or data. Data is checked strictly, because a condition that can never hold would silently select nothing. */
export const whereSchema = z.unknown().check(({ value: given, issues }) => {
  if (typeof given !== 'function') issues.push(...problemsOf(given, []).map((issue) => ({ ...issue, input: given })));
}) as unknown as z.ZodType<Predicate | Conditions, Predicate | Conditions>;

/** @throws ChangefeedError `CF_USAGE` in one sentence */
export function checkConditions(given: unknown, name: string): asserts given is Conditions {
  const [first] = problemsOf(given, []);
  if (first === undefined) return;
  const { path, message } = first;
  throw usage(`${[name, pathText(path)].filter((part) => part !== '').join(', ')}: ${message}.`);
}

type Issue = { code: 'custom'; path: PropertyKey[]; message: string; params?: { whole: true } };

function problemsOf(given: unknown, path: Path): Issue[] {
  const issue = (message: string, more: Path = []): Issue => ({ code: 'custom', path: [...path, ...more], message });
  if (!isObject(given)) return [issue(path.length === 0 ? A_WHERE : 'an object of conditions')];
  if (countConditions(given) > MOST_CONDITIONS)
    return [issue(`at most ${MOST_CONDITIONS} conditions, with those of any`)];
  return Object.entries(given).flatMap(([key, condition]) => {
    if (key !== 'any' || !Array.isArray(condition)) return problemsOfOne(key, condition, [...path, key]);
    if (path.length > 0) return [issue('conditions without a further any: list them in the outer one', [key])];
    if (condition.length === 0) return [issue('an array of one or more objects of conditions', [key])];
    return condition.flatMap((one, at) => problemsOf(one, [key, at]));
  });
}

/** With those of `any`. What is nested deeper is refused, and counts as one: it can be so deep that a walk would have no stack left. */
export function countConditions(given: object): number {
  const countOf = (one: unknown): number =>
    Array.isArray(one) && one.every(isObject) ? one.reduce((sum, each) => sum + Object.keys(each).length, 0) : 1;
  return Object.values(given).reduce<number>((sum, one) => sum + countOf(one), 0);
}

function problemsOfOne(key: string, condition: unknown, path: PropertyKey[]): Issue[] {
  const isOfEvent = ROOTS.some((root) => key === root || key.startsWith(`${root}.`));
  const operators = isObject(condition) ? Object.keys(condition) : [];
  const whole = (message: string, more: Path = []): Issue[] => [
    { code: 'custom', path: [...path, ...more], message, params: { whole: true } },
  ];
  const [schema, known, form] =
    isOfEvent && !isChange(key, condition)
      ? ([comparison, COMPARISONS, A_CONDITION] as const)
      : ([changeCondition, CHANGE_OPERATORS, A_CHANGE] as const);
  const [root = '', ...rest] = key.split('.');
  const others: readonly string[] = schema === comparison ? CHANGE_OPERATORS : COMPARISONS;
  const stranger = operators.find((one) => !known.includes(one as never));
  if (stranger !== undefined && others.includes(stranger)) {
    const name = schema === comparison ? rest.join('.') : `after.${key}`;
    const of = schema === comparison ? 'compares before and after' : 'compares one value';
    return whole(`${stranger} ${of}: write it under "${name}"`, [stranger]);
  }
  if (stranger !== undefined)
    return whole(
      `there is no such operator${didYouMean(stranger, [...known, ...others])}; allowed: ${known.join(', ')}`,
      [stranger],
    );
  const isValue = schema === comparison && z.union([plain, z.array(plain)]).safeParse(condition).success;
  if (isValue) return [];
  if (operators.length === 0) {
    const meant = isOfEvent || rest.length === 0 ? '' : didYouMean(root, ROOTS);
    return [{ code: 'custom', path, message: `${form}${meant}` }];
  }
  const { error } = schema.safeParse(condition);
  return (error?.issues ?? []).map(({ path: at, message }) => ({ code: 'custom', path: [...path, ...at], message }));
}

/** `type` and `time` may be fields too: what only a field can do decides. */
function isChange(key: string, condition: unknown): condition is ChangeCondition {
  return isObject(condition) && !key.includes('.') && CHANGE_OPERATORS.some((operator) => operator in condition);
}

export function compileWhere(where: Predicate | Conditions): Where {
  if (typeof where === 'function') return where;
  const tests = Object.entries(where).flatMap(([path, condition]) =>
    condition === undefined ? [] : [{ path, condition, holds: compileOne(path, condition) }],
  );
  const failing: NonNullable<Where['failing']> = (event, workspace) => {
    const { path, condition } = tests.find(({ holds }) => !holds(event, workspace)) ?? {};
    if (path === undefined) return undefined;
    return { condition: path, wanted: shown(condition), found: foundAt(path, condition, { event, workspace }) };
  };
  const holds: Predicate = (event, workspace) => failing(event, workspace) === undefined;
  return Object.assign(holds, { failing, asks: askedBy(where) });
}

const MOST_SHOWN = 200;

function shown(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

type Seen = { event: ChangeEvent; workspace: WorkspaceOfEvent };

function foundAt(path: string, condition: unknown, { event, workspace }: Seen): string {
  if (path === 'any' && Array.isArray(condition)) {
    const each = (condition as readonly Conditions[]).flatMap(
      (one) => compileWhere(one).failing?.(event, workspace) ?? [],
    );
    return each.map((one) => `${one.condition}: ${one.found}`).join(', ');
  }
  // What a program put may be secret.
  if (path.startsWith('workspace.data')) return '…';
  return valuesFor(path, condition)(event, workspace).map(shown).join(' → ');
}

function valuesFor(path: string, condition: unknown): ValuesOf {
  const isOfEvent = ROOTS.some((root) => path === root || path.startsWith(`${root}.`));
  if (!isOfEvent || isChange(path, condition)) return (event) => changeAt(path, event);
  return path === 'changed' ? (event) => [changedFields(event)] : single(path);
}

function askedBy(where: Conditions): Asked[] {
  return Object.entries(where).flatMap(([path, condition]) => {
    if (path === 'any' && Array.isArray(condition)) return (condition as readonly Conditions[]).flatMap(askedBy);
    const [root = '', ...rest] = path.split('.');
    const isOfField = isChange(path, condition) || !ROOTS.some((one) => one === root);
    if (!isOfField && (rest.length === 0 || (root !== 'before' && root !== 'after'))) return [];
    const field = normal(isOfField ? path : rest.join('.'));
    const asked = isObject(condition) ? Object.entries(condition) : [['becomes', condition] as const];
    return asked.flatMap(([operator, operand]) => {
      const by = ASKED_BY[operator as Operator] ?? 'any';
      // Of a number that rises, `true` says nothing.
      const values = operator === 'rises' || operator === 'falls' ? [0] : ([operand].flat() as Plain[]);
      return operator === 'by' ? [] : [{ field, by, values }];
    });
  });
}

type Operator = keyof ChangeOperators | keyof Comparison;
type ChangeOperators = Record<(typeof CHANGE_OPERATORS)[number], unknown>;

const ASKED_BY: Partial<Record<Operator, Asked['by']>> = {
  ...{ becomes: 'equal', from: 'equal', to: 'equal', contains: 'part', matches: 'part', inNext: 'time', ago: 'time' },
  ...{ rises: 'order', falls: 'order', gt: 'order', gte: 'order', lt: 'order', lte: 'order' },
};

type Condition = NonNullable<Conditions[string]>;

function compileOne(path: string, condition: Condition | null): Predicate {
  if (path === 'any' && Array.isArray(condition)) {
    const alternatives = (condition as readonly Conditions[]).map(compileWhere);
    return (event, workspace) => alternatives.some((holds) => holds(event, workspace));
  }
  const isOfEvent = ROOTS.some((root) => path === root || path.startsWith(`${root}.`));
  if (!isOfEvent || isChange(path, condition)) return compileChange(path, condition as ChangeCondition);
  const valuesOf = path === 'changed' ? changedFields : single(path);
  const holds = compileCondition(condition as Compared, path === 'changed');
  return (event, workspace) => holds(valuesOf(event, workspace), event);
}

type Compared = Plain | readonly Plain[] | Comparison;

/** `changed` has several values: one must match, and none what `not` names. Any other path has one. */
type Values = readonly unknown[];
type ValuesOf = (event: ChangeEvent, workspace: WorkspaceOfEvent) => Values;

const changedFields = ({ data }: ChangeEvent): Values => data.changes.map(({ field }) => normal(field));

function single(path: string): ValuesOf {
  const [root = '', ...rest] = path.split('.');
  const inner = rest.join('.');
  return (event, workspace) => {
    if (root === 'workspace') return [follow(workspace, inner)];
    if (root === 'before' || root === 'after') return [follow(event.data[root], inner)];
    return root === 'data' ? [follow(event.data, inner)] : [valueAtPath(event, path)];
  };
}

function follow(value: unknown, path: string): unknown {
  return path === '' ? value : valueAtPath(value, path);
}

function compileCondition(condition: Compared, patterns: boolean): (values: Values, event: ChangeEvent) => boolean {
  const isOneOf = (operand: Plain | readonly Plain[]) => {
    const all = (Array.isArray(operand) ? operand : [operand]) as readonly Plain[];
    const tests = all.map((one) => (patterns && typeof one === 'string' ? matches(one) : equal(one)));
    const isIt = (value: unknown): boolean => tests.some((test) => test(value));
    return (value: unknown) =>
      isIt(value) || (Array.isArray(value) ? value : [value]).some((one) => isReferred(one, isIt));
  };
  if (typeof condition === 'object' && condition !== null && !Array.isArray(condition)) {
    const { not, ...others } = condition as Comparison;
    const isRefused = not === undefined ? () => false : isOneOf(not);
    const entries = Object.entries(others) as [keyof typeof OPERATORS, Operand | undefined][];
    const tests = entries.flatMap(([operator, operand]) =>
      operand === undefined ? [] : [OPERATORS[operator](operand)],
    );
    const holds = (values: Values, event: ChangeEvent): boolean =>
      !values.some(isRefused) &&
      (tests.length === 0 || values.some((value) => tests.every((test) => test(value, event))));
    return (values, event) => holds(values.length === 0 ? [undefined] : values, event);
  }
  const isWanted = isOneOf(condition as Plain | readonly Plain[]);
  return (values) => values.some(isWanted);
}

type Operand = NonNullable<Comparison[keyof Comparison]> | null;
type Test = (value: unknown, event: ChangeEvent) => boolean;

const matches = (pattern: string) => {
  const fits = compilePattern(normal(pattern));
  return (value: unknown) => typeof value === 'string' && fits(normal(value));
};

/** The same instant may be written otherwise: two times are compared as times. */
function compare(operand: Operand, holds: (order: number) => boolean): Test {
  const wanted = timeIn(operand);
  return (value) => {
    if (typeof value === 'number' && typeof operand === 'number') return holds(value - operand);
    if (typeof value !== 'string' || typeof operand !== 'string') return false;
    const at = wanted === null ? null : timeIn(value);
    if (at !== null && wanted !== null) return holds(at - wanted);
    return holds(value < operand ? -1 : Number(value > operand));
  };
}

const timeIn = (value: unknown): number | null => (typeof value === 'string' ? readTime(value, 'UTC') : null);

/** From the moment at which the change was seen, which stays the same however late the event is handled or tried. */
function fromNow(operand: Operand, holds: (inMs: number, spanMs: number) => boolean): Test {
  const spanMs = parseDuration(String(operand)) ?? 0;
  return (value, { data: { observedAt } }) => {
    const at = timeIn(value);
    return at !== null && holds(at - Date.parse(observedAt), spanMs);
  };
}

const OPERATORS: Readonly<Record<Exclude<keyof Comparison, 'not'>, (operand: Operand) => Test>> = {
  gt: (operand) => compare(operand, (order) => order > 0),
  gte: (operand) => compare(operand, (order) => order >= 0),
  lt: (operand) => compare(operand, (order) => order < 0),
  lte: (operand) => compare(operand, (order) => order <= 0),
  contains(operand) {
    const same = equal(operand as Plain);
    return (value) => {
      if (Array.isArray(value)) return value.some(same);
      return typeof value === 'string' && typeof operand === 'string' && normal(value).includes(normal(operand));
    };
  },
  matches: (operand) => matches(String(operand)),
  exists: (operand) => (value) => (value !== undefined && value !== null) === operand,
  inNext: (operand) => fromNow(operand, (inMs, spanMs) => inMs >= 0 && inMs <= spanMs),
  ago: (operand) => fromNow(operand, (inMs, spanMs) => -inMs >= spanMs),
};
