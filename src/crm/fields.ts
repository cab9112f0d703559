/** Field names of the interface (section 2) that decide how a field is compared, in both spellings seen in the wild. */
import type { ListName } from '../events/lists.js';

/** Compared without their query part: a rotated signature is no change. */
const PICTURE_FIELDS: ReadonlySet<string> = new Set(['프로필 사진']);

/** Todo fields that real bodies spell otherwise than the interface: other spelling → written name. */
const TODO_SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['시작일', '시작 날짜'],
  ['종료일', '마지막 날짜'],
  ['완료일', '완료 날짜'],
]);

export function isPictureField(field: string): boolean {
  return PICTURE_FIELDS.has(field);
}

/** The written name of a field, where the record does not carry that one as well. */
export function writtenName(list: ListName, field: string, record: object): string {
  const written = list === 'todo' ? TODO_SPELLINGS.get(field) : undefined;
  return written === undefined || written in record ? field : written;
}
