/** `written` fields are in section 2 of the interface; `seen` fields are known from real answers. */
import type { BuiltInList } from './lists/lists.js';

/** `any`: the interface does not show the type of a value that is not null. */
export type FieldType = 'string' | 'integer' | 'boolean' | 'timestamp' | 'ref' | 'refs' | 'any';

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly from: 'written' | 'seen';
}

type Row = readonly [name: string, type: FieldType];
const written = (rows: readonly Row[]): readonly Field[] =>
  rows.map(([name, type]) => ({ name, type, from: 'written' }));
const seen = (rows: readonly Row[]): readonly Field[] => rows.map(([name, type]) => ({ name, type, from: 'seen' }));

const PERSON: readonly Row[] = [
  ['id', 'string'],
  ['organizationId', 'string'],
  ['이름', 'string'],
  ['이메일', 'string'],
  ['전화', 'string'],
  ['포지션', 'string'],
  ['프로필 사진', 'string'],
  ['링크드인', 'string'],
  ['리드 개수', 'integer'],
  ['딜 개수', 'integer'],
  ['진행중 딜 개수', 'integer'],
  ['성사된 딜 개수', 'integer'],
  ['실패된 딜 개수', 'integer'],
  ['최근 작성된 노트', 'string'],
  ['최근 노트 작성일', 'timestamp'],
  ['최근 노트 작성자', 'ref'],
  ['최근 제출된 웹폼', 'ref'],
  ['최근 웹폼 제출 날짜', 'timestamp'],
  ['최근 등록한 시퀀스', 'ref'],
  ['최근 시퀀스 등록일', 'timestamp'],
  ['누적 시퀀스 등록수', 'integer'],
  ['현재 진행중인 시퀀스 여부', 'boolean'],
  ['수신 거부 여부', 'boolean'],
  ['수신 거부 사유', 'any'],
  ['담당자', 'ref'],
  ['생성 날짜', 'timestamp'],
  ['팀', 'refs'],
  ['수정 날짜', 'timestamp'],
  ['다음 TODO', 'string'],
  ['전체 TODO', 'integer'],
  ['완료 TODO', 'integer'],
  ['미완료 TODO', 'integer'],
  ['제출된 웹폼 목록', 'refs'],
  ['등록된 시퀀스 목록', 'refs'],
];

/** Section 2.2: fields of a person that an organization does not have. */
const PERSON_ONLY: ReadonlySet<string> = new Set([
  'organizationId',
  '포지션',
  '최근 등록한 시퀀스',
  '최근 시퀀스 등록일',
  '누적 시퀀스 등록수',
  '현재 진행중인 시퀀스 여부',
  '수신 거부 여부',
  '수신 거부 사유',
]);

const MEMO: readonly Row[] = [
  ['id', 'string'],
  ['text', 'string'],
  ['dealId', 'string'],
  ['peopleId', 'string'],
  ['organizationId', 'string'],
  ['productId', 'string'],
  ['quoteId', 'string'],
  ['todoId', 'string'],
  ['parentId', 'string'],
  ['ownerId', 'string'],
  ['updatedAt', 'timestamp'],
  ['createdAt', 'timestamp'],
];

const TODO: readonly Row[] = [
  ['id', 'string'],
  ['dealId', 'string'],
  ['peopleId', 'string'],
  ['organizationId', 'string'],
  ['내용', 'string'],
  ['유형', 'string'],
  ['시작 날짜', 'timestamp'],
  ['마지막 날짜', 'timestamp'],
  ['완료', 'boolean'],
  ['완료 날짜', 'timestamp'],
  ['담당자', 'ref'],
  ['팀', 'refs'],
  ['생성 날짜', 'timestamp'],
  ['수정 날짜', 'timestamp'],
];

const HISTORY: readonly Row[] = [
  ['id', 'string'],
  ['dealId', 'string'],
  ['leadId', 'string'],
  ['type', 'string'],
  ['source', 'any'],
  ['people', 'any'],
  ['organization', 'any'],
  ['fieldName', 'string'],
  ['fieldValue', 'any'],
  ['ownerId', 'string'],
  ['createdAt', 'timestamp'],
];

const ACTIVITY: readonly Row[] = [
  ['id', 'string'],
  ['type', 'string'],
  ['date', 'timestamp'],
  ['peopleId', 'string'],
  ['memoId', 'string'],
  ['todoId', 'string'],
  ['emailId', 'string'],
  ['messageId', 'string'],
  ['threadId', 'string'],
  ['smsId', 'string'],
  ['webFormId', 'string'],
  ['webFormName', 'string'],
  ['documentId', 'string'],
  ['documentName', 'string'],
  ['recordingId', 'string'],
];

export const FIELDS: Readonly<Record<BuiltInList, readonly Field[]>> = {
  people: written(PERSON),
  organization: written(PERSON.filter(([name]) => !PERSON_ONLY.has(name))),
  memo: written(MEMO),
  todo: written(TODO),
  history: seen(HISTORY),
  activity: seen(ACTIVITY),
};

export function fieldsOf(list: string): readonly Field[] {
  return (FIELDS as Readonly<Record<string, readonly Field[]>>)[list] ?? [];
}
