/**
 * How a record is sent, independent of its content. `rendered` applies the rules that are the same in every request. `varied`
 * applies those that differ from request to request; a detector must never report them as a change.
 */
import { isFurther, type SandboxListName } from '../world/lists.js';
import type { CrmRecord } from '../../src/crm/record.js';
import { dice, type Dice } from '../world/random.js';
import type { Behaviour } from './behaviour.js';

type RecordFields = Record<string, unknown>;

const STAMPS = ['생성 날짜', '수정 날짜', 'createdAt', 'updatedAt'] as const;
// In real answers, history rows older than this have no `source`.
const SOURCE_SINCE = '2025-07-14';

export const RENDERING_RULES = ['todoNames', 'extras', 'stamps', 'drift', 'historySource'] as const;

export function rendered(list: SandboxListName, record: CrmRecord, rules: Behaviour): CrmRecord {
  let fields: RecordFields = { ...record };
  if (list === 'todo' && rules.todoNames !== 'written') fields = wildTodo(fields, rules.todoNames);
  if (rules.extras) fields = { ...fields, ...extrasOf(list, fields) };
  if (rules.stamps === 'minute') cutToMinute(fields);
  if (rules.stamps === 'still') holdStamp(fields);
  if (rules.drift !== 'none') drift(list, fields, rules.drift);
  if ('source' in fields && rules.historySource === 'older-absent' && String(fields['createdAt']) < SOURCE_SINCE) {
    delete fields['source'];
  }
  return fields as CrmRecord;
}

function wildTodo(todo: RecordFields, names: 'wild' | 'both'): RecordFields {
  const wild: RecordFields = {
    제목: todo['내용'],
    시작일: todo['시작 날짜'],
    종료일: todo['마지막 날짜'],
    완료일: todo['완료 날짜'],
    참석자: [],
  };
  if (names === 'both') return { ...todo, ...wild };
  const { '시작 날짜': _start, '마지막 날짜': _end, '완료 날짜': _done, ...rest } = todo;
  return { ...rest, 내용: null, ...wild };
}

function extrasOf(list: SandboxListName, { id, text }: RecordFields): RecordFields {
  switch (list) {
    case 'people':
      return { RecordId: id, '최근 연락일': null };
    case 'organization':
      return { RecordId: id, '총 매출': 0 };
    case 'memo':
      return { cursorId: id, leadId: null, htmlBody: `<div>${String(text)}</div>`, typeList: [] };
    case 'todo':
      return { RecordId: id, leadId: null, dealLeadId: null };
    case 'history':
      return { leadId: null };
    default:
      return {};
  }
}

/** The fields that the switch `extras` adds. They are derived from other fields or constant, so they need no comparison. */
export const EXTRA_FIELDS: readonly string[] = (['people', 'organization', 'memo', 'todo', 'history'] as const).flatMap(
  (list) => Object.keys(extrasOf(list, {})),
);

function cutToMinute(fields: RecordFields): void {
  for (const name of STAMPS) {
    const stamp = fields[name];
    if (typeof stamp === 'string') fields[name] = `${stamp.slice(0, 16)}:00.000Z`;
  }
}

function holdStamp(fields: RecordFields): void {
  if ('수정 날짜' in fields) fields['수정 날짜'] = fields['생성 날짜'];
  if ('updatedAt' in fields) fields['updatedAt'] = fields['createdAt'];
}

/** The field of each list that the switch `drift` removes or changes. */
const DRIFTING: Readonly<Record<string, string>> = {
  people: '포지션',
  organization: '링크드인',
  memo: 'quoteId',
  todo: '유형',
};
/** The same for every further list. */
const DRIFTING_FURTHER = '설명';

/** Fields that can appear, disappear or change their type on all records at once. */
export const DRIFT_FIELDS: readonly string[] = ['recordVersion', ...Object.values(DRIFTING), DRIFTING_FURTHER];

function drift(list: SandboxListName, fields: RecordFields, how: 'added' | 'removed' | 'reshaped'): void {
  const name = isFurther(list) ? DRIFTING_FURTHER : DRIFTING[list];
  if (name === undefined) return;
  if (how === 'added') fields['recordVersion'] = 1;
  else if (how === 'removed') Reflect.deleteProperty(fields, name);
  else fields[name] = [fields[name]];
}

export function varies({ empties, sequence, pictures }: Behaviour): boolean {
  return empties === 'mixed' || sequence === 'reordered' || pictures === 'signed';
}

/** @param request a number that is different for every record and request */
export function varied(record: CrmRecord, rules: Behaviour, seed: number, request: number): CrmRecord {
  const roll = dice(seed, 0xd1e5, request);
  let fields: RecordFields = { ...record };
  if (rules.empties === 'mixed') fields = withoutNulls(fields, () => roll.chance(0.5));
  if (rules.pictures === 'signed') signPicture(fields, roll);
  if (rules.sequence === 'reordered') fields = reordered(fields, roll);
  return fields as CrmRecord;
}

export function withoutNulls(fields: Readonly<RecordFields>, drops: () => boolean): RecordFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null || !drops()));
}

function signPicture(fields: RecordFields, roll: Dice): void {
  const picture = fields['프로필 사진'];
  if (typeof picture === 'string')
    fields['프로필 사진'] = `${picture}?X-Signature=${roll.below(1e9).toString(36)}&X-Expires=600`;
}

/** Keys and arrays of references in another order. `id` stays first, as in all real answers. */
function reordered({ id, ...fields }: RecordFields, roll: Dice): RecordFields {
  const entries = Object.entries(fields).map(
    ([name, value]) => [name, isRefs(value) ? rotated(value, roll) : value] as const,
  );
  return { id, ...Object.fromEntries(rotated(entries, roll)) };
}

function isRefs(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && 'id' in each);
}

function rotated<T>(values: readonly T[], roll: Dice): T[] {
  const at = roll.below(Math.max(1, values.length));
  return [...values.slice(at), ...values.slice(0, at)];
}
