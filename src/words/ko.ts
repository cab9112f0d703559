/** The shared words in Korean. */
import type { WordKey } from './en.js';

export const ko: Readonly<Record<WordKey, string>> = {
  // Objects, lists, and how many of them.
  'object.person': '고객',
  'object.organization': '회사',
  'object.memo': '메모',
  'object.todo': 'TODO',
  'object.deal_history': '딜 이력',
  'object.person_activity': '고객 활동',
  'object.person_history': '고객 이력',
  'object.organization_history': '회사 이력',
  'object.lead_history': '리드 이력',
  'object.deal': '딜',
  'object.lead': '리드',
  'object.feed': '시스템',
  'list.people': '고객',
  'list.organization': '회사',
  'list.memo': '메모',
  'list.todo': 'TODO',
  'list.history': '딜 이력',
  'list.activity': '고객 활동',
  'list.people_history': '고객 이력',
  'list.organization_history': '회사 이력',
  'list.lead_history': '리드 이력',
  'list.deal': '딜',
  'list.lead': '리드',
  'count.event': '이벤트 {count}건',
  'count.change': '변경 {count}건',
  'count.more': '… 외 {count}건',
  'count.person': '고객 {count}명',
  'count.organization': '회사 {count}곳',
  'count.memo': '메모 {count}건',
  'count.todo': 'TODO {count}건',
  'count.deal': '딜 {count}건',
  'count.lead': '리드 {count}건',
  'count.deal_history': '딜 이력 {count}건',
  'count.person_activity': '고객 활동 {count}건',
  'count.person_history': '고객 이력 {count}건',
  'count.organization_history': '회사 이력 {count}건',
  'count.lead_history': '리드 이력 {count}건',

  // What happened, who did it, and how it was noticed.
  'verb.created': '생성',
  'verb.updated': '수정',
  'verb.deleted': '삭제',
  'verb.snapshot': '스냅숏',
  'verb.schema_changed': '필드 구조 변경',
  'verb.completed': '완료',
  'verb.reopened': '다시 열림',
  'verb.rescheduled': '일정 변경',
  'verb.reassigned': '담당자 변경',
  'verb.due_soon': '기한 임박',
  'verb.overdue': '지연',
  'actor.user': '사용자',
  'actor.workflow': '워크플로우',
  'actor.sequence': '시퀀스',
  'actor.api': '연동(API)',
  'actor.field': '시스템',
  'detected.timestamp': '수정 시각',
  'detected.content': '내용',
  'detected.both': '수정 시각과 내용',
  'detected.clock': '기한',
  'event.due': '기한: {when}',
  'event.by': '{name} 변경',
  'event.open': '열기',

  // Fields and values.
  'field.person': '담당자',
  'field.team': '팀',
  'field.due': '기한',
  'field.actor': '변경한 사람',
  'value.yes': '예',
  'value.no': '아니요',
  'value.none': '없음',

  // What became of a delivery.
  'outcome.delivered': '전달됨',
  'outcome.retry': '재시도 예정',
  'outcome.dead': '데드 레터',
  'outcome.skipped': '건너뜀',
  'outcome.pending': '대기 중',

  // Times.
  'time.now': '지금',
  'time.ago': '{time} 전',

  // Roles of processes, and what a problem is about.
  'place.subscription': '구독',
  'place.role': '역할',
  'place.loop': '작업',
  'place.workspaces': '워크스페이스',
  'part.poll': '수집',
  'part.dispatch': '분배',
  'part.handle': '처리',
  'part.serve': '조회 API',

  // Digests: one message about a range of the log.
  'digest.title': '{workspace} {changes}: {types}',
  'digest.type': '{records} {verb}',
  'digest.updated': '{object} 수정 {count}건',
  'digest.people': '담당자별: {people}',
  'digest.person': '{name} {count}건',
  'digest.event': '{title} – {object} {verb}',
  'digest.link': '상태 페이지에서 보기',

  // Todo reports.
  'report.title': '{workspace} TODO: {sums}',
  'report.since': '{when} 이후 완료 {count}건',
  'report.yesterday': '어제 {time}',
  'report.completed': '완료 {count}건',
  'report.overdue': '지연 {count}건',
  'report.dueToday': '오늘 기한 {count}건',
  'report.open': '미완료 {count}건',
  'report.none': '{workspace} TODO: 저장된 TODO가 없습니다',
  'report.refused': '{workspace} TODO: 집계하지 못했습니다',
  'todos.strangeDue':
    '마감일을 읽을 수 없는 TODO {count}개(예: "{example}")는 기한 초과로 집계되지 않습니다. 읽을 수 있는 형식: 2026-03-01, 2026-03-01T09:00:00Z.',
  'todos.open': '미완료',
  'todos.dueToday': '오늘 기한',
  'todos.overdue': '지연',
  'todos.completed': '완료',
  'todos.rate': '완료율',
  'todos.median': '소요 시간(중앙값)',
  'todos.person': '담당자',
  'todos.team': '팀',
  'todos.nobody': '담당자 없음',
  'todos.noTeam': '팀 없음',
  'todos.others': '기타',

  // Problems: their titles.
  'all.well': '정상 동작 중',
  'problems.many': '문제 {count}건',
  'problems.none': '확인이 필요한 것이 없습니다.',
  'problems.since': '{when}부터',
  'severity.error': '오류',
  'severity.warning': '경고',
  'problem.redis.evicts': 'Redis가 키를 삭제할 수 있습니다',
  'problem.redis.refuses': 'Redis가 쓰기를 거부합니다',
  'problem.state.lost': '저장된 상태가 사라졌습니다',
  'problem.state.rewound': 'Redis가 이전 상태로 되돌아갔습니다',
  'problem.api.away': 'API가 응답하지 않습니다',
  'problem.sweep.failed': '목록 수집에 실패했습니다',
  'problem.source.changed': '주소나 토큰이 다른 데이터를 가리킵니다',
  'problem.token.refused': 'API가 토큰을 거부했습니다',
  'problem.list.late': '목록 수집이 늦어지고 있습니다',
  'problem.list.silent': '목록에 평소와 달리 변경이 없습니다',
  'problem.list.cut': '목록의 일부만 읽히고 있을 수 있습니다',
  'problem.list.restless': '한 필드가 대부분의 레코드에서 거듭 바뀝니다',
  'problem.removals.held': '대량 삭제가 보류되었습니다',
  'problem.creations.held': '대량 생성이 보류되었습니다',
  'problem.subscription.disabled': '구독이 일시 중지되었습니다',
  'problem.subscription.failing': '구독이 계속 실패하고 있습니다',
  'problem.subscription.unconfigured': '설정에 없는 구독의 이벤트가 남아 있습니다',
  'problem.delivery.late': '전달이 늦어지고 있습니다',
  'problem.delivery.dead': '처리를 기다리는 데드 레터가 있습니다',
  'problem.role.missing': '필요한 역할을 맡은 프로세스가 없습니다',
  'problem.loop.stalled': '프로세스의 일부가 멈춰 있습니다',
  'problem.loop.failing': '프로세스의 일부가 계속 실패하고 있습니다',
  'problem.clock.stepped': '컴퓨터의 시계가 바뀌었습니다',
  'problem.process.overloaded': '프로세스의 CPU가 부족합니다',
  'problem.problem.over': '문제가 해결되었습니다',
  'problem.snapshot.complete': '목록의 모든 레코드를 다시 보냈습니다',

  // Problems: what is wrong, where, and what to do.
  'says.redis.evicts':
    'Redis가 메모리 정책({policy})에 따라 키를 지울 수 있어 수집과 전달을 멈추었습니다. maxmemory-policy를 noeviction으로 바꾸고(CONFIG SET) redis.conf에도 적으세요.',
  'says.redis.refuses': 'Redis가 쓰기를 거부합니다. {>why}',
  'refused.out of memory': 'maxmemory에 도달했습니다. 메모리를 비우거나 maxmemory를 늘리세요.',
  'refused.cannot save':
    '데이터를 저장하지 못합니다(원인은 Redis의 로그에 있습니다). 디스크를 비우거나 데이터 폴더를 고치세요.',
  'refused.read-only': '읽기 전용 복제본입니다. 장애 조치가 끝나기를 기다리거나 REDIS_URL을 프라이머리로 바꾸세요.',
  'says.state.lost':
    '워크스페이스 "{workspace}"의 상태가 {seenAt}에서 {at} 사이에 Redis에서 사라졌습니다. 목록을 처음부터 다시 읽으며, 그 사이의 변경은 알 수 없습니다. Redis의 영속성 설정을 확인하세요.',
  'says.state.rewound':
    '워크스페이스 "{workspace}": Redis가 이전 상태로 되돌아가 {from}에서 {to} 사이의 기록을 잃었을 수 있습니다. 모든 목록을 다시 읽으며 일부 이벤트는 반복됩니다. Redis의 영속성 설정을 확인하세요.',
  'says.api.away':
    '{>who}: API가 응답하지 않거나 오류만 보냅니다({error}). 네트워크와 설정의 baseUrl을 확인하세요. 30초마다 다시 시도하며, 돌아오면 자동으로 이어집니다.',
  'away.one': '워크스페이스 "{workspace}"',
  'away.several': '"{workspace}" 등 워크스페이스 {count}개',
  'says.sweep.failed':
    '워크스페이스 "{workspace}"의 {listName} 목록을 끝까지 읽지 못했습니다. {>why} 자동으로 다시 시도합니다({code}).',
  'says.source.changed':
    '워크스페이스 "{workspace}", {listName} 목록: 주소나 토큰이 전과 다른 데이터를 가리킵니다. 실수라면 설정을 되돌리고, 의도한 것이라면 기준을 다시 정하세요: changefeed resync {list} --workspace {workspace}',
  'says.token.refused':
    '워크스페이스 "{workspace}": API가 토큰을 거부했습니다. CRM에서 토큰을 새로 발급하면 이전 토큰은 쓸 수 없습니다. 최신 토큰을 설정에 넣으세요.',
  'failure.CF_FORBIDDEN':
    '이 토큰에는 목록을 읽을 권한이 없습니다. 토큰 소유자의 권한과 요금제, 허용된 주소를 확인하세요.',
  'failure.CF_RATE_LIMITED': 'API의 요청 한도를 넘었습니다. 한도는 다른 연동과 함께 씁니다. 설정의 budget을 낮추세요.',
  'failure.CF_UNAVAILABLE': 'API가 응답하지 않습니다.',
  'failure.CF_REQUEST_REFUSED': 'API가 요청을 거부했습니다. 설정의 baseUrl을 확인하세요.',
  'failure.CF_PAGE_MALFORMED': 'API의 응답이 약속된 형식이 아닙니다. 그 페이지의 내용은 저장하지 않았습니다.',
  'failure.CF_UNAUTHORISED': 'API가 토큰을 거부했습니다. 최신 토큰을 설정에 넣으세요.',
  'failure.CF_SOURCE_CHANGED':
    '주소나 토큰이 전과 다른 데이터를 가리킵니다. 실수라면 설정을 되돌리고, 의도한 것이라면 changefeed resync를 실행하세요.',
  'says.list.late':
    '워크스페이스 "{workspace}", {listName} 목록: 읽을 때가 {forMs} 지났는데 읽기 시작한 프로세스가 없습니다. 수집 프로세스의 상태와 설정을 확인하세요.',
  'says.list.silent':
    '워크스페이스 "{workspace}", {listName} 목록: {>what} 토큰의 권한이나 필터가 바뀌지 않았는지 확인하세요.',
  'silent.empty': '{forMs} 동안 레코드가 하나도 보이지 않습니다.',
  'silent.unchanged': '평소와 달리 {forMs} 동안 변경이 없습니다.',
  'says.list.cut':
    '워크스페이스 "{workspace}", {listName} 목록: 하나뿐인 페이지가 {count}건으로 꽉 찼는데 다음 커서가 없습니다. CRM에 레코드가 더 있으면 커서 이름이 바뀌어 나머지를 읽지 못하는 것입니다.',
  'says.list.restless':
    '워크스페이스 "{workspace}", {listName} 목록: 대부분의 레코드에서 거듭 수정된 것으로 나타나는 필드가 있습니다: {fields}. 사람이 고치는 값이 아니라면 목록의 refreshed나 ignore에 적으세요.',
  'says.removals.held':
    '워크스페이스 "{workspace}", {listName} 목록: {>held} 실제 삭제라면 승인하세요: changefeed accept {list} --workspace {workspace}',
  'says.creations.held':
    '워크스페이스 "{workspace}", {listName} 목록: {>held} 예상한 일이라면 승인하세요: changefeed accept {list} --workspace {workspace} — 이벤트 없이 받아들이려면: changefeed resync {list} --workspace {workspace}',
  'held.removals.too many': '{of}건 중 {count}건이 한꺼번에 사라져 삭제 이벤트를 보류했습니다.',
  'held.removals.replaced': '{of}건 중 {count}건이 사라지고 다른 레코드들이 나타나 삭제 이벤트를 보류했습니다.',
  'held.removals.creations':
    '{of}건 중 {count}건이 사라져 삭제 이벤트를 보류했습니다. 신규 레코드도 보류 중이므로 다른 목록일 수 있습니다.',
  'held.creations.too many': '{of}건 중 {count}건이 한꺼번에 새로 나타나 생성 이벤트를 보류했습니다.',
  'held.creations.replaced':
    '{of}건 중 {count}건이 새로 나타나 생성 이벤트를 보류했습니다. 전에 있던 {known}건 중 {seen}건만 보입니다. 다른 워크스페이스의 토큰인지, 백업이 복원되었는지 확인하세요.',
  'says.subscription.disabled':
    '구독 "{name}": {since}부터 일시 중지되었습니다. 이유: {reason} {>waiting} 다시 시작: changefeed resume {name}',
  'waiting.all': '이벤트는 쌓여 있습니다.',
  'waiting.some': '이벤트는 쌓여 있지만 일부는 log.retention에 따라 지워졌습니다.',
  'says.subscription.failing':
    '구독 "{name}": {since} 이후의 시도 {count}번이 모두 실패했습니다. 받는 쪽의 상태를 확인하세요.{>last} 이벤트는 retry 설정대로 다시 시도한 뒤 데드 레터가 됩니다(changefeed dead list --subscription {name}).',
  'says.subscription.unreadable': '구독 "{name}"의 상태를 읽을 수 없습니다: {error}',
  'last.error': ' 마지막 오류: {error}',
  'says.subscription.unconfigured':
    '설정에서 이름이 바뀌었거나 빠진 구독에 이벤트가 남아 있습니다: {names} (대기 {waiting}건, 데드 레터 {dead}건). 이름이 바뀐 구독으로 옮기려면 changefeed subscriptions rename {name} <새 이름>, 지우려면 changefeed subscriptions forget {name}을 실행하세요.',
  'says.delivery.late':
    '구독 "{name}": 가장 오래된 이벤트가 {since}부터 기다립니다. 대기 {count}건 중 처리 중 {active}건, 대기열 {queued}건, 재시도 예정 {delayed}건. {>remedy}',
  'late.paused': '대기열이 멈춰 있습니다: changefeed resume {name}',
  'late.slow': '처리가 느리면 concurrency를 높이거나 handle 프로세스를 늘리세요.',
  'says.delivery.unread':
    '구독 "{name}": 아직 로그를 읽기 시작하지 않았습니다. dispatch 역할의 프로세스에 이 구독이 설정되어 있는지, 그 프로세스의 로그에 원인이 있는지 확인하세요.',
  'says.delivery.dead':
    '구독 "{name}": 데드 레터 {count}건이 처리를 기다립니다.{>last} 원인을 고친 뒤 다시 보내거나(changefeed dead retry --all --subscription {name}) 버리세요(changefeed dead drop).',
  'says.role.missing':
    '"{role}" 역할을 맡은 프로세스가 없습니다: {>effect} 시작하세요: changefeed start --only {role} (모든 역할은 changefeed start)',
  'effect.poll': '목록을 읽지 않습니다.',
  'effect.dispatch': '이벤트가 대기열로 가지 않습니다.',
  'effect.handle': '처리되는 이벤트가 없습니다.',
  'says.loop.stalled':
    '{host}의 프로세스 {pid}: "{loop}" 작업이 {since}부터 진행되지 않아 다시 시작했습니다. 계속되면 프로세스를 다시 시작하세요.',
  'says.loop.failing':
    '{host}의 프로세스 {pid}: "{loop}" 작업이 {since}부터 계속 실패합니다. 30초마다 다시 시도합니다. 마지막 오류: {error}',
  'says.process.overloaded':
    '{host}의 프로세스 {pid}: 워크스페이스 {count}개를 맡기에는 CPU가 부족해 목록 {lists}개가 차례를 기다립니다(가장 오래 {forMs}). 빠지는 변경은 없지만 늦게 발견됩니다. poll 프로세스나 CPU를 늘리거나 interval을 정하세요.',
  'says.clock.stepped':
    '{>what} 수집과 전달은 계속되지만 이벤트의 시각, TODO의 기한, 웹훅의 서명은 시계를 따릅니다. 시간 동기화를 확인하세요.',
  'clock.back': '{host}의 프로세스 {pid}의 시계가 {byMs} 뒤로 바뀌었습니다.',
  'clock.forward': '{host}의 프로세스 {pid}의 시계가 {byMs} 앞으로 바뀌었거나 컴퓨터가 잠들어 있었습니다.',
  'clock.apart': '{host}의 프로세스 {pid}의 시계가 Redis의 시계와 {byMs} 다릅니다.',
  'clock.here': '이 컴퓨터의 시계가 Redis의 시계와 {byMs} 다릅니다.',
  'clock.future':
    '워크스페이스 "{workspace}", {listName} 목록: 저장된 시각({time})이 미래입니다. 시계가 앞서 있었거나 지금 뒤처져 있습니다.',
  'says.problem.over': '워크스페이스 "{workspace}": "{>title}" 문제가 {forMs} 만에 해결되었습니다.',
  'says.snapshot.complete':
    'Redis가 변경을 잊어 {listName} 목록의 모든 레코드를 다시 보냈습니다. 이 이벤트보다 낮은 sequence의 레코드는 더 이상 없습니다.',
};
