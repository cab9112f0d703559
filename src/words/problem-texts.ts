/** The texts of problems, in English and in Korean: the titles, what is wrong, where, and what to do. */
export const PROBLEM_TEXTS = {
  // Problems: their titles.
  'all.well': ['All is well', '정상 동작 중'],
  'problems.many': ['{count} problem{s}', '문제 {count}건'],
  'problems.none': ['Nothing needs attention.', '확인이 필요한 것이 없습니다.'],
  'problems.since': ['since {when}', '{when}부터'],
  'severity.error': ['Error', '오류'],
  'severity.warning': ['Warning', '경고'],
  'problem.redis.evicts': ['Redis may evict keys', 'Redis가 키를 삭제할 수 있습니다'],
  'problem.redis.refuses': ['Redis refuses writes', 'Redis가 쓰기를 거부합니다'],
  'problem.state.lost': ['The state was lost', '저장된 상태가 사라졌습니다'],
  'problem.state.rewound': ['Redis went back to an earlier state', 'Redis가 이전 상태로 되돌아갔습니다'],
  'problem.api.away': ['The API does not answer', 'API가 응답하지 않습니다'],
  'problem.sweep.failed': ['A sweep failed', '목록 수집에 실패했습니다'],
  'problem.source.changed': ['The address or the token leads to other data', '주소나 토큰이 다른 데이터를 가리킵니다'],
  'problem.workspace.unauthorized': ['The API refuses the token', 'API가 토큰을 거부했습니다'],
  'problem.list.late': ['A list is late', '목록 수집이 늦어지고 있습니다'],
  'problem.list.silent': ['A list is unusually silent', '목록에 평소와 달리 변경이 없습니다'],
  'problem.list.cut': ['A list may be read only in part', '목록의 일부만 읽히고 있을 수 있습니다'],
  'problem.list.restless': [
    'A field changes on most rows again and again',
    '한 필드가 대부분의 레코드에서 거듭 바뀝니다',
  ],
  'problem.list.misnamed': ['Options name fields that no record has', '설정에 적힌 필드가 레코드에 없습니다'],
  'problem.removals.held': ['Removals are held', '대량 삭제가 보류되었습니다'],
  'problem.creations.held': ['New records are held', '대량 생성이 보류되었습니다'],
  'problem.subscription.disabled': ['A subscription is paused', '받는 곳이 일시 중지되었습니다'],
  'problem.subscription.failing': ['A subscription keeps failing', '받는 곳이 계속 실패하고 있습니다'],
  'problem.subscription.unconfigured': [
    'Events wait for subscriptions that are not configured',
    '설정에 없는 받는 곳의 이벤트가 남아 있습니다',
  ],
  'problem.delivery.late': ['Events have waited for long', '전달이 늦어지고 있습니다'],
  'problem.delivery.dead': ['Dead letters wait for a decision', '처리를 기다리는 전달 실패가 있습니다'],
  'problem.snapshot.incomplete': ['A snapshot of a list is not complete', '목록의 스냅샷이 끝나지 않았습니다'],
  'problem.copy.wrong': ['A copy differs from the CRM', '사본이 CRM과 다릅니다'],
  'problem.role.missing': ['No process has a role that is needed', '필요한 역할을 맡은 프로세스가 없습니다'],
  'problem.loop.stalled': ['A part of a process is stuck', '프로세스의 일부가 멈춰 있습니다'],
  'problem.loop.failing': ['A part of a process keeps failing', '프로세스의 일부가 계속 실패하고 있습니다'],
  'problem.clock.stepped': ['The clock of a machine has stepped', '컴퓨터의 시계가 바뀌었습니다'],
  'problem.process.overloaded': ['A process has too little processor', '프로세스의 CPU가 부족합니다'],
  'problem.rules.differ': ['Processes have different rules', '프로세스마다 규칙 파일이 다릅니다'],
  'problem.rules.missing': ['The file of rules is missing', '규칙 파일이 없습니다'],
  'problem.configuration.refused': ['A changed configuration is not valid', '바뀐 설정을 적용하지 못했습니다'],
  'problem.problem.over': ['A problem is over', '문제가 해결되었습니다'],
  'problem.snapshot.complete': ['Every record of a list was sent again', '목록의 모든 레코드를 다시 보냈습니다'],

  // Problems: what is wrong, where, and what to do. `{>why}` is the text that the fact `why` names; a name that ends with `Ms` is a duration, and a
  // time is one that a person reads. The log has the English text.
  'says.redis.evicts': [
    'Redis has maxmemory-policy "{policy}" and may evict keys: polling and delivery pause. CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.',
    'Redis가 메모리 정책({policy})에 따라 키를 지울 수 있어 수집과 전달을 멈추었습니다. maxmemory-policy를 noeviction으로 바꾸고(CONFIG SET) redis.conf에도 적으세요.',
  ],
  'says.redis.refuses': ['Redis refuses writes: {>why}.', 'Redis가 쓰기를 거부합니다. {>why}'],
  'refused.not permitted': [
    'its user may not call "{command}". Give it the rights that docs/redis.md names under "The rights of a user"',
    'Redis 사용자에게 "{command}" 명령을 쓸 권한이 없습니다. docs/redis.md의 "The rights of a user"에 있는 권한을 주세요.',
  ],
  'refused.out of memory': ['{error}', 'maxmemory에 도달했습니다. 메모리를 비우거나 maxmemory를 늘리세요.'],
  'refused.cannot save': [
    '{error}',
    '데이터를 저장하지 못합니다(원인은 Redis의 로그에 있습니다). 디스크를 비우거나 데이터 폴더를 고치세요.',
  ],
  'refused.read-only': [
    '{error}',
    '읽기 전용 복제본입니다. 장애 조치가 끝나기를 기다리거나 REDIS_URL을 프라이머리로 바꾸세요.',
  ],
  'says.state.lost': [
    'The state of workspace "{workspace}" was lost in Redis between {seenAt} and {at}. Every list starts with a baseline without events: changes made in between are not reported. Check the persistence of Redis.',
    '워크스페이스 "{workspace}"의 상태가 {seenAt}에서 {at} 사이에 Redis에서 사라졌습니다. 목록을 처음부터 다시 읽으며, 그 사이의 변경은 알 수 없습니다. Redis의 영속성 설정을 확인하세요.',
  ],
  'says.state.rewound': [
    'Workspace "{workspace}": Redis went back to an earlier state. What was written between {from} and {to} may be lost. Events are repeated, sequences go on far higher, and every list is swept again. Check the persistence of Redis.',
    '워크스페이스 "{workspace}": Redis가 이전 상태로 되돌아가 {from}에서 {to} 사이의 기록을 잃었을 수 있습니다. 모든 목록을 다시 읽으며 일부 이벤트는 반복됩니다. Redis의 영속성 설정을 확인하세요.',
  ],
  'says.api.away': [
    '{>who}: {error}. No list can be read until it answers; each is tried again at least every 30 s.',
    '{>who}: API가 응답하지 않거나 오류만 보냅니다({error}). 네트워크와 설정의 baseUrl을 확인하세요. 30초마다 다시 시도하며, 돌아오면 자동으로 이어집니다.',
  ],
  'away.one': ['Workspace "{workspace}"', '워크스페이스 "{workspace}"'],
  'away.several': ['{count} workspaces, among them "{workspace}"', '"{workspace}" 등 워크스페이스 {count}개'],
  'says.sweep.failed': [
    '{error}',
    '워크스페이스 "{workspace}"의 {listName} 목록을 끝까지 읽지 못했습니다. {>why} 자동으로 다시 시도합니다({code}).',
  ],
  'says.source.changed': [
    '{error}',
    '워크스페이스 "{workspace}", {listName} 목록: 주소나 토큰이 전과 다른 데이터를 가리킵니다. 실수라면 설정을 되돌리고, 의도한 것이라면 기준을 다시 정하세요: changefeed resync {list} --workspace {workspace}',
  ],
  'says.workspace.unauthorized': [
    '{error}',
    '워크스페이스 "{workspace}": API가 받아들이는 토큰이 없습니다. CRM에서 토큰을 새로 발급하면 이전 토큰은 쓸 수 없습니다. 설정의 token에 최신 토큰을 넣거나, token 함수가 최신 토큰을 돌려주게 하세요.',
  ],
  'failure.CF_FORBIDDEN': [
    '{error}',
    '이 토큰에는 목록을 읽을 권한이 없습니다. 토큰 소유자의 권한과 요금제, 허용된 주소를 확인하세요.',
  ],
  'failure.CF_RATE_LIMITED': [
    '{error}',
    'API의 요청 한도를 넘었습니다. 한도는 다른 연동과 함께 씁니다. 설정의 budget을 낮추세요.',
  ],
  'failure.CF_UNAVAILABLE': ['{error}', 'API가 응답하지 않습니다.'],
  'failure.CF_REQUEST_REFUSED': ['{error}', 'API가 요청을 거부했습니다. 설정의 baseUrl을 확인하세요.'],
  'failure.CF_PAGE_MALFORMED': [
    '{error}',
    'API의 응답이 약속된 형식이 아닙니다. 그 페이지의 내용은 저장하지 않았습니다.',
  ],
  'failure.CF_UNAUTHORISED': ['{error}', 'API가 토큰을 거부했습니다. 최신 토큰을 설정에 넣으세요.'],
  'failure.CF_SOURCE_CHANGED': [
    '{error}',
    '주소나 토큰이 전과 다른 데이터를 가리킵니다. 실수라면 설정을 되돌리고, 의도한 것이라면 changefeed resync를 실행하세요.',
  ],
  'says.list.late': [
    'Workspace "{workspace}", list "{list}": a sweep has been due for {forMs} and no process has started it. Check whether the polling process is stuck or runs another configuration.',
    '워크스페이스 "{workspace}", {listName} 목록: 읽을 때가 {forMs} 지났는데 읽기 시작한 프로세스가 없습니다. 수집 프로세스의 상태와 설정을 확인하세요.',
  ],
  'says.list.silent': [
    'Workspace "{workspace}", list "{list}" {>what}. Check whether the token may still read it.',
    '워크스페이스 "{workspace}", {listName} 목록: {>what} 토큰의 권한이나 필터가 바뀌지 않았는지 확인하세요.',
  ],
  'silent.empty': ['has shown no records for {forMs}', '{forMs} 동안 레코드가 하나도 보이지 않습니다.'],
  'silent.unchanged': ['has not changed for {forMs}', '평소와 달리 {forMs} 동안 변경이 없습니다.'],
  'says.list.cut': [
    'Workspace "{workspace}", list "{list}": its only page has {count} records, as many as whole pages have, and names no cursor. If the CRM shows more records, the cursor has another name now, and nothing behind the first page is read.',
    '워크스페이스 "{workspace}", {listName} 목록: 하나뿐인 페이지가 {count}건으로 꽉 찼는데 다음 커서가 없습니다. CRM에 레코드가 더 있으면 커서 이름이 바뀌어 나머지를 읽지 못하는 것입니다.',
  ],
  'says.list.restless': [
    'Workspace "{workspace}", list "{list}": most rows are edited again and again in {fields}. If nobody edits these by hand, name them under "refreshed" or "ignore" of the list.',
    '워크스페이스 "{workspace}", {listName} 목록: 대부분의 레코드에서 거듭 수정된 것으로 나타나는 필드가 있습니다: {fields}. 사람이 고치는 값이 아니라면 목록의 refreshed나 ignore에 적으세요.',
  ],
  'says.list.misnamed': [
    'Workspace "{workspace}", list "{list}": no record has a field with the name in {fields}.{>effect} Correct the name, or take it out of the configuration. It is the name of a whole field: one for 담당자 covers all that is in it. The fields are in changefeed schema {list}.',
    '워크스페이스 "{workspace}", {listName} 목록: 설정의 {fields}에 해당하는 필드가 있는 레코드가 없습니다.{>effect} 이름을 고치거나 설정에서 지우세요. 필드 전체의 이름을 적습니다. 예를 들어 담당자라고 적으면 그 안의 값까지 모두 해당됩니다. 필드 이름은 "필드 구조"에서 볼 수 있습니다.',
  ],
  'misnamed.mask': [
    ' What a mask was to hide may be stored and delivered as it is.',
    ' 가리려던 값이 그대로 저장되고 전달될 수 있습니다.',
  ],
  'misnamed.other': ['', ''],
  'says.removals.held': [
    'Workspace "{workspace}", list "{list}": {>held} Accept them: changefeed accept {list} --workspace {workspace}. Report none of them, so that receivers keep the records: changefeed discard {list} --workspace {workspace}.',
    '워크스페이스 "{workspace}", {listName} 목록: {>held} 실제 삭제라면 승인하세요: changefeed accept {list} --workspace {workspace} — 알리지 않고 받는 쪽에 그대로 두려면: changefeed discard {list} --workspace {workspace}',
  ],
  'says.creations.held': [
    'Workspace "{workspace}", list "{list}": {>held} Accept them: changefeed accept {list} --workspace {workspace}. Take them without events: changefeed discard {list} --workspace {workspace}.',
    '워크스페이스 "{workspace}", {listName} 목록: {>held} 예상한 일이라면 승인하세요: changefeed accept {list} --workspace {workspace} — 이벤트 없이 받아들이려면: changefeed discard {list} --workspace {workspace}',
  ],
  'says.removals.held.page': [
    'Workspace "{workspace}", list "{list}": {>held} Accept them if they are really gone. Discard them to report none, so that receivers keep the records.',
    '워크스페이스 "{workspace}", {listName} 목록: {>held} 실제로 지워진 것이면 승인하세요. 버리면 알리지 않고 받는 쪽에 그대로 둡니다.',
  ],
  'says.creations.held.page': [
    'Workspace "{workspace}", list "{list}": {>held} Accept them if they are really new. Discard them to take them without events.',
    '워크스페이스 "{workspace}", {listName} 목록: {>held} 예상한 일이면 승인하세요. 버리면 이벤트 없이 받아들입니다.',
  ],
  'held.removals.too many': [
    '{count} of {of} records are missing and their removals are held; this is more than may change at once.',
    '{of}건 중 {count}건이 한꺼번에 사라져 삭제 이벤트를 보류했습니다.',
  ],
  'held.removals.replaced': [
    '{count} of {of} records are missing and their removals are held; the list shows other records than before.',
    '{of}건 중 {count}건이 사라지고 다른 레코드들이 나타나 삭제 이벤트를 보류했습니다.',
  ],
  'held.removals.creations': [
    '{count} of {of} records are missing and their removals are held; new records are held too, and the list may be another one.',
    '{of}건 중 {count}건이 사라져 삭제 이벤트를 보류했습니다. 신규 레코드도 보류 중이므로 다른 목록일 수 있습니다.',
  ],
  'held.removals.unreadable': [
    '{count} of {of} records are missing and their removals are held; the list shows rows whose id cannot be read since then, and these may be the records.',
    '{of}건 중 {count}건이 사라졌지만, 그때부터 id를 읽을 수 없는 행이 나타나 같은 레코드일 수 있으므로 삭제 이벤트를 보류했습니다.',
  ],
  'held.creations.too many': [
    '{count} of {of} records are new and are held; this is more than may change at once.',
    '{of}건 중 {count}건이 한꺼번에 새로 나타나 생성 이벤트를 보류했습니다.',
  ],
  'held.creations.replaced': [
    '{count} of {of} records are new and are held; only {seen} of {known} known records were seen. Check whether this is the token of another workspace, or a backup was restored.',
    '{of}건 중 {count}건이 새로 나타나 생성 이벤트를 보류했습니다. 전에 있던 {known}건 중 {seen}건만 보입니다. 다른 워크스페이스의 토큰인지, 백업이 복원되었는지 확인하세요.',
  ],
  'says.subscription.disabled': [
    'Subscription "{called}" has been paused since {since}: {reason} {>waiting} Resume it: changefeed resume {name}.',
    '"{called}": {since}부터 일시 중지되었습니다. 이유: {reason} {>waiting} 다시 시작: changefeed resume {name}',
  ],
  'says.subscription.disabled.page': [
    'Subscription "{called}" has been paused since {since}: {reason} {>waiting} Its page, behind the name above, resumes it.',
    '"{called}": {since}부터 일시 중지되었습니다. 이유: {reason} {>waiting} 위의 이름을 눌러 다시 시작할 수 있습니다.',
  ],
  'waiting.all': ['Its events wait.', '이벤트는 쌓여 있습니다.'],
  'waiting.some': [
    'Its events wait, but log.retention has dropped some of them.',
    '이벤트는 쌓여 있지만 일부는 log.retention에 따라 지워졌습니다.',
  ],
  'says.subscription.failing': [
    'Subscription "{called}": all {count} attempts since {since} have failed.{>last} {>then}',
    '"{called}": {since} 이후의 시도 {count}번이 모두 실패했습니다. 받는 쪽의 상태를 확인하세요.{>last} {>then}',
  ],
  'failing.events': [
    'Events are tried again as its "retry" says, then become dead letters (changefeed dead list --subscription {name}).',
    '이벤트는 retry 설정대로 다시 시도한 뒤 전달 실패가 됩니다(changefeed dead list --subscription {name}).',
  ],
  'failing.digest': [
    'A digest or report is tried again as its "retry" says. Then the next one follows, a digest with the same events; after five in a row the subscription is paused.',
    '요약이나 보고는 retry 설정대로 다시 시도합니다. 그래도 실패하면 다음 요약이 같은 이벤트부터 다시 보내고, 다섯 번 연속 실패하면 받는 곳이 일시 중지됩니다.',
  ],
  'failing.pull': [
    'Nothing more is handed out to it until this is corrected, or what waits is dropped: changefeed skip {name}.',
    '고치기 전에는 다음 이벤트를 내주지 않습니다. 기다리는 것을 버리려면 changefeed skip {name}을 실행하세요.',
  ],
  'says.subscription.unreadable': [
    'Subscription "{called}" cannot be read: {error}',
    '"{called}"의 상태를 읽을 수 없습니다: {error}',
  ],
  'last.error': [' Last error: {error}', ' 마지막 오류: {error}'],
  'says.subscription.unconfigured': [
    'No process has these subscriptions in its configuration, and their events are delivered to nobody: {names} ({waiting} waiting, {dead} dead{>unread}). Another subscription can go on where one of them stopped, with its option start.after. Remove what is left of one: changefeed subscriptions forget {name}.',
    '설정에서 이름이 바뀌었거나 빠진 받는 곳에 이벤트가 남아 있습니다: {names} (대기 {waiting}건, 전달 실패 {dead}건{>unread}). 멈춘 곳부터 다른 받는 곳이 이어받게 하려면 그 받는 곳에 start.after를 설정하고, 지우려면 changefeed subscriptions forget {name}을 실행하세요.',
  ],
  'unread.some': [', and events of the log that it has not read', ', 아직 읽지 않은 이벤트 있음'],
  'unread.none': ['', ''],
  'says.subscription.unconfigured.page': [
    'No process has these subscriptions in its configuration, and their events are delivered to nobody: {names} ({waiting} waiting, {dead} dead{>unread}). Another subscription can go on where one of them stopped, with its option start.after. What is left can be removed below.',
    '설정에서 이름이 바뀌었거나 빠진 받는 곳에 이벤트가 남아 있습니다: {names} (대기 {waiting}건, 전달 실패 {dead}건{>unread}). 멈춘 곳부터 다른 받는 곳이 이어받게 하려면 그 받는 곳에 start.after를 설정하고, 필요 없으면 아래에서 지우세요.',
  ],
  'says.delivery.late': [
    'Subscription "{called}": its oldest event has waited since {since}. {count} events wait: {active} are handled now, {queued} are in the queue, {delayed} wait for a retry. {>remedy}',
    '"{called}": 가장 오래된 이벤트가 {since}부터 기다립니다. 대기 {count}건 중 처리 중 {active}건, 대기열 {queued}건, 재시도 예정 {delayed}건. {>remedy}',
  ],
  'late.paused': ['Its queue is paused: changefeed resume {name}.', '대기열이 멈춰 있습니다: changefeed resume {name}'],
  'late.slow': [
    'Where handlers are too slow, raise "concurrency", or start further processes with the role "handle".',
    '처리가 느리면 concurrency를 높이거나 handle 프로세스를 늘리세요.',
  ],
  'says.delivery.unasked': [
    'Consumer "{called}": its oldest event has waited since {since}. {count} events wait, {underWay} of them were handed out and are not acknowledged. {>asked} Is the program that asks for them running?',
    '"{called}": 가장 오래된 이벤트가 {since}부터 가져가기를 기다립니다. 대기 {count}건 중 {underWay}건은 내주었지만 확인되지 않았습니다. {>asked} 가져가는 프로그램이 실행 중인지 확인하세요.',
  ],
  'asked.last': ['It last asked at {askedAt}.', '마지막 요청: {askedAt}.'],
  'asked.never': ['It has never asked.', '아직 한 번도 요청하지 않았습니다.'],
  'says.delivery.unread': [
    'Subscription "{called}" has not begun to read the log: no process with the role "dispatch" has it in its configuration, or the log of that process says why it cannot begin.',
    '"{called}": 아직 로그를 읽기 시작하지 않았습니다. dispatch 역할의 프로세스에 이 받는 곳이 설정되어 있는지, 그 프로세스의 로그에 원인이 있는지 확인하세요.',
  ],
  'says.delivery.dead': [
    'Subscription "{called}": {count} dead {count|letter waits|letters wait} for a decision.{>last} Correct the cause, then: changefeed dead retry --all --subscription {name}; or drop them: changefeed dead drop.',
    '"{called}": 전달 실패 {count}건이 처리를 기다립니다.{>last} 원인을 고친 뒤 다시 보내거나(changefeed dead retry --all --subscription {name}) 버리세요(changefeed dead drop).',
  ],
  'says.delivery.dead.page': [
    'Subscription "{called}": {count} dead {count|letter waits|letters wait} for a decision.{>last} Correct the cause, then retry or drop them: the name above leads there.',
    '"{called}": 전달 실패 {count}건이 처리를 기다립니다.{>last} 원인을 고친 뒤, 위의 이름을 눌러 다시 보내거나 버리세요.',
  ],
  'says.snapshot.incomplete': [
    'Subscription "{called}", workspace "{workspace}": every record of {lists} was sent again, but not all arrived, so records that are gone stay with the receiver. In the way: {held} held, {unreadable} unreadable, {dead} dead {dead|letter|letters}, {dropped} dropped.{>among} The end follows by itself once held records are accepted or discarded, unreadable ones can be read, and dead letters are retried and delivered. What was dropped is sent by another snapshot: changefeed snapshot {name}.',
    '"{called}", 워크스페이스 "{workspace}": {lists} 목록의 모든 레코드를 다시 보냈지만 일부가 도착하지 않아, 사라진 레코드가 받는 쪽에 남아 있을 수 있습니다. 보류 {held}건, 읽지 못함 {unreadable}건, 전달 실패 {dead}건, 버림 {dropped}건.{>among} 보류를 승인하거나 버리고, 읽지 못한 레코드가 읽히고, 전달 실패를 다시 보내 전달되면 자동으로 끝납니다. 버린 것은 스냅샷을 다시 보내세요: changefeed snapshot {name}',
  ],
  'incomplete.among': [' Among them: {records}.', ' 예: {records}.'],
  'says.copy.wrong': [
    'Subscription "{called}": {count} {count|record of its copy is|records of its copy are} not as the CRM showed them: {behind} behind, {missing} missing, {extra} that the list no longer has. Show which: changefeed verify {name}; send them again: changefeed verify {name} --repair.',
    '"{called}": 사본의 레코드 {count}건이 CRM과 다릅니다(오래됨 {behind}건, 없음 {missing}건, CRM에 없는 것 {extra}건). changefeed verify {name}(으)로 확인하고, 다시 보내려면 changefeed verify {name} --repair를 실행하세요.',
  ],
  'says.role.missing': [
    'No process has the role "{role}": {>effect}. Start one: changefeed start --only {role}, or changefeed start for all roles.',
    '"{role}" 역할을 맡은 프로세스가 없습니다: {>effect} 시작하세요: changefeed start --only {role} (모든 역할은 changefeed start)',
  ],
  'effect.poll': ['no list is swept', '목록을 읽지 않습니다.'],
  'effect.dispatch': ['no event reaches a queue', '이벤트가 대기열로 가지 않습니다.'],
  'effect.handle': ['no handler runs', '처리되는 이벤트가 없습니다.'],
  'says.loop.stalled': [
    'The loop "{loop}" of process {pid} on {host} has made no progress since {since}. It is started again; if the problem remains, restart the process.',
    '{host}의 프로세스 {pid}: "{loop}" 작업이 {since}부터 진행되지 않아 다시 시작했습니다. 계속되면 프로세스를 다시 시작하세요.',
  ],
  'says.loop.failing': [
    'The loop "{loop}" of process {pid} on {host} has failed in every turn since {since}, and what it does is not done. It is tried again at least every 30 s. Last error: {error}',
    '{host}의 프로세스 {pid}: "{loop}" 작업이 {since}부터 계속 실패합니다. 30초마다 다시 시도합니다. 마지막 오류: {error}',
  ],
  'says.rules.differ': [
    'The processes {one} and {other} read different files of rules: a rule may run in one of them only. Put the file into the image or on a path that all share.',
    '프로세스 {one}와(과) {other}의 규칙 파일이 달라, 한쪽에서만 동작하는 규칙이 있을 수 있습니다. 파일을 이미지에 넣거나 함께 쓰는 경로에 두세요.',
  ],
  'says.rules.missing': [
    'The file of rules {file} is gone, empty or unreadable since {since}. The {count} {count|rule|rules} that it had go on until the process starts again. Put it back. If they are to be gone: changefeed rules forget-missing.',
    '규칙 파일 {file}이(가) {since}부터 없거나 비었거나 읽을 수 없습니다. 있던 규칙 {count}개는 프로세스가 다시 시작할 때까지 그대로 동작합니다. 파일을 되돌려 놓으세요. 정말 지우려면: changefeed rules forget-missing',
  ],
  'says.rules.begun without': [
    'The {count} {count|rule|rules} that ran until {since} do not run: the process has started without its file of rules {file}. Mount or restore it, and they go on where they stopped. If they are to be gone: changefeed rules forget-missing.',
    '{since}까지 동작하던 규칙 {count}개가 동작하지 않습니다. 규칙 파일 {file} 없이 프로세스가 시작했습니다. 파일을 마운트하거나 되돌려 놓으면 멈춘 곳부터 이어집니다. 정말 지우려면: changefeed rules forget-missing',
  ],
  'says.configuration.refused': [
    'Process {pid} on {host}: {>what} was changed, is not valid, and was not applied. What ran goes on, until the process starts again. {error}',
    '{host}의 프로세스 {pid}: 바뀐 {>what}에 오류가 있어 적용하지 않았습니다. 프로세스가 다시 시작할 때까지는 이전 것이 그대로 동작합니다. {error}',
  ],
  'refused.configuration': ['the configuration', '설정'],
  'refused.workspaces': ['a workspace that came at run time', '실행 중에 추가한 워크스페이스'],
  'refused.rules': ['the file of rules', '규칙 파일'],
  'says.process.overloaded': [
    'Process {pid} on {host} has too little processor for {count} {count|workspace|workspaces}: {lists} lists are due and wait for their turn, the first for {forMs}. Nothing is lost, and changes are noticed late. Start further processes with the role "poll", give it more processor, or set intervals.',
    '{host}의 프로세스 {pid}: 워크스페이스 {count}개를 맡기에는 CPU가 부족해 목록 {lists}개가 차례를 기다립니다(가장 오래 {forMs}). 빠지는 변경은 없지만 늦게 발견됩니다. poll 프로세스나 CPU를 늘리거나 interval을 정하세요.',
  ],
  'says.clock.stepped': [
    '{>what} Nothing waits for it. Times of events, due todos and signatures of webhooks follow the clock: keep it right with a time server.',
    '{>what} 수집과 전달은 계속되지만 이벤트의 시각, TODO의 기한, 웹훅의 서명은 시계를 따릅니다. 시간 동기화를 확인하세요.',
  ],
  'clock.back': [
    'The clock of process {pid} on {host} was set back by {byMs}.',
    '{host}의 프로세스 {pid}의 시계가 {byMs} 뒤로 바뀌었습니다.',
  ],
  'clock.forward': [
    'The clock of process {pid} on {host} was set forward by {byMs}, or the machine was suspended.',
    '{host}의 프로세스 {pid}의 시계가 {byMs} 앞으로 바뀌었거나 컴퓨터가 잠들어 있었습니다.',
  ],
  'clock.apart': [
    'The clock of process {pid} on {host} and that of Redis are {byMs} apart.',
    '{host}의 프로세스 {pid}의 시계가 Redis의 시계와 {byMs} 다릅니다.',
  ],
  'clock.here': [
    'The clock of this machine and that of Redis are {byMs} apart.',
    '이 컴퓨터의 시계가 Redis의 시계와 {byMs} 다릅니다.',
  ],
  'clock.future': [
    'Workspace "{workspace}", list "{list}": the stored time {time} lies in the future, so a clock was ahead, or is behind now.',
    '워크스페이스 "{workspace}", {listName} 목록: 저장된 시각({time})이 미래입니다. 시계가 앞서 있었거나 지금 뒤처져 있습니다.',
  ],
  'says.problem.over': [
    'Workspace "{workspace}"{place}: {problem} is over, after {forMs}.',
    '워크스페이스 "{workspace}": "{>title}" 문제가 {forMs} 만에 해결되었습니다.',
  ],
  'says.snapshot.complete': [
    'Redis forgot changes, so every record of list "{list}" was sent. A record that you have with a lower sequence than this event is gone.',
    'Redis가 변경을 잊어 {listName} 목록의 모든 레코드를 다시 보냈습니다. 이 이벤트보다 낮은 sequence의 레코드는 더 이상 없습니다.',
  ],
} as const satisfies Readonly<Record<string, readonly [en: string, ko: string]>>;
