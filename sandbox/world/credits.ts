/** The rows of history that say what was changed in a record, and who did it: the initial ones, and those that a change writes. */
import { builtInLists } from '../../src/crm/lists/lists.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { BaseContext } from './base-context.js';
import { baseFurther, baseOrganization, basePerson } from './base-records.js';
import { DIRECTORY_SIZES, type Directory } from './directory.js';
import type { Actor, CreditFacts } from './facts.js';
import { CREDITED, type Credited, type CreditList, type SandboxListName } from './lists.js';
import type { RecordChange } from './mutation.js';
import { dice, type Dice } from './random.js';

const STAMPS: readonly string[] = ['id', '생성 날짜', '수정 날짜'];
/** The system itself, which keeps counters, latest notes and the like. */
export const SYSTEM: Actor = { type: 'field', id: null, name: null };

export function baseCredit(list: CreditList, index: number, context: BaseContext): CreditFacts {
  const { directory, sizes } = context;
  const record = CREDITED[list].record;
  // Two rows about the creation of each record.
  const of = Math.floor(index / 2) % Math.max(1, sizes[record] ?? 0);
  const { name, owner } = factsOf(record, of, context);
  const [fieldName, value] = index % 2 === 0 ? ['이름', name] : ['담당자', directory.ref('user', owner)];
  const source = actorOf(context.dice(list, index), directory);
  const createdAt = context.bornAt(list, index);
  return { createdAt, of, type: 'editField', source, fieldName, fieldValue: inHistory(value) };
}

function factsOf(record: Credited, index: number, context: BaseContext): { name: string; owner: number | null } {
  if (record === 'people') return basePerson(index, context);
  return record === 'organization' ? baseOrganization(index, context) : baseFurther(record, index, context);
}

/** Mostly a user; sometimes a program. */
export function actorOf(roll: Dice, directory: Directory): Actor {
  const type = roll.chance(0.8) ? 'user' : roll.pick(['workflow', 'api', 'sequence'] as const);
  const { id, name } = directory.ref(type === 'user' ? 'user' : 'product', roll.below(DIRECTORY_SIZES.product)) ?? {};
  return { type, id: id ?? null, name: name ?? null };
}

/** How a server writes history. `lying`: rows about another record, with a wrong value, or none at all. */
export type Writing = 'true' | 'late' | 'lying' | 'none';

/** One row for each field that changed. */
export function creditsOf(
  { list, index, before, after, id }: Omit<RecordChange, 'direct' | 'previous'>,
  { by, at, writing, another }: { by: Actor; at: number; writing: Writing; another: (roll: Dice) => number },
): CreditFacts[] {
  if (after === null || writing === 'none') return [];
  return changedFields(before, after).flatMap((name, nth) => {
    const told = {
      // The rows of a creation are written one after the other.
      createdAt: before === null ? at + nth * 20 : at,
      of: index,
      type: name === 'organizationId' ? 'editOrganizationConnect' : 'editField',
      source: isKept(list, name) ? SYSTEM : by,
      fieldName: name,
      fieldValue: inHistory(after[name]),
    };
    if (writing !== 'lying') return [told];
    const roll = dice(...Buffer.from(id + name), at);
    const lies = [[], [{ ...told, of: another(roll) }], [{ ...told, fieldValue: '?' }], [told]] as const;
    return lies[roll.below(lies.length)] ?? [];
  });
}

/** The fields of a record that a change has moved; of a new one, those that are filled in. Its timestamps do not count. */
export function changedFields(before: CrmRecord | null, after: CrmRecord): string[] {
  const isChanged = (name: string): boolean =>
    before === null ? after[name] !== null : JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  return Object.keys(after).filter((name) => !STAMPS.includes(name) && isChanged(name));
}

/** Whether the system keeps this field. */
export function isKept(list: SandboxListName, field: string): boolean {
  return builtInLists.byName(list)?.systemKept.includes(field) === true;
}

/** Relations spell their id `_id` in history. */
function inHistory(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inHistory);
  if (typeof value !== 'object' || value === null || !('id' in value)) return value;
  const { id, ...rest } = value;
  return { _id: id, ...rest };
}
