/**
 * Writes the file of rules: whole, and only over the file that a person has seen. Each saver writes a draft. Of all that save over the same file,
 * in whatever process, the one that first links its draft by the name of what follows that file has decided: this draft becomes the file.
 * Any of them may move it there, so that a kill holds up nobody.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ChangefeedError, messageOf } from '../kit/errors.js';
import { problemsText } from './report.js';
import { MOST_RULES, RULE_OPTIONS, rulesOf, type RuleData } from './rules.js';
import type { Config } from './schema.js';

/** `changed`: the file has another revision now. */
export type ChangedRules = { outcome: 'saved' | 'changed' } | { outcome: 'refused'; why: string };

export function changeRules(
  config: Config,
  revision: string,
  change: (rules: readonly RuleData[]) => readonly RuleData[],
): ChangedRules {
  if (config.rules === null) return { outcome: 'refused', why: 'The configuration names no file of rules.' };
  const { path, source } = config.rules;
  try {
    // Before it is read: if it is replaced meanwhile, this is no longer the file.
    const seen = seenFile(path);
    const { file, rules, problems } = rulesOf(config);
    if (problems.length > 0) {
      const why = `Nothing was saved, as the file is not valid: ${problemsText(source, problems)}`;
      return { outcome: 'refused', why };
    }
    if (file?.revision !== revision) return { outcome: 'changed' };
    const changed = change(rules.map(({ data }) => data)).toSorted((one, other) => (one.id < other.id ? -1 : 1));
    if (changed.length > MOST_RULES) return { outcome: 'refused', why: `There are ${MOST_RULES} rules already.` };
    const isSaved = replaceFile(seen, `${JSON.stringify({ rules: changed.map(inOrder) }, null, 2)}\n`);
    return { outcome: isSaved ? 'saved' : 'changed' };
  } catch (error) {
    if (error instanceof ChangefeedError) throw error;
    return { outcome: 'refused', why: `Nothing was saved, as ${source} cannot be written: ${messageOf(error)}.` };
  }
}

/** The options in the same order in each rule, so that two versions can be compared. */
function inOrder(rule: RuleData): object {
  return Object.fromEntries(RULE_OPTIONS.flatMap((option) => (option in rule ? [[option, rule[option]]] : [])));
}

interface SeenFile {
  path: string;
  /** Distinguishes it from any other file that has this path, also from one with the same text. */
  instance: string;
  mode: number;
}

function seenFile(given: string): SeenFile {
  if (!existsSync(given)) writeFileSync(given, '', { flag: 'a' });
  // What a link leads to is replaced, not the link.
  const path = realpathSync(given);
  const { ino, mtimeNs, mode } = statSync(path, { bigint: true });
  return { path, instance: `${ino}-${mtimeNs}`, mode: Number(mode) };
}

/** @returns whether the text has become the file */
function replaceFile(seen: SeenFile, text: string): boolean {
  const { path, instance } = seen;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const next = `${path}.after-${instance}`;
  let isFirst = false;
  try {
    writeDraft(draft, text, seen);
    isFirst = unless('EEXIST', () => symlinkSync(basename(draft), next));
    unless('ENOENT', () => {
      const decided = join(dirname(path), readlinkSync(next));
      // A slow saver may have linked its draft after the file had been replaced.
      if (seenFile(path).instance === instance) renameSync(decided, path);
    });
    // A draft that is gone has become the file.
    return !unless('ENOENT', () => unlinkSync(draft));
  } finally {
    if (isFirst) rmSync(next, { force: true });
    rmSync(draft, { force: true });
  }
}

function writeDraft(draft: string, text: string, { mode }: SeenFile): void {
  const file = openSync(draft, 'wx', mode);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** False if the step has failed with this code. */
function unless(code: string, step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
    return false;
  }
}
