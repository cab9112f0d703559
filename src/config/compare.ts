/** Compares two configurations, except for their subscriptions and derive functions. */
import { isDeepStrictEqual } from 'node:util';
import type { Config, WorkspaceConfig } from './schema.js';

export type Section = Exclude<keyof Config, 'subscriptions' | 'derive'>;

const SECTIONS = ['workspaces', 'redis', 'serve', 'log', 'deadLetters'] as const satisfies readonly Section[];

export function sectionsThatDiffer(before: Config, after: Config): Section[] {
  return SECTIONS.filter((section) => !isDeepStrictEqual(before[section], after[section]));
}

/** The workspaces of both configurations whose options differ, as in the second. */
export function changedWorkspaces(
  before: readonly WorkspaceConfig[],
  after: readonly WorkspaceConfig[],
): WorkspaceConfig[] {
  return after.filter((workspace) => {
    const known = before.find(({ name }) => name === workspace.name);
    return known !== undefined && !isDeepStrictEqual(known, workspace);
  });
}
