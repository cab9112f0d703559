/** Builds records from facts, with the field names and the order of section 2 of the interface. */
import type { CrmRecord } from '../../src/crm/record.js';
import { isoTime } from '../../src/kit/clock.js';
import type { Counts } from './counts.js';
import type { Customised, CustomKind } from './custom.js';
import type { Directory } from './directory.js';
import type { FactsOf, Kind, OrganizationFacts, PersonFacts, Submission } from './facts.js';
import {
  CREDITED,
  DEAL,
  isCreditList,
  isFurther,
  type CreditList,
  type FurtherName,
  type SandboxListName,
} from './lists.js';
import { NO_TODO } from './words.js';

/** The things that a record depends on besides its own facts. */
export interface Surroundings {
  readonly directory: Directory;
  idOf(kind: Kind, index: number): string;
  customOf(kind: CustomKind, index: number, facts: Customised): Readonly<Record<string, unknown>>;
  countsOf(list: 'people' | 'organization', index: number): Counts;
}

type Draw<K extends Kind> = (index: number, facts: FactsOf[K], around: Surroundings) => CrmRecord;

const time = (ms: number | null | undefined): string | null => (ms === null || ms === undefined ? null : isoTime(ms));

function idOrNull(kind: Kind, index: number | null, around: Surroundings): string | null {
  return index === null ? null : around.idOf(kind, index);
}

function contactHead(facts: PersonFacts | OrganizationFacts) {
  return {
    이름: facts.name,
    이메일: facts.email,
    전화: facts.phone,
    ...('position' in facts && { 포지션: facts.position }),
    '프로필 사진': facts.picture,
    링크드인: facts.linkedin,
  };
}

function dealsAndNotes(counts: Counts, submissions: readonly Submission[], { directory }: Surroundings) {
  const { latestMemo } = counts;
  const submitted = submissions.at(-1);
  return {
    '리드 개수': counts.leads,
    '딜 개수': counts.running + counts.won + counts.lost,
    '진행중 딜 개수': counts.running,
    '성사된 딜 개수': counts.won,
    '실패된 딜 개수': counts.lost,
    '최근 작성된 노트': latestMemo?.text ?? null,
    '최근 노트 작성일': time(latestMemo?.createdAt),
    '최근 노트 작성자': directory.ref('user', latestMemo?.owner ?? null),
    '최근 제출된 웹폼': directory.ref('form', submitted?.form ?? null),
    '최근 웹폼 제출 날짜': time(submitted?.at),
  };
}

function contactTail(facts: PersonFacts | OrganizationFacts, counts: Counts, { directory }: Surroundings) {
  return {
    담당자: directory.ref('user', facts.owner),
    '생성 날짜': isoTime(facts.createdAt),
    팀: directory.refs('team', facts.teams),
    '수정 날짜': isoTime(facts.updatedAt),
    '다음 TODO': counts.nextTodo?.content ?? NO_TODO,
    '전체 TODO': counts.todos,
    '완료 TODO': counts.done,
    '미완료 TODO': counts.todos - counts.done,
    '제출된 웹폼 목록': directory.refs('form', distinct(facts.submissions.map(({ form }) => form))),
  };
}

const drawPerson: Draw<'people'> = (index, facts, around) => {
  const counts = around.countsOf('people', index);
  const { directory } = around;
  const { enrolments, refusal } = facts;
  const enrolled = enrolments.at(-1);
  return {
    id: around.idOf('people', index),
    organizationId: idOrNull('organization', facts.organization, around),
    ...contactHead(facts),
    ...dealsAndNotes(counts, facts.submissions, around),
    '최근 등록한 시퀀스': directory.ref('sequence', enrolled?.sequence ?? null),
    '최근 시퀀스 등록일': time(enrolled?.at),
    '누적 시퀀스 등록수': enrolments.length,
    '현재 진행중인 시퀀스 여부': enrolments.some(({ running }) => running),
    '수신 거부 여부': refusal !== null,
    '수신 거부 사유': refusal?.reason ?? null,
    ...contactTail(facts, counts, around),
    '등록된 시퀀스 목록': directory.refs('sequence', distinct(enrolments.map(({ sequence }) => sequence))),
    ...around.customOf('people', index, facts),
  };
};

const drawOrganization: Draw<'organization'> = (index, facts, around) => {
  const counts = around.countsOf('organization', index);
  return {
    id: around.idOf('organization', index),
    ...contactHead(facts),
    ...dealsAndNotes(counts, facts.submissions, around),
    ...contactTail(facts, counts, around),
    '등록된 시퀀스 목록': around.directory.refs('sequence', facts.sequences),
    ...around.customOf('organization', index, facts),
  };
};

