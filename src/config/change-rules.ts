/** Writes the file of rules: whole, so that a kill leaves the former or the new one, and only over the file that a person has seen. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { messageOf } from '../kit/errors.js';
import { problemsText } from './report.js';
import { MOST_RULES, readRulesFile, RULE_OPTIONS, rulesOf, type RuleData } from './rules.js';
import type { Config } from './schema.js';

/** `changed`: the file has another revision now. */
export type ChangedRules =
  { outcome: 'saved'; revision: string } | { outcome: 'changed' } | { outcome: 'refused'; why: string };

/** Nothing else of this process runs between reading and writing. */
export function changeRules(
  config: Config,
  revision: string,
  change: (rules: readonly RuleData[]) => readonly RuleData[],
): ChangedRules {
  const { file, rules, problems } = rulesOf(config);
  if (file === null) return { outcome: 'refused', why: 'The configuration names no file of rules.' };
  if (file.revision !== revision) return { outcome: 'changed' };
  if (problems.length > 0) {
    const why = `${problemsText(file.source, problems)} Correct the file first. Nothing was saved.`;
    return { outcome: 'refused', why };
  }
  const changed = change(rules.map(({ data }) => data)).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  if (changed.length > MOST_RULES) return { outcome: 'refused', why: `There are ${MOST_RULES} rules already.` };
  try {
    replaceFile(file.path, `${JSON.stringify({ rules: changed.map(inOrder) }, null, 2)}\n`);
  } catch (error) {
    const why = `${file.source} cannot be written (${messageOf(error)}). Nothing was saved.`;
    return { outcome: 'refused', why };
  }
  return { outcome: 'saved', revision: readRulesFile(file.path, file.source).revision };
}

/** The options in the same order in each rule, so that two versions can be compared. */
function inOrder(rule: RuleData): object {
  return Object.fromEntries(RULE_OPTIONS.flatMap((option) => (option in rule ? [[option, rule[option]]] : [])));
}

function replaceFile(given: string, text: string): void {
  // What a link leads to is replaced, not the link.
  const path = existsSync(given) ? realpathSync(given) : given;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', existsSync(path) ? statSync(path).mode : undefined);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
