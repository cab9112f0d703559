/** The texts of `doctor`, `demo`, `sweep`, `start`, `listen` and `try` on a terminal, in English and in Korean. */
export const COMMAND_TEXTS = {
  'try.found': [
    '"{name}" would have got {selected} of {events} since {when}. Nothing was sent.',
    '"{name}": {when} 이후 {events} 중 {selected}건을 받았을 것입니다. 아무것도 보내지 않았습니다.',
  ],
  'try.refused': ['The others are left out by:', '나머지를 제외한 옵션:'],
  'try.newest': ['The newest:', '최근:'],
  'try.all': ['Its events:', '이벤트:'],
  'try.compared': ['{reason} (found {found}; asked for {wanted})', '{reason} (값 {found}, 조건 {wanted})'],
  'try.why': ['not selected: {reason}', '제외: {reason}'],

  'history.stored': ['stored without an event', '이벤트 없이 저장됨'],
  'history.since': ['Every change since {since} is kept.', '{since} 이후의 변경을 모두 보관합니다.'],
  'history.none': [
    'No history is known: it begins with the first complete sweep.',
    '변경 이력이 없습니다. 첫 전체 수집부터 보관합니다.',
  ],
  'history.more': ['Older changes: {command}', '이전 변경: {command}'],
  'export.since': ['The history of "{list}" is known from {since} on.', '"{list}"의 이력은 {since}부터 알고 있습니다.'],
  'export.done': ['{count} rows.', '{count}행.'],
  'export.cut': [
    'Cut off after {count} rows: the reader closed the output, or the command was stopped.',
    '{count}행 뒤에 끊겼습니다. 읽는 쪽이 출력을 닫았거나 명령이 중지되었습니다.',
  ],
  'export.left': [
    'Not in the columns, because no record has them now: {fields}. --ndjson has them.',
    '지금은 없는 필드라 열에 없습니다: {fields}. --ndjson에는 있습니다.',
  ],
  'restore.done': ['{count} to set back. Nothing was written.', '되돌릴 것 {count}건. 아무것도 쓰지 않았습니다.'],
  'restore.remove': ['remove the record, which came in the period', '이 기간에 생긴 레코드를 삭제'],
  'restore.create': ['create the record again, which went in the period', '이 기간에 없어진 레코드를 다시 생성'],
  'restore.again': ['changed again on {at} by {by}', '{at}에 {by}이(가) 다시 변경'],
  'restore.unknown': ['unknown', '알 수 없음'],

  // What `doctor` says.
  'doctor.ok': ['ok', '정상'],
  'doctor.skipped': ['skipped', '건너뜀'],
  'doctor.warning': ['warning', '경고'],
  'doctor.error': ['error', '오류'],
  'doctor.summary': [
    '{errors} {errors|error|errors}, {warnings} {warnings|warning|warnings}, {fine} in order',
    '오류 {errors}건, 경고 {warnings}건, 정상 {fine}건',
  ],
  'doctor.and': [' and ', ', '],
  'doctor.near': ['at most {seconds} s from the clock of this machine', '이 컴퓨터의 시계와 {seconds}초 이내'],
  'doctor.ahead': ['{seconds} s ahead of the clock of this machine', '이 컴퓨터의 시계보다 {seconds}초 빠름'],
  'doctor.behind': ['{seconds} s behind the clock of this machine', '이 컴퓨터의 시계보다 {seconds}초 느림'],
  'doctor.synchronise': [
    'Synchronise this machine and {whose} with a time server.',
    '이 컴퓨터와 {whose}의 시계를 시간 서버에 맞추세요.',
  ],
  'doctor.whose.redis': ['that of Redis', 'Redis 서버'],

  // Its findings about the API.
  'doctor.token': ['token', '토큰'],
  'doctor.token.accepted': ['accepted', '사용 가능'],
  'doctor.token.unknown': ['not known: no list could be read', '알 수 없음: 읽을 수 있는 목록이 없습니다'],
  'doctor.token.function': [
    'not checked: fetchPage asks with its own',
    '확인하지 않음: fetchPage가 자체 토큰을 씁니다',
  ],
  'doctor.token.refused': ['refused for {lists}: {what}', '거부됨({lists}): {what}'],
  'doctor.token.everyList': ['every list', '모든 목록'],
  'doctor.token.todo': [
    'Set a valid token for workspace "{workspace}".',
    '워크스페이스 "{workspace}"에 유효한 토큰을 넣으세요.',
  ],
  'doctor.list.rows': ['"{key}", {rows} rows', '"{key}", {rows}건'],
  'doctor.list.next': ['{shown}; asked for the next page, {what}', '{shown}; 다음 페이지 요청 실패: {what}'],
  'doctor.list.circle': [
    '{shown}; the cursor of the first page leads to the same rows',
    '{shown}; 첫 페이지의 커서가 같은 레코드로 이어집니다',
  ],
  'doctor.list.missing': ['; not found: {fields}', '; 없는 필드: {fields}'],
  'doctor.list.ends': ['no cursor, the list ends there', '커서가 없어 목록이 여기서 끝납니다'],
  'doctor.list.empty': ['the cursor leads to an empty page', '커서가 빈 페이지로 이어집니다'],
  'doctor.list.goesOn': ['the cursor leads on', '다음 페이지로 이어집니다'],
  'doctor.list.cursorTodo': [
    'Ask the operator of the API: a list is read to where its cursors lead, and its later rows are not seen.',
    'API 운영자에게 문의하세요. 목록은 커서가 이어지는 곳까지만 읽으며 그 뒤의 레코드는 볼 수 없습니다.',
  ],
  'doctor.list.cutTodo': [
    'If the CRM shows more, its cursor has another name: ask the operator of the API.',
    'CRM에 더 많은 레코드가 있다면 커서의 이름이 다른 것입니다. API 운영자에게 문의하세요.',
  ],
  'doctor.list.fieldsTodo': [
    'Compare with "changefeed schema" after a sweep: a field with another name is not understood.',
    '목록을 한 번 읽은 뒤 "changefeed schema"와 비교하세요. 이름이 다른 필드는 알아보지 못합니다.',
  ],
  'doctor.list.caTodo': [
    'Set NODE_EXTRA_CA_CERTS for every process of the feed.',
    '모든 프로세스에 NODE_EXTRA_CA_CERTS를 설정하세요.',
  ],
  'doctor.list.networkTodo': [
    'Check baseUrl, DNS, proxy and firewall from this machine.',
    '이 컴퓨터에서 baseUrl, DNS, 프록시, 방화벽을 확인하세요.',
  ],
  'doctor.list.quotaTodo': [
    'Other clients use up the quota. Lower budget, or ask again later.',
    '다른 연동이 요청 한도를 모두 쓰고 있습니다. budget을 낮추거나 나중에 다시 확인하세요.',
  ],
  'doctor.list.absentTodo': [
    'Check baseUrl: it is what stands before /{path}. If this account has no such list, set enabled: false for it.',
    'baseUrl이 /{path} 앞부분인지 확인하세요. 이 계정에 없는 목록이라면 enabled: false로 끄세요.',
  ],
  'doctor.list.askTodo': ['Ask the operator of the API.', 'API 운영자에게 문의하세요.'],

  // About Redis.
  'doctor.redis.private': [
    'a private one, which keeps its data in {folder} with an append-only file',
    '전용 Redis, 데이터는 {folder}에 저장(append-only file)',
  ],
  'doctor.redis.answers': ['answers', '응답함'],
  'doctor.redis.todo': [
    'Start it, or correct redis.url or REDIS_URL.',
    'Redis를 시작하거나 redis.url 또는 REDIS_URL을 고치세요.',
  ],
  'doctor.redis.state': ['Redis: state', 'Redis: 저장된 상태'],
  'doctor.redis.stateTodo': ['"changefeed start" says the same.', '"changefeed start"도 같은 이유로 멈춥니다.'],
  'doctor.redis.clock': ['Redis: clock', 'Redis: 시계'],
  'doctor.redis.rights': ['Redis: rights', 'Redis: 권한'],
  'doctor.redis.noSweep': ['no sweep can run: {refusal}', '목록을 수집할 수 없음: {refusal}'],
  'doctor.redis.rightsTodo': [
    'Give this user the rights that docs/redis.md lists.',
    'docs/redis.md에 있는 권한을 이 사용자에게 주세요.',
  ],
  'doctor.redis.info': ['Redis: version, memory', 'Redis: 버전, 메모리'],
  'doctor.redis.noInfo': ['this user may not run INFO', '이 사용자는 INFO를 실행할 수 없음'],
  'doctor.redis.version': ['Redis: version', 'Redis: 버전'],
  'doctor.redis.unknown': ['of an unknown version', '(버전을 알 수 없음)'],
  'doctor.redis.tooOld': [
    'Use Redis 7 or newer, or Valkey: BullMQ needs at least 6.2.',
    'Redis 7 이상이나 Valkey를 쓰세요. BullMQ에는 6.2 이상이 필요합니다.',
  ],
  'doctor.redis.old': [
    'Use Redis 7 or newer, or Valkey: older ones are not tested.',
    'Redis 7 이상이나 Valkey를 쓰세요. 더 오래된 버전은 시험하지 않았습니다.',
  ],
  'doctor.redis.writes': ['Redis: writes', 'Redis: 쓰기'],
  'doctor.redis.accepted': ['accepted', '가능'],
  'doctor.redis.replica': ['this server is a replica and accepts no writes', '이 서버는 복제본이라 쓰기를 받지 않음'],
  'doctor.redis.replicaTodo': ['Set redis.url to the primary.', 'redis.url에 기본(primary) 서버를 지정하세요.'],
  'doctor.redis.eviction': ['Redis: eviction', 'Redis: 키 삭제 정책'],
  'doctor.redis.evictionUnknown': [
    'reading maxmemory-policy is not permitted; it must be noeviction',
    'maxmemory-policy를 읽을 권한이 없음(noeviction이어야 함)',
  ],
  'doctor.redis.evicts': [
    'maxmemory-policy {policy}: a full Redis drops state, which loses records and invents events',
    'maxmemory-policy {policy}: 메모리가 차면 저장된 상태를 지우므로 레코드를 잃고 없는 이벤트가 생깁니다',
  ],
  'doctor.redis.allowed': ['; redis.allowEviction accepts this', '; redis.allowEviction이 허용함'],
  'doctor.redis.evictionTodo': [
    'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.',
    'CONFIG SET maxmemory-policy noeviction을 실행하고 redis.conf에도 적으세요.',
  ],
  'doctor.redis.persistence': ['Redis: persistence', 'Redis: 영속성'],
  'doctor.redis.appendOnly': ['append-only file', 'append-only file'],
  'doctor.redis.noAppendOnly': ['no append-only file', 'append-only file 없음'],
  'doctor.redis.nothingKept': [
    'nothing is kept on disk: a restart of Redis loses the state',
    '디스크에 저장하지 않음: Redis가 다시 시작하면 상태가 사라집니다',
  ],
  'doctor.redis.snapshots': [
    'snapshots only: a crash of Redis loses what changed since the last one',
    '스냅숏만 저장함: Redis가 비정상 종료되면 마지막 스냅숏 이후의 변경을 잃습니다',
  ],
  'doctor.redis.persistenceTodo': [
    'CONFIG SET appendonly yes, and the same in redis.conf. Run Redis with a disk that outlives it.',
    'CONFIG SET appendonly yes를 실행하고 redis.conf에도 적으세요. Redis가 꺼져도 남는 디스크를 쓰세요.',
  ],
  'doctor.redis.memory': ['Redis: memory', 'Redis: 메모리'],
  'doctor.redis.unlimited': ['{used} used, no maxmemory', '{used} 사용, maxmemory 없음'],
  'doctor.redis.limited': ['{used} used of {most}', '{most} 중 {used} 사용'],
  'doctor.redis.memoryTodo': [
    'Raise maxmemory before it is full: a full Redis stops polling and delivery.',
    '가득 차기 전에 maxmemory를 늘리세요. 가득 차면 수집과 전달이 멈춥니다.',
  ],

  // About the targets of handlers.
  'doctor.endpoint': ['endpoint of {name}', '{name}의 수신처'],
  'doctor.endpoint.reached': ['{place} can be reached; nothing was sent', '{place}에 연결됨(아무것도 보내지 않음)'],
  'doctor.endpoint.todo': [
    'Check the address, DNS, TLS and firewalls; "changefeed webhook test {name}" sends a test event.',
    '주소, DNS, TLS, 방화벽을 확인하세요. "changefeed webhook test {name}"으로 시험 이벤트를 보낼 수 있습니다.',
  ],
  'doctor.conditions': ['conditions of {name}', '{name}의 조건'],
  'doctor.conditions.todo': [
    'Correct the condition, or leave it until records have such values.',
    '조건을 고치세요. 앞으로 그런 값이 생길 예정이라면 그대로 두어도 됩니다.',
  ],
  'doctor.misnamed': ['No record has a field "{pattern}".', '"{pattern}"에 해당하는 필드가 있는 레코드가 없습니다.'],
  'doctor.misnamed.todo': [
    'Correct the name, or take it out: it is that of a whole field, as changefeed schema {list} shows it.',
    '이름을 고치거나 설정에서 지우세요. changefeed schema {list}에 나오는 필드 전체의 이름을 적습니다.',
  ],
  'doctor.handler': ['handler of {name}', '{name}의 핸들러'],
  'doctor.handler.ready': ['what {handler} needs on this machine is there', '{handler}에 필요한 것이 이 컴퓨터에 있음'],

  // Sweeps, and their progress.
  'sweep.baseline': ['baseline', '첫 수집'],
  'sweep.sweep': ['sweep', '수집'],
  'sweep.begins': [
    'Baseline: every list is read once and stored; no events yet.',
    '첫 수집: 모든 목록을 한 번 읽어 저장합니다. 아직 이벤트는 없습니다.',
  ],
  'sweep.complete': [
    'Baseline complete: {records} {records|record|records} in {lists} {lists|list|lists} {records|is|are} known now.',
    '첫 수집 완료: 목록 {lists}개, 레코드 {records}건을 저장했습니다.',
  ],
  'sweep.cut': [
    'its only page is full and names no cursor: compare with the CRM, it may have more',
    '하나뿐인 페이지가 꽉 찼는데 다음 커서가 없습니다. CRM에 레코드가 더 있는지 확인하세요',
  ],
  'sweep.fromHere': [
    'From here on, changes become events and appear below.',
    '지금부터 바뀌는 것이 이벤트가 되어 아래에 나타납니다.',
  ],
  'sweep.fromHereBy': [
    'From here on, changes become events: "changefeed start" finds them all the time, another "changefeed sweep" once.',
    '지금부터 바뀌는 것이 이벤트가 됩니다. "changefeed start"는 계속, "changefeed sweep"은 한 번 찾습니다.',
  ],
  'sweep.known': [
    'Every list has its baseline: {records} {records|record|records} in {lists} {lists|list|lists} {records|is|are} known. Changes appear below as they are found.',
    '모든 목록의 첫 수집을 마쳤습니다: 목록 {lists}개, 레코드 {records}건. 변경을 찾는 대로 아래에 나타납니다.',
  ],
  'sweep.continuously': [
    'The lists are swept all the time, within the request budget.',
    '요청 한도 안에서 모든 목록을 계속 읽습니다.',
  ],
  'sweep.next': ['The next sweep, of {list}, starts {when}.', '다음 수집({list})은 {when} 시작합니다.'],
  'sweep.count': ['{count} {what}', '{what} {count}'],
  'sweep.muted': ['muted by {rules}', '규칙으로 제외: {rules}'],
  'counted.seen': ['seen', '확인'],
  'counted.unchanged': ['unchanged', '그대로'],
  'counted.baselined': ['baselined', '저장'],
  'counted.created': ['created', '생성'],
  'counted.edited': ['edited', '수정'],
  'counted.refreshed': ['refreshed', '자동 갱신'],
  'counted.touched': ['touched', '시각만 바뀜'],
  'counted.ignored': ['ignored', '무시'],
  'counted.held': ['held', '보류'],
  'counted.deleted': ['deleted', '삭제'],
  'sweep.took': ['({count} {count|page|pages}, {time})', '({count}페이지, {time})'],
  'sweep.records': ['{count} {count|record|records}', '{count}건'],
  'sweep.pages': ['{count} {count|page|pages}', '{count}페이지'],
  'sweep.rate': ['{count}/s', '초당 {count}'],
  'sweep.left': ['about {time} left', '약 {time} 남음'],

  // The demo, the sandbox, and what `start` and `listen` say.
  'demo.title': ['Changefeed demo', 'Changefeed 데모'],
  'demo.made': [
    'a synthetic CRM with {people} people and {records} records in {lists} lists, polled like the real one.',
    '가상의 CRM(고객 {people}명, 목록 {lists}개, 레코드 {records}건)을 실제 CRM처럼 수집합니다.',
  ],
  'demo.changes': ['each change as it is found', '변경을 찾는 대로'],
  'demo.subscriptions': [
    'three receivers; the one of "ops" fails now and then',
    '수신처 세 곳. "ops"는 가끔 실패합니다',
  ],
  'demo.dead': ['what it has refused three times: press Retry', '세 번 거절당한 것. 다시 시도를 눌러 보세요'],
  'demo.todos': ['who has what open, due and overdue', '담당자별 미완료, 기한, 지연'],
  'demo.edit': [
    'Make a change of your own, in another terminal:\n  {command}',
    '다른 터미널에서 직접 하나 바꿔 보세요:\n  {command}',
  ],
  'demo.stop': ['Press Ctrl+C to stop.', 'Ctrl+C를 누르면 멈춥니다.'],
  'demo.stopping': ['stopping …', '멈추는 중 …'],
  'start.page': ['The status page: {link}', '상태 페이지: {link}'],
  'listen.signed': ['The events are signed with {secret}', '이벤트를 다음 키로 서명합니다: {secret}'],
  'listen.again': [
    'The event is sent again until there is an answer.',
    '응답이 없어, 응답이 올 때까지 이 이벤트를 다시 보냅니다.',
  ],
  'listen.noPoll': [
    'No process polls, so no event is new: run "changefeed start" in another terminal.',
    '수집하는 프로세스가 없어 새 이벤트가 없습니다. 다른 터미널에서 "changefeed start"를 실행하세요.',
  ],
  'sandbox.listens': [
    'sandbox listens: base URL {url}  token {token}',
    '가상 CRM 실행 중: base URL {url}  token {token}',
  ],
  'sandbox.try': ['In another terminal: {command}', '다른 터미널에서: {command}'],
} as const;
