/**
 * Values that mean the same have the same canonical form. It ignores key order, null against absent, the order in a set
 * of references or options, Unicode composition of keys, and in texts how an instant is written and a link is signed. Values are
 * never converted. The judge of the sandbox has an equality of its own, so that a mistake here is noticed.
 */
import stringify from 'fast-json-stable-stringify';
import { hash } from 'node:crypto';
import { writtenName } from './lists/descriptor.js';
import { descriptorOf, type ListRef } from './lists/lists.js';

/** How values are compared. */
interface Form {
  /** Null, absent and an empty list mean the same. */
  readonly nullIsAbsent: boolean;
  /** Texts are compared as they are written. @defaultValue false */
  readonly asWritten?: boolean;
  /** Labels of references are left out. @defaultValue false */
  readonly withoutLabels?: boolean;
}

export interface Comparison extends Form {
  readonly list: ListRef;
  /** Whether a field is compared, by its name in the interface, under NFC. */
  readonly compares: (field: string) => boolean;
}

type AnyRecord = Readonly<Record<string, unknown>>;

interface NamesToRead {
  /** @defaultValue all names of the record */
  names?: readonly string[];
  /** The record that it is compared with. */
  other?: AnyRecord;
}

/** The names of the compared fields as the record spells them, by the names under which they are compared. */
export function comparedFields(
  record: AnyRecord,
  comparison: Comparison,
  { names = Object.keys(record), other = record }: NamesToRead = {},
): Map<string, string> {
  const { list, nullIsAbsent, compares } = comparison;
  const descriptor = descriptorOf(list);
  const fields = new Map<string, string>();
  for (const name of names) {
    if (nullIsAbsent && isAbsent(record[name])) continue;
    const composed = name.normalize('NFC');
    const written = writtenName(descriptor, composed, record);
    if (!compares(written)) continue;
    const isOwn = isTwin(name, composed, record, comparison) || isTwin(name, composed, other, comparison);
    fields.set(isOwn ? name : written, name);
  }
  return fields;
}

/** Both Unicode forms of a name are one, but where an object has a value under each: then each is a name of its own. */
export function isTwin(name: string, composed: string, object: object, { nullIsAbsent }: Form): boolean {
  if (name === composed) return false;
  const has = (key: string): boolean =>
    Object.hasOwn(object, key) && !(nullIsAbsent && isAbsent((object as AnyRecord)[key]));
  return has(composed) && has(name);
}

/** One field that differs. */
export interface FieldChange {
  /** The name of the field. */
  readonly field: string;
  /** Its value before the change; null where it was absent or null, and where no image is stored. */
  readonly before: unknown;
  /** Its value after the change; null where it is absent or null. */
  readonly after: unknown;
}

/** The fields that differ between two records, sorted by name, with the values as the records hold them. */
export function diffRecords(before: AnyRecord, after: AnyRecord, comparison: Comparison): FieldChange[] {
  const names = differingNames(before, after);
  const old = comparedFields(before, comparison, { names: names.one, other: after });
  const now = comparedFields(after, comparison, { names: names.other, other: before });
  const keys = [...new Set([...old.keys(), ...now.keys()])].sort();
  return keys.flatMap((key) => {
    const [was, is] = [old.get(key), now.get(key)];
    const [from, to] = [was === undefined ? null : before[was], is === undefined ? null : after[is]];
    if (was !== undefined && is !== undefined && textOf(from, comparison) === textOf(to, comparison)) return [];
    return [{ field: is ?? was ?? key, before: from ?? null, after: to ?? null }];
  });
}

/** All names where the records have other names: of two that are one, which is read depends on all. */
export function differingNames(one: AnyRecord, other: AnyRecord): { one: string[]; other: string[] } {
  const [ones, others] = [Object.keys(one), Object.keys(other)];
  if (ones.length !== others.length || !ones.every((name) => Object.hasOwn(other, name)))
    return { one: ones, other: others };
  const names = ones.filter((name) => !isSameValue(one[name], other[name]));
  return { one: names, other: names };
}

function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The canonical text of a single value; null for null, absent and an empty list. */
export function meaningOf(value: unknown): string | null {
  return isAbsent(value) ? null : textOf(value, { nullIsAbsent: true });
}

/**
 * The members that a reference shows of its target. They change there, with all references at once. Other members under the
 * same id may be the record's own values, such as `value` of the answers to a form.
 */
const LABELS: ReadonlySet<string> = new Set(['name', 'label', 'color']);

/** Whether only labels of references have changed: nobody has edited this record. */
export function isRelabelled({ before, after }: { before: unknown; after: unknown }): boolean {
  const form = { nullIsAbsent: true, withoutLabels: true };
  const isSame = textOf(before, form) === textOf(after, form);
  return isSame && meaningOf(before) !== meaningOf(after);
}

/** The canonical text as a history shows a value: references are equal when their ids are, because its names are those of that time. */
export function meaningInHistory(value: unknown): string | null {
  return meaningOf(withoutNames(value));
}

function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames);
  if (!isReference(value)) return value;
  const { id, _id } = value as { id?: unknown; _id?: unknown };
  return { id: id ?? _id };
}

/** A number beyond the range of JavaScript (`1e400`) is read as infinite, and is null in stored JSON. */
function isAbsent(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) === Infinity;
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Equal texts are equal values. */
function textOf(value: unknown, form: Form): string {
  return stringify(canonicalOf(value, form));
}

