/** One chosen edit: a person of the workspace sets fields of a record, as the names and texts of a form say it. Counters and times of the system cannot be set. */
import { usage } from '../../src/kit/errors.js';
import { didYouMean } from '../../src/kit/schema/did-you-mean.js';
import { customExamples, withFormulas, type CustomKind } from '../world/custom.js';
import { DIRECTORY_SIZES, type Directory, type Ref, type RefKind } from '../world/directory.js';
import type { Actor } from '../world/facts.js';
import { isFurther, type FurtherName, type SandboxListName } from '../world/lists.js';
import type { World } from '../world/world.js';

export type Settable = 'people' | 'organization' | 'memo' | 'todo' | FurtherName;
/** Texts by names of fields; empty: no value. */
export type Texts = Readonly<Record<string, string>>;
type Facts = Readonly<Record<string, unknown>>;
/** Reads what is typed. */
type Read = (text: string, about: { field: string; directory: Directory; at: number }) => unknown;
/** The fact behind a field, and how its text is read. */
type Fields = Readonly<Record<string, readonly [fact: string, read: Read]>>;

const some: Read = (text, { field }) => {
  if (text === '') throw usage(`${field}: it must have a value.`);
  return text;
};
const orNull =
  (read: Read): Read =>
  (text, about) =>
    text === '' ? null : read(text, about);
const text: Read = (given) => given;
const number: Read = (given, { field }) => {
  const found = Number(given.replaceAll(',', ''));
  if (!Number.isFinite(found)) throw usage(`${field}: found "${given}"; allowed: a number such as 12.5.`);
  return found;
};
const yesOrNo: Read = (given, { field }) => {
  if (/^(true|yes|예)$/i.test(given)) return true;
  if (/^(false|no|아니요)$/i.test(given)) return false;
  throw usage(`${field}: found "${given}"; allowed: true, false, 예, 아니요.`);
};
/** A day begins at midnight in Korea. */
const time: Read = (given, { field }) => {
  const ms = Date.parse(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00+09:00` : given);
  if (Number.isNaN(ms)) throw usage(`${field}: found "${given}"; allowed: a day or a time, such as 2026-03-01.`);
  return new Date(ms).toISOString();
};
const instant: Read = (given, about) => Date.parse(String(time(given, about)));
const parts = (given: string): string[] =>
  given
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
const indexOf =
  (kind: RefKind): Read =>
  (given, { field, directory }) => {
    const names = namesOf(kind, directory);
    const index = names.indexOf(given);
    if (index < 0) throw usage(`${field}: found "${given}"; allowed: ${names.join(', ')}${didYouMean(given, names)}.`);
    return index;
  };
const ref =
  (kind: RefKind): Read =>
  (given, about) =>
    about.directory.ref(kind, Number(indexOf(kind)(given, about)));
const each =
  (read: Read): Read =>
  (given, about) =>
    parts(given).map((part) => read(part, about));

const namesOf = (kind: RefKind, directory: Directory): string[] =>
  Array.from({ length: DIRECTORY_SIZES[kind] }, (_, index) => directory.ref(kind, index)?.name ?? '');

const IN_CHARGE: Fields = { 담당자: ['owner', orNull(indexOf('user'))], 팀: ['teams', each(indexOf('team'))] };
const CONTACT: Fields = {
  이름: ['name', some],
  이메일: ['email', orNull(text)],
  전화: ['phone', orNull(text)],
  링크드인: ['linkedin', orNull(text)],
  ...IN_CHARGE,
};
const FURTHER: Fields = {
  이름: ['name', some],
  상태: ['status', some],
  금액: ['amount', orNull(number)],
  설명: ['description', orNull(text)],
  ...IN_CHARGE,
};
const FIELDS: Readonly<Record<string, Fields>> = {
  people: { ...CONTACT, 포지션: ['position', orNull(text)] },
  organization: CONTACT,
  memo: { text: ['text', some] },
  todo: {
    내용: ['content', some],
    유형: ['type', some],
    '시작 날짜': ['startAt', instant],
    '마지막 날짜': ['endAt', instant],
    완료: ['doneAt', (given, about) => (yesOrNo(given, about) === true ? about.at : null)],
    ...IN_CHARGE,
  },
};

/** The fields of a list that can be set. */
function fieldsOf(list: Settable, directory: Directory): { fixed: Fields; custom: Readonly<Record<string, Read>> } {
  const fixed = isFurther(list) ? FURTHER : (FIELDS[list] ?? {});
  if (!hasCustom(list)) return { fixed, custom: {} };
  const typed = Object.entries(customExamples(list, directory)).flatMap(([name, example]) => {
    const read = readerLike(example);
    return read === null ? [] : [[name, read] as const];
  });
  return { fixed, custom: Object.fromEntries(typed) };
}

const hasCustom = (list: string): list is CustomKind => ['people', 'organization', 'todo'].includes(list);

/** Reads texts as the type that the field has. Null: no text can say it, such as a file. */
function readerLike(example: unknown): Read | null {
  if (typeof example === 'number') return orNull(number);
  if (typeof example === 'boolean') return orNull(yesOrNo);
  if (typeof example === 'string') return orNull(/^\d{4}-\d\d-\d\dT/.test(example) ? time : text);
  if (!Array.isArray(example)) return isRef(example) ? orNull(ref('product')) : null;
  const [first] = example as unknown[];
  return typeof first === 'string' ? each(text) : isRef(first) ? each(ref('product')) : null;
}

const isRef = (value: unknown): value is Ref => typeof value === 'object' && value !== null && 'id' in value;

/** @throws ChangefeedError CF_USAGE for a field that cannot be set, or a text that is none of its values */
export function readFields(world: World, list: Settable, given: Texts, at: number): { facts: Facts; custom: Facts } {
  const { directory } = world;
  const { fixed, custom: ofCustom } = fieldsOf(list, directory);
  const names = [...Object.keys(fixed), ...Object.keys(ofCustom)];
  const facts: Record<string, unknown> = {};
  const custom: Record<string, unknown> = {};
  for (const [field, typed] of Object.entries(given)) {
    const about = { field, directory, at };
    const [known, own] = [fixed[field], ofCustom[field]];
    if (known !== undefined) facts[known[0]] = known[1](typed.trim(), about);
    else if (own !== undefined) custom[field] = own(typed.trim(), about);
    else
      throw usage(`${list}: no field "${field}" can be set${didYouMean(field, names)}; allowed: ${names.join(', ')}.`);
  }
  return { facts, custom };
}

/** The custom fields of a record with these values; nothing for a list that has none. */
export function withCustom(world: World, list: SandboxListName, index: number, custom: Facts): Facts {
  if (!hasCustom(list) || Object.keys(custom).length === 0) return {};
  const facts = world.facts(list, index);
  return facts === null ? {} : { custom: withFormulas(list, { ...world.customOf(list, index, facts), ...custom }) };
}

/** Who edits: the person who is named, else who is in charge of the record, else the first. @throws ChangefeedError CF_USAGE */
export function editorOf({ directory }: World, facts: object, by: string | undefined): Actor {
  const { owner = null } = facts as { owner?: number | null };
  const index = by === undefined ? (owner ?? 0) : Number(indexOf('user')(by, { field: 'by', directory, at: 0 }));
  const { id = null, name = null } = directory.ref('user', index) ?? {};
  return { type: 'user', id, name };
}
