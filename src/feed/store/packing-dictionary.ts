/**
 * The preset dictionary of the record packing. Do not edit it: records packed with it cannot be read with another,
 * which needs another format version. The most frequent texts come last, where references are shortest, and fields have
 * their most frequent value, so that several in a row are one reference.
 */
const FACTS =
  '"content":"","gone":{"at":"2026-01-01T00:00:00.000Z","modifiedAt":"2026-01-01T00:00:00.000Z"},"decisions":[{"at":"2026-01-01T00:00:00.000Z",' +
  '"sweep":"people-","what":"touched","muted","rule":"schema","refreshed","deleted","created","edited","fields":["수정 날짜"],"event":"evt_"}]}';
const VALUE_TYPES =
  '"timestamp to the minute","list of {id, name}","empty list","{id, name}","boolean","number","null","timestamp","string"';
/** Fields of real answers that the interface does not describe. */
const FURTHER_FIELDS =
  ',"emailMessageId":null,"leadId":null,"htmlBody":"<div>","typeList":[],"유형":null,"cursorId":""' +
  ',"RecordId":null,"dealLeadId":null,"제목":"","시작일":"2026-","종료일":"2026-","완료일":null,"참석자":[]' +
  ',"다음 TODO 날짜":null,"총 매출":0,"최근 고객 활동일":null,"최근 연락일":null,"종료된 딜 수":0,"연결된 고객 수":0,"RecordId":"';
const ACTIVITY =
  ',"type":"memoCreate","date":"2026-","peopleId":"","memoId":null,"todoId":null,"emailId":null,"messageId":null,"threadId":null,"smsId":null,' +
  '"webFormId":null,"webFormName":null,"documentId":null,"documentName":null,"recordingId":null';
const HISTORY =
  ',"dealId":"","leadId":null,"type":"editField","source":{"type":"workflow","id":null,"name":null},"people":null,"organization":null,' +
  '"fieldName":"","fieldValue":null,"ownerId":"","createdAt":"2026-';
const MEMO =
  ',"text":"","dealId":null,"peopleId":"","organizationId":"","productId":null,"quoteId":null,"todoId":null,"parentId":null,"ownerId":"",' +
  '"updatedAt":"2026-","createdAt":"2026-';
const TODO =
  ',"dealId":null,"peopleId":"","organizationId":null,"내용":"","유형":"","시작 날짜":"2026-","마지막 날짜":"2026-","완료":true,"완료":false,' +
  '"완료 날짜":null,"담당자":{"id":"","name":""},"팀":[],"생성 날짜":"2026-","수정 날짜":"2026-';
/** The fields of an organization are among them. */
const PERSON =
  ',"organizationId":"","이름":"","이메일":"@gmail.com","전화":"010","포지션":"","프로필 사진":null,"링크드인":null,"리드 개수":0,"딜 개수":0,' +
  '"진행중 딜 개수":0,"성사된 딜 개수":0,"실패된 딜 개수":0,"최근 작성된 노트":"","최근 노트 작성일":"2026-","최근 노트 작성자":{"id":"","name":""},' +
  '"최근 제출된 웹폼":null,"최근 웹폼 제출 날짜":null,"최근 등록한 시퀀스":null,"최근 시퀀스 등록일":null,"누적 시퀀스 등록수":0,' +
  '"현재 진행중인 시퀀스 여부":false,"수신 거부 여부":false,"수신 거부 사유":null,"담당자":{"id":"","name":""},"생성 날짜":"2026-","팀":[],' +
  '"수정 날짜":"2026-","다음 TODO":"없음","전체 TODO":0,"완료 TODO":0,"미완료 TODO":0,"제출된 웹폼 목록":[],"등록된 시퀀스 목록":[]';
const VALUES =
  '"https://www.example.com/.com","+82010-"-4000-8000-","user","api","id":null,"name":null},true,[],false,null,null,0,1,[{"id":"","name":""}],' +
  '{"id":"","name":""},"2026-0:00.000Z","2026-0:00.000Z"}]}';
const BEGINNING = '{}\n{"id":"';

export const DICTIONARY: Buffer = Buffer.from(
  [FACTS, VALUE_TYPES, FURTHER_FIELDS, ACTIVITY, HISTORY, MEMO, TODO, PERSON, VALUES, BEGINNING].join(''),
  'utf8',
);
