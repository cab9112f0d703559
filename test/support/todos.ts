/** Todos with documented field names, with those of real answers (`wild`), and with both. */
import type { UncheckedRecord } from '../../src/crm/record.js';

export interface Said {
  done?: boolean;
  due?: string | null;
  owner?: object | null;
  team?: readonly object[];
  createdAt?: string;
  doneAt?: string | null;
  stamp?: string;
}
export type Spelling = (id: string, said?: Said) => UncheckedRecord;

export const DONE_AT = '2026-03-03T01:15:00.000Z';

const shared = ({ done = false, owner = null, team = [], createdAt, stamp }: Said): object => ({
  완료: done,
  담당자: owner,
  팀: team,
  ...(createdAt === undefined ? {} : { '생성 날짜': createdAt }),
  ...(stamp === undefined ? {} : { '수정 날짜': stamp }),
});
const doneAtOf = ({ done = false, doneAt = DONE_AT }: Said): string | null => (done ? doneAt : null);

export const written: Spelling = (id, said = {}) => ({
  id,
  내용: '전화하기',
  '마지막 날짜': said.due ?? null,
  '완료 날짜': doneAtOf(said),
  ...shared(said),
});
export const wild: Spelling = (id, said = {}) => ({
  id,
  제목: '전화하기',
  종료일: said.due ?? null,
  완료일: doneAtOf(said),
  ...shared(said),
});
export const both: Spelling = (id, said) => ({ ...written(id, said), ...wild(id, said) });

export const SPELLINGS = [
  ['as written', written],
  ['as seen in the wild', wild],
  ['in both spellings at once', both],
] as const;
