/** Checks a workspace that comes at run time, as those of the configuration are checked. */
import { problemsOf } from '../kit/schema/explain.js';
import type { ConfigProblem } from '../kit/schema/problem.js';
import { listsOf } from './lists.js';
import { linkProblems } from './parse.js';
import { configError } from './report.js';
import { workspace, type WorkspaceConfig } from './workspace-options.js';

/**
 * @param others the lists of all workspaces must agree, because a subscription reads several
 * @throws ChangefeedError CF_CONFIG_INVALID
 */
export function parseWorkspace(
  raw: { readonly name: string; readonly [option: string]: unknown },
  others: readonly WorkspaceConfig[],
): WorkspaceConfig {
  const source = `The workspace "${raw.name}"`;
  const result = workspace.safeParse(raw);
  const refuse = (found: readonly ConfigProblem[]) => configError(source, found);
  if (!result.success)
    throw refuse(result.error.issues.flatMap((issue) => problemsOf(issue, { schema: workspace, raw })));
  const problems = [...disagreements(result.data, others), ...linkProblems(result.data, ['links'])];
  if (problems.length > 0) throw refuse(problems);
  return result.data;
}

function disagreements({ lists }: WorkspaceConfig, others: readonly WorkspaceConfig[]): ConfigProblem[] {
  const known = listsOf(others).all;
  return Object.values(lists).flatMap(({ descriptor: { name, object } }) => {
    const other = known.find((one) => (one.name === name) !== (one.object === object));
    if (other === undefined) return [];
    const problem = `found "${object}", and another workspace has "${other.object}" as the object of the list "${other.name}"; allowed: the same name and object in every workspace`;
    return [{ path: ['lists', name, 'object'], problem }];
  });
}
