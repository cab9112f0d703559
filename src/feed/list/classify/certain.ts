/**
 * A shortcut commits records never stored or newer than stored, and other differences while the list is live. The walk
 * gets the rest, what it may have seen on another page (the next sweep could skip that page by its bytes, and miss that
 * the change was undone), and, while it surveys the list, known records.
 */
import { ageOf } from '../../detect/age.js';
import { modifiedAtOf } from '../../detect/fields.js';
import { isKnownByContent } from '../../detect/identity.js';
import type { Rules } from '../../detect/rules.js';
import { storedModifiedAt } from '../../detect/stored-record.js';
import type { SweepMemory } from '../memory.js';
import type { DifferingRecord } from '../records.js';
import type { Checkpoint } from '../../store/sweep-state.js';

export interface CertainOptions {
  rules: Rules;
  checkpoint: Checkpoint;
  memory: SweepMemory;
  page: number;
  /** Members of the page in the last complete sweep. */
  before: ReadonlySet<string>;
  /** Ids that shortcuts created since the last walk began. */
  created: ReadonlySet<string>;
  isLive: boolean;
}

export function isCertain({ key, record, stored }: DifferingRecord, options: CertainOptions): boolean {
  if (stored === null) return !isRepeatedRow(key);
  const { rules, checkpoint, memory, page, before, created, isLive } = options;
  const isHere = before.has(key) || created.has(key);
  const isElsewhere = (memory.seen.get(key) ?? page) !== page;
  if (stored.gone !== undefined || !isHere || isElsewhere || checkpoint.survey !== undefined) return false;
  const age = ageOf(modifiedAtOf(record, rules.list), storedModifiedAt(stored, rules.list));
  return age === 'newer' || (isLive && age === 'unclear');
}

/** The second of two equal rows without ids. Their number depends on where pages begin. */
function isRepeatedRow(key: string): boolean {
  return isKnownByContent(key) && /-\d+$/u.test(key);
}
