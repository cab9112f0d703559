/** Two configurations compared, but for their subscriptions and derive functions. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from './schema.js';

export type Section = Exclude<keyof Config, 'subscriptions' | 'derive'>;

const SECTIONS = ['workspaces', 'redis', 'serve', 'log', 'deadLetters'] as const satisfies readonly Section[];

export function sectionsThatDiffer(before: Config, after: Config): Section[] {
  return SECTIONS.filter((section) => !isDeepStrictEqual(before[section], after[section]));
}
