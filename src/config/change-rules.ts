/**
 * Writes the file of rules: whole, and only over the text that a person has seen. One process saves at a time: it holds the lock, a file beside that
 * of the rules. Nothing that others may have put into the folder is followed.
 */
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { ChangefeedError, messageOf } from '../kit/errors.js';
import { problemsText } from './report.js';
import { MOST_RULES, RULE_OPTIONS, rulesOf, type RuleData } from './rules.js';
import { withLock, type Held } from './rules-lock.js';
import type { Config } from './schema.js';

/** `changed`: the file has another revision now. */
export type ChangedRules = { outcome: 'saved' } | { outcome: 'changed' } | { outcome: 'refused'; why: string };

type Change = (rules: readonly RuleData[]) => readonly RuleData[];

export async function changeRules(config: Config, revision: string, change: Change): Promise<ChangedRules> {
  if (config.rules === null) return { outcome: 'refused', why: 'The configuration names no file of rules.' };
  const { path, source } = config.rules;
  try {
    const changed = await withLock(path, (held) => changeFile(config, { path, source, revision, change, held }));
    return changed ?? { outcome: 'refused', why: `Nothing was saved, as others are saving ${source} all the time.` };
  } catch (error) {
    if (error instanceof ChangefeedError) throw error;
    return { outcome: 'refused', why: `Nothing was saved, as ${source} cannot be written: ${messageOf(error)}.` };
  }
}

interface ChangeCall {
  path: string;
  source: string;
  revision: string;
  change: Change;
  held: Held;
}

function changeFile(config: Config, { path, source, revision, change, held }: ChangeCall): ChangedRules {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    const why = `Nothing was saved, as ${source} is a symbolic link: set rules to the file itself.`;
    return { outcome: 'refused', why };
  }
  const { file, rules, problems } = rulesOf(config);
  if (problems.length > 0) {
    const why = `Nothing was saved, as the file is not valid: ${problemsText(source, problems)}`;
    return { outcome: 'refused', why };
  }
  if (file?.revision !== revision) return { outcome: 'changed' };
  const changed = change(rules.map(({ data }) => data));
  if (changed.length > MOST_RULES) return { outcome: 'refused', why: `There are ${MOST_RULES} rules already.` };
  return { outcome: replaceFile(path, `${JSON.stringify({ rules: changed.map(inOrder) }, null, 2)}\n`, held) };
}

/** The options in the same order in each rule, so that two versions can be compared. */
function inOrder(rule: RuleData): object {
  return Object.fromEntries(RULE_OPTIONS.flatMap((option) => (option in rule ? [[option, rule[option]]] : [])));
}

function replaceFile(path: string, text: string, held: Held): 'saved' | 'changed' {
  const next = `${path}.next`;
  // Of a process that was killed, or a link: the link itself goes.
  rmSync(next, { force: true });
  const file = openSync(next, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  // This process was suspended for so long that another one has saved.
  if (!held()) return 'changed';
  renameSync(next, path);
  return 'saved';
}
