/** Conditions as data, in the forms that docs/fan-out.md lists. Values are never converted: "3" is not 3. */
import { z } from 'zod';
import type { ChangeEvent } from '../events/types.js';
import { compilePattern } from '../events/pattern.js';
import { valueAtPath } from './field-path.js';

type Plain = string | number | boolean | null;

export type Conditions = Readonly<Record<string, Plain | readonly Plain[] | Comparison>>;
export type Predicate = (event: ChangeEvent) => boolean;

const ROOTS = ['before', 'after', 'data', 'type', 'subject', 'time', 'changed'] as const;
const A_CONDITION =
  'a value, an array of values, or an object of not, gt, gte, lt, lte, contains, matches, exists (before., after. and data. lead to fields)';
const NO_OPERATOR = 'there is no such operator; allowed: not, gt, gte, lt, lte, contains, matches, exists';
const A_WHERE = `conditions such as { "after.<field>": <value> }, or in code a function (event) => boolean`;

const plain = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const ordered = z.union([z.string(), z.number()]);
const comparison = z
  .strictObject(
    {
      not: z.union([plain, z.array(plain)]),
      gt: ordered,
      gte: ordered,
      lt: ordered,
      lte: ordered,
      contains: plain,
      matches: z.string(),
      exists: z.boolean(),
    },
    { error: (issue) => (issue.code === 'unrecognized_keys' ? NO_OPERATOR : A_CONDITION) },
  )
  .partial()
  .refine((value) => Object.keys(value).length > 0);
export type Comparison = z.infer<typeof comparison>;

/** Code or data. Data is checked strictly, because a condition that can never hold would silently select nothing. */
export const whereSchema = z.union(
  [
    z.custom<Predicate>((value) => typeof value === 'function'),
    z.record(
      z.string().refine((path) => ROOTS.some((root) => path === root || path.startsWith(`${root}.`))),
      z.union([plain, z.array(plain), comparison], { error: A_CONDITION }),
    ),
  ],
  { error: A_WHERE },
);

export function compileWhere(where: Predicate | Conditions): Predicate {
  if (typeof where === 'function') return where;
  const tests = Object.entries(where).map(([path, condition]) => {
    const valuesOf = path === 'changed' ? changedFields : single(path);
    const holds = compileCondition(condition, path === 'changed');
    return (event: ChangeEvent) => holds(valuesOf(event));
  });
  return (event) => tests.every((test) => test(event));
}

/** `changed` has several values: one must match, and none what `not` names. Any other path has one. */
type Values = readonly unknown[];

const changedFields = ({ data }: ChangeEvent): Values => data.changes.map(({ field }) => normal(field));

function single(path: string): (event: ChangeEvent) => Values {
  const [root = '', ...rest] = path.split('.');
  const inner = rest.join('.');
  return (event) => {
    if (root === 'before' || root === 'after') return [follow(event.data[root], inner)];
    return root === 'data' ? [follow(event.data, inner)] : [valueAtPath(event, path)];
  };
}

function follow(value: unknown, path: string): unknown {
  return path === '' ? value : valueAtPath(value, path);
}

function compileCondition(condition: Conditions[string], patterns: boolean): (values: Values) => boolean {
  const isOneOf = (operand: Plain | readonly Plain[]): Test => {
    const all = (Array.isArray(operand) ? operand : [operand]) as readonly Plain[];
    const tests = all.map((one) => (patterns && typeof one === 'string' ? matches(one) : equal(one)));
    return (value) => tests.some((test) => test(value));
  };
  if (typeof condition === 'object' && condition !== null && !Array.isArray(condition)) {
    const { not, ...others } = condition as Comparison;
    const isRefused = not === undefined ? () => false : isOneOf(not);
    const entries = Object.entries(others) as [keyof typeof OPERATORS, Operand | undefined][];
    const tests = entries.flatMap(([operator, operand]) =>
      operand === undefined ? [] : [OPERATORS[operator](operand)],
    );
    const holds = (values: Values): boolean =>
      !values.some(isRefused) && (tests.length === 0 || values.some((value) => tests.every((test) => test(value))));
    return (values) => holds(values.length === 0 ? [undefined] : values);
  }
  const isWanted = isOneOf(condition as Plain | readonly Plain[]);
  return (values) => values.some(isWanted);
}

type Operand = NonNullable<Comparison[keyof Comparison]> | null;
type Test = (value: unknown) => boolean;

const equal = (wanted: Plain): Test => {
  if (typeof wanted === 'string') return (value) => typeof value === 'string' && normal(value) === normal(wanted);
  return wanted === null ? (value) => value === null || value === undefined : (value) => value === wanted;
};

const matches = (pattern: string): Test => {
  const fits = compilePattern(normal(pattern));
  return (value) => typeof value === 'string' && fits(normal(value));
};

function compare(operand: Operand, holds: (order: number) => boolean): Test {
  return (value) => {
    if (typeof value === 'number' && typeof operand === 'number') return holds(value - operand);
    if (typeof value !== 'string' || typeof operand !== 'string') return false;
    return holds(value < operand ? -1 : Number(value > operand));
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
};

function normal(text: string): string {
  return text.normalize('NFC');
}
