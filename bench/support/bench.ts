/** What every benchmark is made of: its flags, its goals, and the JSON object that it prints as the last line. */
import { parseArgs } from 'node:util';

export interface Flags {
  /** Records of the list; a benchmark with several sizes takes several. */
  records: readonly number[];
  /** Rounds in which all contestants run once each. */
  turns: number;
  /** Sweeps before the first turn. */
  warmUp: number;
  /** A file for the result, besides standard output. */
  out: string | undefined;
  /** Further arguments of a single benchmark. */
  more: Readonly<Record<string, string>>;
}

export interface Goal {
  readonly text: string;
  readonly isMet: (ratio: number) => boolean;
}

export const atMost = (limit: number): Goal => ({ text: `<= ${limit}`, isMet: (ratio) => ratio <= limit });
export const atLeast = (limit: number): Goal => ({ text: `>= ${limit}`, isMet: (ratio) => ratio >= limit });

export interface Measured {
  /** The median of ours, in the unit. */
  median: number;
  unit: string;
  /** Ratios by the name of what ours is compared with. */
  ratios: Readonly<Record<string, number>>;
  /** Goals for some of the ratios; the others are information. */
  goals: Readonly<Record<string, Goal>>;
  /** Anything else that a reader needs to understand the numbers. */
  facts: Readonly<Record<string, unknown>>;
}

export interface Bench {
  readonly name: string;
  readonly does: string;
  readonly records: readonly number[];
  readonly run: (flags: Flags) => Promise<Measured>;
}

export interface Result {
  bench: string;
  median: number;
  unit: string;
  ratios: Readonly<Record<string, number>>;
  goal: Readonly<Record<string, string>>;
  met: boolean;
  [fact: string]: unknown;
}

export function resultOf(bench: string, { median, unit, ratios, goals, facts }: Measured): Result {
  const goal = Object.fromEntries(Object.entries(goals).map(([name, { text }]) => [name, text]));
  const met = Object.entries(goals).every(([name, { isMet }]) => isMet(ratios[name] ?? Number.NaN));
  return { bench, median, unit, ratios, goal, met, ...facts, node: process.version };
}

const NUMBERS = /^\d+(,\d+)*$/;

/** @throws Error with one sentence for a person */
export function parseFlags(args: readonly string[], defaults: { records: readonly number[] }): Flags {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: true,
    options: {
      records: { type: 'string' },
      turns: { type: 'string', default: '5' },
      'warm-up': { type: 'string', default: '3' },
      out: { type: 'string' },
      with: { type: 'string', multiple: true, default: [] },
    },
  });
  if (positionals.length > 0) throw new Error(`Unexpected argument "${positionals.join(' ')}".`);
  return {
    records: values.records === undefined ? defaults.records : numbersIn('--records', values.records),
    turns: numberIn('--turns', values.turns),
    warmUp: numberIn('--warm-up', values['warm-up']),
    out: values.out,
    more: Object.fromEntries(values.with.map(pairIn)),
  };
}

function numbersIn(flag: string, text: string): number[] {
  if (!NUMBERS.test(text)) throw new Error(`${flag} takes a number, or several with commas; found "${text}".`);
  return text.split(',').map(Number);
}

function numberIn(flag: string, text: string): number {
  const [number, ...rest] = numbersIn(flag, text);
  if (number === undefined || rest.length > 0) throw new Error(`${flag} takes one number; found "${text}".`);
  return number;
}

function pairIn(text: string): [string, string] {
  const [name = '', value] = text.split('=');
  if (value === undefined) throw new Error(`--with takes name=value; found "${text}".`);
  return [name, value];
}
