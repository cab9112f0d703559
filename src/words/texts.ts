/**
 * The words that chats, digests, the command line and the page share, in English and in Korean. `{name}` is replaced, and
 * `{count|event|events}` is the singular or the plural. The texts of the page alone are in page/texts.ts.
 */
import { ACTION_TEXTS } from './action-texts.js';
import { COMMAND_TEXTS } from './command-texts.js';
import { PROBLEM_TEXTS } from './problem-texts.js';
import { VERIFY_TEXTS } from './verify-texts.js';

const TEXTS = {
  ...ACTION_TEXTS,
  ...PROBLEM_TEXTS,
  ...COMMAND_TEXTS,
  ...VERIFY_TEXTS,
  // Objects, lists, and how many of them.
  'object.person': ['person', '고객'],
  'object.organization': ['organization', '회사'],
  'object.memo': ['memo', '메모'],
  'object.todo': ['todo', 'TODO'],
  'object.deal_history': ['deal history', '딜 이력'],
  'object.person_activity': ['activity', '고객 활동'],
  'object.person_history': ['person history', '고객 이력'],
  'object.organization_history': ['organization history', '회사 이력'],
  'object.lead_history': ['lead history', '리드 이력'],
  'object.deal': ['deal', '딜'],
  'object.lead': ['lead', '리드'],
  'object.*': ['anything', '전체'],
  'object.feed': ['feed', '시스템 알림'],
  'list.people': ['People', '고객'],
  'list.organization': ['Organizations', '회사'],
  'list.memo': ['Memos', '메모'],
  'list.todo': ['Todos', 'TODO'],
  'list.history': ['Deal history', '딜 이력'],
  'list.activity': ['Activities', '고객 활동'],
  'list.people_history': ['Person history', '고객 이력'],
  'list.organization_history': ['Organization history', '회사 이력'],
  'list.lead_history': ['Lead history', '리드 이력'],
  'list.deal': ['Deals', '딜'],
  'list.lead': ['Leads', '리드'],
  'count.event': ['{count} {count|event|events}', '이벤트 {count}건'],
  'count.change': ['{count} {count|change|changes}', '변경 {count}건'],
  'count.more': ['… and {count} more', '… 외 {count}건'],
  'count.person': ['{count} {count|person|people}', '고객 {count}명'],
  'count.organization': ['{count} {count|organization|organizations}', '회사 {count}곳'],
  'count.memo': ['{count} {count|memo|memos}', '메모 {count}건'],
  'count.todo': ['{count} {count|todo|todos}', 'TODO {count}건'],
  'count.deal': ['{count} {count|deal|deals}', '딜 {count}건'],
  'count.lead': ['{count} {count|lead|leads}', '리드 {count}건'],
  'count.deal_history': ['{count} deal history {count|row|rows}', '딜 이력 {count}건'],
  'count.person_activity': ['{count} {count|activity|activities}', '고객 활동 {count}건'],
  'count.person_history': ['{count} person history {count|row|rows}', '고객 이력 {count}건'],
  'count.organization_history': ['{count} organization history {count|row|rows}', '회사 이력 {count}건'],
  'count.lead_history': ['{count} lead history {count|row|rows}', '리드 이력 {count}건'],

  // What happened, who did it, and how it was noticed.
  'verb.*': ['any change', '모든 변경'],
  'verb.created': ['created', '생성'],
  'verb.updated': ['updated', '수정'],
  'verb.deleted': ['deleted', '삭제'],
  'verb.unchanged': ['unchanged', '변화 없음'],
  'verb.snapshot': ['snapshot', '전체 보내기'],
  'verb.schema_changed': ['schema changed', '필드가 바뀜'],
  'verb.completed': ['completed', '완료'],
  'verb.reopened': ['reopened', '다시 열림'],
  'verb.rescheduled': ['rescheduled', '일정 변경'],
  'verb.reassigned': ['reassigned', '담당자 변경'],
  'verb.due_soon': ['due soon', '기한 임박'],
  'verb.overdue': ['overdue', '지연'],
  'actor.user': ['a person', '사용자'],
  'actor.workflow': ['a workflow', '워크플로우'],
  'actor.sequence': ['a sequence', '시퀀스'],
  'actor.api': ['an integration', '연동(API)'],
  'actor.field': ['the system', '시스템'],
  'machine.workflow': ['workflow', '자동화'],
  'machine.sequence': ['sequence', '시퀀스'],
  'machine.api': ['integration', '연동'],
  'detected.timestamp': ['timestamp', '수정 시각'],
  'detected.content': ['content', '내용'],
  'detected.both': ['timestamp and content', '수정 시각과 내용'],
  'detected.clock': ['due time', '기한'],
  'event.due': ['Due: {when}', '기한: {when}'],
  'event.unchanged': ['Unchanged since {when}: {what}', '{when}부터 변화 없음: {what}'],
  'event.unchangedRecord': ['the record', '레코드'],
  'event.late': ['late', '늦은 알림'],
  'event.merged': ['merged into {id}', '{id}에 병합됨'],
  'event.reappeared': ['had been deleted', '삭제되었다가 다시 나타남'],
  'event.by': ['by {name}', '변경한 사람: {name}'],
  'event.byMachine': ['by the {kind} “{name}”', '{kind} ‘{name}’에서 변경'],
  'event.bySome': ['by {kind}', '{kind}에서 변경'],
  'event.byItself': ['changed automatically', '자동으로 변경됨'],
  'event.owner': ['in charge: {name}', '담당 {name}'],
  'event.open': ['Open', '열기'],

  // Fields and values.
  'field.person': ['Person in charge', '담당자'],
  // Fields whose names are those of programs.
  'label.peopleId': ['Person', '고객'],
  'label.organizationId': ['Company', '회사'],
  'label.dealId': ['Deal', '딜'],
  'label.leadId': ['Lead', '리드'],
  'label.ownerId': ['Person in charge', '담당자'],
  'field.team': ['Team', '팀'],
  'field.due': ['Due', '기한'],
  'field.actor': ['Changed by', '변경한 사람'],
  'value.yes': ['yes', '예'],
  'value.no': ['no', '아니요'],
  'value.none': ['nothing', '없음'],

  // Conditions that hold for no stored record.
  'doubt.missing': ['No record has the field "{field}".', '필드 "{field}"이(가) 있는 레코드가 없습니다.'],
  'doubt.template': [
    'No record has the field "{field}" of the template.',
    '템플릿의 필드 "{field}"이(가) 있는 레코드가 없습니다.',
  ],
  'doubt.type': [
    'The condition on "{field}" can never hold: it asks for a {wants}, and the records have a {has}.',
    '"{field}" 조건은 만족될 수 없습니다. 찾는 것은 {wants}인데 레코드에 있는 것은 {has}입니다.',
  ],
  'doubt.masked': [
    'The condition on "{field}" can never hold: the field is masked.',
    '"{field}" 조건은 만족될 수 없습니다. 가려서 저장하는 필드입니다(mask).',
  ],
  'doubt.unseen': [
    'No record has the value "{wants}" in "{field}" ({count} were looked at).',
    '"{field}"의 값이 "{wants}"인 레코드가 없습니다({count}건 확인).',
  ],
  'type.text': ['text', '텍스트'],
  'type.number': ['number', '숫자'],
  'type.boolean': ['yes or no', '예/아니요'],
  'type.time': ['time', '시각'],
  'type.reference': ['reference', '참조(ID와 이름)'],
  'type.list': ['list', '목록'],
  'type.other': ['value of another kind', '다른 종류의 값'],

  // What became of a delivery.
  'outcome.delivered': ['delivered', '전달됨'],
  'outcome.retry': ['to be tried again', '재시도 예정'],
  'outcome.dead': ['dead letter', '전달 실패'],
  'outcome.skipped': ['skipped', '건너뜀'],
  'outcome.pending': ['waiting', '대기 중'],

  // Times.
  'time.now': ['now', '지금'],
  'time.ago': ['{time} ago', '{time} 전'],

  // Roles of processes, and what a problem is about.
  'place.subscription': ['subscription', '받는 곳'],
  'place.role': ['role', '역할'],
  'place.loop': ['loop', '작업'],
  'place.workspaces': ['workspaces', '워크스페이스'],
  'part.poll': ['poll', '수집'],
  'part.dispatch': ['dispatch', '분배'],
  'part.handle': ['handle', '처리'],
  'part.serve': ['serve', '조회 API'],

  // Digests: one message about a range of the log.
  'digest.title': ['{changes} in {workspace}: {types}', '{workspace} {changes}: {types}'],
  'digest.type': ['{records} {verb}', '{records} {verb}'],
  // A record may be updated more than once.
  'digest.updated': ['{count} {object} {count|update|updates}', '{object} 수정 {count}건'],
  'digest.others': ['{count} {count|other|others}', '기타 {count}건'],
  'digest.people': ['By person in charge: {people}', '담당자별: {people}'],
  'digest.nobody': ['nobody', '담당자 없음'],
  'digest.person': ['{name} {count}', '{name} {count}건'],
  'digest.event': ['{title} – {object} {verb}', '{title} – {object} {verb}'],
  'digest.due': ['due {when}', '기한 {when}'],
  'digest.link': ['Open the status page', '상태 페이지에서 보기'],

  // Buttons below a message, and what is answered to a click.
  'button.snooze': ['Quiet for a day', '하루 동안 알리지 않기'],
  'button.mute': ['Mute this record', '이 레코드 그만 알리기'],
  'button.muteQuestion': ['Say nothing more of this record here?', '이 알림에서 이 레코드를 더 이상 알리지 않을까요?'],
  'button.yes': ['Mute', '그만 알리기'],
  'button.no': ['Cancel', '취소'],
  'clicked.mute': [
    '{who} muted “{record}” here. To undo it: {undo}',
    '{who} 님이 ‘{record}’ 알림을 껐습니다. 되돌리려면: {undo}',
  ],
  'clicked.until': [
    '{who}: nothing about “{record}” until {until}.',
    '{who} 님이 ‘{record}’ 알림을 {until}까지 껐습니다.',
  ],
  'clicked.failed': ['That was not possible: {reason}', '처리하지 못했습니다: {reason}'],

  'message.test': ['[Test]', '[테스트]'],

  // Todo reports.
  'report.title': ['Todos in {workspace}: {sums}', '{workspace} TODO: {sums}'],
  'report.since': ['{count} completed since {when}', '{when} 이후 완료 {count}건'],
  'report.yesterday': ['yesterday {time}', '어제 {time}'],
  'report.completed': ['{count} completed', '완료 {count}건'],
  'report.overdue': ['{count} overdue', '지연 {count}건'],
  'report.dueToday': ['{count} due today', '오늘 기한 {count}건'],
  'report.open': ['{count} open', '미완료 {count}건'],
  'report.none': ['Todos in {workspace}: none is stored', '{workspace} TODO: 저장된 TODO가 없습니다'],
  'report.refused': ['Todos in {workspace}: not counted', '{workspace} TODO: 집계하지 못했습니다'],
  'todos.strangeDue': [
    '{count} todo{s} with a due date that is not understood, such as "{example}": never due. Understood: 2026-03-01 and 2026-03-01T09:00:00Z.',
    '마감일을 읽을 수 없는 TODO {count}개(예: "{example}")는 지연으로 집계되지 않습니다. 읽을 수 있는 형식: 2026-03-01, 2026-03-01T09:00:00Z.',
  ],
  'todos.open': ['Open', '미완료'],
  'todos.dueToday': ['Due today', '오늘 기한'],
  'todos.overdue': ['Overdue', '지연'],
  'todos.completed': ['Completed', '완료'],
  'todos.rate': ['Completion rate', '완료율'],
  'todos.median': ['Median time', '소요 시간(중앙값)'],
  'todos.person': ['Person in charge', '담당자'],
  'todos.team': ['Team', '팀'],
  'todos.nobody': ['no person', '담당자 없음'],
  'todos.noTeam': ['no team', '팀 없음'],
  'todos.others': ['others', '기타'],

  // The status on a terminal. Heads of tables are separated by |.
  'status.well': ['all is well', '이상 없음'],
  'status.for': ['for {time}', '{time} 동안'],
  'status.in': ['in {time}', '{time} 뒤'],
  'status.unknown': ['unknown', '알 수 없음'],
  'status.none': ['none', '없음'],
  'status.noProcess': ['no process runs: changefeed start', '실행 중인 프로세스가 없습니다: changefeed start'],
  'status.process': ['{pid} on {host}', '{host}의 {pid}'],
  'status.processHead': ['roles|version|up for|process', '역할|버전|실행 시간|프로세스'],
  'status.versions': ['{count} versions run at the same time', '버전 {count}개가 동시에 실행 중입니다'],
  'status.workspace': ['workspace {name}', '워크스페이스 {name}'],
  'status.budget': ['budget {count} {count|request|requests} per {seconds} s', '요청 한도 {seconds}초당 {count}회'],
  'status.used': [', {share} % used', ', {share} % 사용'],
  'status.lowered': [', {allowed} allowed after a 429', ', 429 이후 {allowed}회로 제한'],
  'status.paused': [', paused for {time} after a 429', ', 429 이후 {time} 대기'],
  'status.log': ['log {count} {count|event|events}', '로그 이벤트 {count}건'],
  'status.listHead': ['list|swept|records|as of|last complete sweep', '목록|수집|레코드|기준|마지막 전체 수집'],
  'status.off': ['off', '수집 안 함'],
  'status.failingNext': ['failing, again {next}', '실패 중, 다시 시도 {next}'],
  'status.sweeping': ['sweeping', '수집 중'],
  'status.sweepingPage': ['sweeping: page {page}', '수집 중: {page}페이지'],
  'status.interrupted': ['interrupted at page {page}', '{page}페이지에서 중단됨'],
  'status.continuously': ['continuously', '계속'],
  'status.every': ['every {time}, {next}', '{time}마다, {next}'],
  'status.noBaseline': ['no baseline yet', '아직 첫 수집 전'],
  'status.late': ['late', '지연'],
  'status.discarded': [
    '{list}: {count} discarded by a person; receivers were not told',
    '{list}: 사람이 버린 변경 {count}건(받는 곳에 알리지 않음)',
  ],
  'status.noChanges': ['no changes', '변경 없음'],
  'status.found': ['{changes} in {time}', '{changes}, {time}'],
  'status.pages': ['{count} {count|page|pages} in {time}', '{count}페이지, {time}'],
  'status.actors': [
    ', who made them known of {known} of {count} {count|edit|edits}',
    ', 변경한 사람 확인: 편집 {count}건 중 {known}건',
  ],
  'status.lastError': [
    'last error {time} ago, over: {codes} ({lists})',
    '{time} 전의 마지막 오류(해결됨): {codes} ({lists})',
  ],
  'status.listFailing': [
    'last error of {list}: {time} ago, {code}, {count} {count|attempt|attempts} failed',
    '{list}의 마지막 오류: {time} 전, {code}, {count}번 실패',
  ],
  'status.listFailed': [
    'last error of {list}: {time} ago, over: {code} {message}',
    '{list}의 마지막 오류(해결됨): {time} 전, {code} {message}',
  ],
  'status.shortcuts': ['shortcuts of {list}: {found}', '{list} 미리 확인: {found}'],
  'status.shortcut.last': [
    '{count} {count|poll|polls} of the end, {useful} useful, {wrong} wrong',
    '마지막 페이지 {count}번(변경 발견 {useful}, 놓침 {wrong})',
  ],
  'status.shortcut.first': [
    '{count} {count|poll|polls} of the start, {useful} useful, {wrong} wrong',
    '첫 페이지 {count}번(변경 발견 {useful}, 놓침 {wrong})',
  ],
  'status.shortcut.aimed': [
    '{count} aimed {count|fetch|fetches}, {useful} useful, {wrong} wrong',
    '예상 페이지 {count}번(변경 발견 {useful}, 놓침 {wrong})',
  ],
  'status.shortcut.open': [
    '{count} {count|read|reads} of open records, {useful} useful, {wrong} wrong',
    '열린 항목 {count}번(변경 발견 {useful}, 놓침 {wrong})',
  ],
  'status.noSubscriptions': [
    'no subscriptions: events go to the log only',
    '받는 곳이 없어 이벤트는 로그에만 남습니다',
  ],
  'status.subscriptionHead': [
    'subscription|handler|on|lag|delayed|dead',
    '받는 곳|처리기|받는 이벤트|지연|재시도 예정|전달 실패',
  ],
  'status.queueHead': [
    'subscription|handler|on|lag|waiting|active|delayed|dead',
    '받는 곳|처리기|받는 이벤트|지연|대기|처리 중|재시도 예정|전달 실패',
  ],
  'status.oldest': ['oldest waiting event: {time}, of {name}', '가장 오래 기다린 이벤트: {time}, {name}'],
  'status.notBegun': ['not begun', '시작 전'],
  'status.UNREADABLE': ['UNREADABLE', '읽을 수 없음'],
  'status.PAUSED': ['PAUSED', '일시 중지됨'],
  'status.isPaused': ['paused', '일시 중지됨'],
  'status.isFailing': ['failing', '실패 중'],
  'status.nothingHeld': ['Nothing is held.', '보류된 것이 없습니다.'],
  'status.since': ['Since {when}.', '{when}부터.'],
  'status.examples': ['Such as {names}.', '예: {names}.'],
  'status.decide': [
    'changefeed accept {place}, or changefeed discard {place}',
    '승인: changefeed accept {place}, 버리기: changefeed discard {place}',
  ],

  // The todo report on a terminal.
  'report.head': [
    'open|due today|overdue|completed|rate|median time',
    '미완료|오늘 기한|지연|완료|완료율|소요 시간(중앙값)',
  ],
  'report.noSweep': ['no complete sweep of the todos yet', 'TODO 목록의 전체 수집이 아직 없습니다'],
  'report.period': ['completed {from} to {to} ({zone})', '{from} ~ {to} 완료분({zone})'],
  'report.asOf': ['as of {time} ago', '{time} 전 기준'],
  'report.all': ['all todos', '전체 TODO'],
  'report.inCharge': ['in charge', '담당자'],
  'report.team': ['team', '팀'],
  'report.days': ['{count} days', '{count}일'],
} as const satisfies Readonly<Record<string, readonly [en: string, ko: string]>>;

export type WordKey = keyof typeof TEXTS;
type Texts = Readonly<Record<WordKey, string>>;

export const en = Object.fromEntries(Object.entries(TEXTS).map(([key, [text]]) => [key, text])) as Texts;
export const ko = Object.fromEntries(Object.entries(TEXTS).map(([key, [, text]]) => [key, text])) as Texts;