function canonicalOf(value: unknown, form: Form): unknown {
  if (typeof value === 'string') return form.asWritten === true ? value : meaningOfText(value);
  if (value === undefined) return null;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return canonicalItems(value, form);
  const isReferring = form.withoutLabels === true && isReference(value);
  const members: [name: string, value: unknown][] = [];
  for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
    if ((form.nullIsAbsent && isAbsent(inner)) || (isReferring && LABELS.has(key))) continue;
    const composed = key.normalize('NFC');
    members.push([isTwin(key, composed, value, form) ? key : composed, canonicalOf(inner, form)]);
  }
  return Object.fromEntries(members);
}

/** References are a set, and so are texts: the options of a choice. Other lists keep their order. */
function canonicalItems(items: readonly unknown[], form: Form): readonly unknown[] {
  const canonical = items.map((item) => (form.nullIsAbsent && isAbsent(item) ? null : canonicalOf(item, form)));
  if (canonical.length < 2 || !isSet(items)) return canonical;
  const texts = canonical.map((item) => ({ item, text: stringify(item) }));
  return texts.sort((one, other) => (one.text < other.text ? -1 : 1)).map(({ item }) => item);
}

function isSet(items: readonly unknown[]): boolean {
  return items.every(isReference) || items.every((item) => typeof item === 'string');
}

/** References carry `id`; history entries spell it `_id`. */
export function isReference(item: unknown): boolean {
  if (item === null || typeof item !== 'object') return false;
  const { id, _id } = item as { id?: unknown; _id?: unknown };
  return typeof id === 'string' || typeof _id === 'string';
}

export function canonicalText(record: AnyRecord, comparison: Comparison): string {
  const fields = [...comparedFields(record, comparison)];
  return stringify(Object.fromEntries(fields.map(([key, name]) => [key, canonicalOf(record[name], comparison)])));
}

/** 128 bits of SHA-256 as 22 characters. Enough, because a digest is only compared with one earlier digest. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** 66 bits as 11 characters, for the content of a record. */
export function shortDigest(text: string): string {
  return digestOf(text).slice(0, 11);
}

// The meaning of a text whatever its spelling: a time is its instant, and a link leads to the same file however it is signed.

/** A time has a zone: otherwise it is no instant. */
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:(Z)|([+-]\d\d):?(\d\d)?)$/iu;

/** A text of the same form for all texts that mean the same. Any other text is its own form. */
export function meaningOfText(text: string): string {
  // Most texts are no times, and are known as such by one character.
  const time = text[4] === '-' ? TIME.exec(text) : null;
  if (time !== null) return instantOf(text, time);
  return text.includes('?') ? text.replace(LINK_QUERY, withoutSignature) : text;
}

/** UTC, with as many digits as the text has: two times within one millisecond are two times. */
function instantOf(text: string, [, day, minute, second = '00', fraction = '', utc, hours, minutes]: string[]): string {
  let at = `${day ?? ''}T${minute ?? ''}:${second}`;
  if (utc === undefined) {
    // A day that does not exist, such as 30 February, has no instant, though the platform makes one.
    const local = new Date(`${at}Z`);
    const moved = new Date(`${at}${hours ?? ''}:${minutes ?? '00'}`);
    if (Number.isNaN(moved.getTime()) || !local.toISOString().startsWith(at)) return text;
    at = moved.toISOString().replace(/\.\d+Z$/u, '');
  }
  const digits = fraction.replace(/0+$/u, '');
  return `${at}${digits === '' ? '' : `.${digits}`}Z`;
}

/** The query of a link from its question mark to its end, also inside text and HTML. */
const LINK_QUERY = /\?[^\s"'<>]+/gu;
/** One parameter. What cannot stand in a value unescaped, such as a bracket, belongs to the text behind the link. */
const PARAMETER = /([?&])(?:amp;)?([\w-]+)=[\w.~%+/=:;,!@$*-]*/gu;

/**
 * Pairs: with a parameter of each kind, a link is signed, and all of both are left out. Alone, `token`, `expires` or
 * `st` may say which file is meant.
 */
const SIGNING = [
  // Amazon, Google, Alibaba; what is compatible with them. Alibaba's `x-oss-process` changes the picture.
  [/^x-(?:amz|goog)-|^x-oss-(?!process)/iu, /^x-(?:amz|goog)-|^x-oss-(?!process)/iu],
  [
    /^q-signature$/iu,
    /^(?:q-(?:sign-algorithm|ak|sign-time|key-time|header-list|url-param-list)|x-cos-security-token)$/iu,
  ],
  // Azure
  [/^sig$/u, /^(?:se|sp|sv|sr|st|si|ss|srt|spr|sip|sdd|ses|sks|skt|ske|skv|skoid|sktid|saoid|suoid|scid)$/u],
  // CloudFront, the older form of Amazon, Google and Alibaba, and links of one's own
  [
    /^(?:x-)?(?:sig|signature|token|hmac)$/iu,
    /^(?:x-)?(?:expires?|expiry|exp|policy|key-pair-id|awsaccesskeyid|googleaccessid|ossaccesskeyid|security-token)$/iu,
  ],
] as const;

function withoutSignature(query: string): string {
  const names = [...query.matchAll(PARAMETER)].map(([, , name = '']) => name);
  const signing = SIGNING.filter((kinds) => kinds.every((kind) => names.some((name) => kind.test(name)))).flat();
  if (signing.length === 0) return query;
  const kept = query.replace(PARAMETER, (parameter, before: string, name: string) => {
    if (!signing.some((kind) => kind.test(name))) return parameter;
    return before === '?' ? before : '';
  });
  return kept.replace(/\?&(?:amp;)?/u, '?').replace(/\?(?![\w%])/u, '');
}
