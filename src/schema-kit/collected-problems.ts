/**
 * Problems of a configuration in code. While it runs, they are collected instead of thrown one at a time: a person corrects
 * all of them at once.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ConfigProblem } from './problem.js';

export interface CollectedProblem extends ConfigProblem {
  /** The stack in which it was called. */
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
export function collectProblems(found: readonly ConfigProblem[]): boolean {
  const problems = collections.getStore();
  if (problems === undefined) return false;
  const { stack = '' } = new Error();
  problems.push(...found.map((problem) => ({ ...problem, stack })));
  return true;
}
