/** The problems of a configuration, as data. They are collected: a person corrects all of them at once. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ChangefeedError } from '../errors.js';

export type Path = readonly PropertyKey[];

export interface ConfigProblem {
  /** Begins at the configuration, or at the argument of a call in code. */
  readonly path: Path;
  /** The owner of the option: `webhook "ops"`. */
  readonly owner?: string | undefined;
  /** Says what was found and what is allowed, without a full stop. */
  readonly problem: string;
  /** Says what to do about it, in sentences. */
  readonly suggestion?: string | undefined;
  readonly variable?: string | undefined;
}

export function sentenceOf({ path, owner = '', problem, suggestion }: ConfigProblem): string {
  const subject = [pathText(path), owner].filter((part) => part !== '').join(' of ');
  const sentence = `${subject === '' ? '' : `${subject}: `}${problem}.`;
  return suggestion === undefined ? sentence : `${sentence} ${suggestion}`;
}

/** `workspaces[0].lists.people.interval` */
export function pathText(path: Path): string {
  const steps = path.map((step, index) => {
    if (typeof step === 'number') return `[${step}]`;
    if (index === 0 || /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(String(step))) return `.${String(step)}`;
    return `[${JSON.stringify(step)}]`;
  });
  return steps.join('').replace(/^\./, '');
}

export function optionsError(problems: readonly ConfigProblem[]): ChangefeedError {
  const [first = { path: [], problem: 'the options cannot be used' }] = problems;
  const others = problems.length <= 1 ? '' : ` (${problems.length - 1} more after this one.)`;
  return new ChangefeedError('CF_CONFIG_INVALID', { message: `${sentenceOf(first)}${others}`, problems });
}

/** The problems of `optionsError`; any other error is one problem. */
export function problemsIn({ message, facts: { problems } }: ChangefeedError): readonly ConfigProblem[] {
  return Array.isArray(problems) ? (problems as ConfigProblem[]) : [{ path: [], problem: message.replace(/\.$/, '') }];
}

export interface CollectedProblem extends ConfigProblem {
  readonly stack: string;
}

const collections = new AsyncLocalStorage<CollectedProblem[]>();

/** Runs `evaluate`, and returns the problems of the calls that it made as well. */
export async function whileCollecting<T>(
  evaluate: () => Promise<T>,
): Promise<{ value: T; problems: readonly CollectedProblem[] }> {
  const problems: CollectedProblem[] = [];
  const value = await collections.run(problems, evaluate);
  return { value, problems };
}

/** @returns false when nothing collects problems: then the caller throws */
export function collectProblems(newProblems: readonly ConfigProblem[]): boolean {
  const problems = collections.getStore();
  if (problems === undefined) return false;
  const { stack = '' } = new Error();
  problems.push(...newProblems.map((problem) => ({ ...problem, stack })));
  return true;
}