const drawMemo: Draw<'memo'> = (index, facts, around) => ({
  id: around.idOf('memo', index),
  text: facts.text,
  dealId: idOrNull('unlistedDeal', facts.deal, around),
  peopleId: idOrNull('people', facts.person, around),
  organizationId: idOrNull('organization', facts.organization, around),
  productId: facts.productId,
  quoteId: facts.quoteId,
  todoId: idOrNull('todo', facts.todo, around),
  parentId: idOrNull('memo', facts.parent, around),
  ownerId: around.directory.ref('user', facts.owner)?.id ?? null,
  updatedAt: isoTime(facts.updatedAt),
  createdAt: isoTime(facts.createdAt),
});

const drawTodo: Draw<'todo'> = (index, facts, around) => ({
  id: around.idOf('todo', index),
  dealId: idOrNull('unlistedDeal', facts.deal, around),
  peopleId: idOrNull('people', facts.person, around),
  organizationId: idOrNull('organization', facts.organization, around),
  내용: facts.content,
  유형: facts.type,
  '시작 날짜': isoTime(facts.startAt),
  '마지막 날짜': isoTime(facts.endAt),
  완료: facts.doneAt !== null,
  '완료 날짜': time(facts.doneAt),
  담당자: around.directory.ref('user', facts.owner),
  팀: around.directory.refs('team', facts.teams),
  '생성 날짜': isoTime(facts.createdAt),
  '수정 날짜': isoTime(facts.updatedAt),
  ...around.customOf('todo', index, facts),
});

const drawHistory: Draw<'history'> = (index, facts, around) => ({
  id: around.idOf('history', index),
  dealId: around.idOf(facts.isListed === true ? DEAL : 'unlistedDeal', facts.deal),
  type: facts.type,
  source: facts.source,
  people: facts.person === null ? null : { _id: around.idOf('people', facts.person) },
  organization: facts.organization === null ? null : { _id: around.idOf('organization', facts.organization) },
  fieldName: facts.fieldName,
  fieldValue: facts.fieldValue,
  ownerId: around.directory.ref('user', facts.owner)?.id ?? null,
  createdAt: isoTime(facts.createdAt),
});

const drawCredit =
  (list: CreditList): Draw<CreditList> =>
  (index, { of, type, source, fieldName, fieldValue, createdAt }, around) => ({
    id: around.idOf(list, index),
    [CREDITED[list].link]: around.idOf(CREDITED[list].record, of),
    type,
    source,
    ...(list === 'lead_history' && { people: null }),
    organization: type === 'editOrganizationConnect' && fieldValue !== null ? { _id: fieldValue } : null,
    fieldName,
    fieldValue,
    ownerId: source.type === 'user' ? source.id : null,
    createdAt: isoTime(createdAt),
  });

const drawActivity: Draw<'activity'> = (index, facts, around) => {
  const { form } = facts;
  return {
    id: around.idOf('activity', index),
    type: facts.type,
    date: isoTime(facts.date),
    peopleId: around.idOf('people', facts.person),
    memoId: idOrNull('memo', facts.memo, around),
    todoId: idOrNull('todo', facts.todo, around),
    emailId: null,
    messageId: null,
    threadId: null,
    smsId: null,
    webFormId: form?.id ?? null,
    webFormName: form?.name ?? null,
    documentId: null,
    documentName: null,
    recordingId: null,
    ...facts.others,
  };
};

const drawFurther =
  (list: FurtherName): Draw<FurtherName> =>
  (index, facts, around) => ({
    id: around.idOf(list, index),
    이름: facts.name,
    상태: facts.status,
    금액: facts.amount,
    설명: facts.description,
    담당자: around.directory.ref('user', facts.owner),
    팀: around.directory.refs('team', facts.teams),
    '생성 날짜': isoTime(facts.createdAt),
    '수정 날짜': isoTime(facts.updatedAt),
  });

const DRAW = {
  people: drawPerson,
  organization: drawOrganization,
  memo: drawMemo,
  todo: drawTodo,
  history: drawHistory,
  activity: drawActivity,
} as const;

/** The function that builds the records of a list. */
export function drawOf<K extends SandboxListName>(list: K): Draw<K> {
  const name: SandboxListName = list;
  if (isCreditList(name)) return drawCredit(name) as Draw<K>;
  return (isFurther(name) ? drawFurther(name) : DRAW[name]) as Draw<K>;
}

function distinct(values: readonly number[]): number[] {
  return [...new Set(values)];
}
