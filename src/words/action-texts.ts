/** Texts of what a person decides and what came of it, in English and in Korean: a line for each outcome of an action. */
export const ACTION_TEXTS = {
  'act.unchanged': ['Nothing was changed.', '바뀐 것은 없습니다.'],
  'act.continue': ['Continue? [y/N]', '계속할까요? [y/N]'],
  'act.progress': ['{count} so far', '지금까지 {count}건'],

  'workspaces.active': ['{name}: active', '{name}: 조회 중'],
  'workspaces.paused': ['{name}: paused; what was found is delivered', '{name}: 멈춤. 이미 찾은 것은 전달합니다'],
  'workspaces.removed': [
    '{name}: removed; everything of it is erased at {until}, and until then it can be put back',
    '{name}: 삭제됨. {until}에 모두 지우며, 그 전에는 되돌릴 수 있습니다',
  ],
  'workspaces.erasing': ['{name}: everything of it is being erased', '{name}: 모두 지우는 중'],
  'workspaces.of configuration': ['{name}: of the configuration', '{name}: 설정에 있음'],
  'workspaces.erased': ['{name} is gone: {count} keys were erased.', '{name}을(를) 모두 지웠습니다: 키 {count}개.'],
  'workspaces.confirm': [
    'This erases everything of {name}, with what waits for subscriptions, and cannot be undone',
    '{name}의 모든 것을 전달을 기다리는 것까지 지웁니다. 되돌릴 수 없습니다',
  ],
  'workspaces.none': ['There is no workspace yet.', '아직 워크스페이스가 없습니다.'],
  'usage.head': ['|requests|rows|events|deliveries|bytes', '|요청|행|이벤트|전달|바이트'],
  'usage.total': ['together', '합계'],
  'usage.none': ['nothing was used in these days', '이 기간에 쓴 것이 없습니다'],

  'invite.done': [
    '{name} signs in with this link until {until}. It is shown once; send it to {name} alone:\n{link}',
    '{name} 님은 {until}까지 이 링크로 로그인합니다. 지금 한 번만 보이니 본인에게만 보내세요.\n{link}',
  ],
  'invite.address': [
    'Set http.publicUrl if people open the page under another address.',
    '다른 주소로 페이지를 연다면 http.publicUrl을 설정하세요.',
  ],
  'invite.machine': [
    'Only this machine can open it: for others, set http.host, http.tokens and http.publicUrl.',
    '이 컴퓨터에서만 열 수 있습니다. 다른 곳에서 열려면 http.host, http.tokens, http.publicUrl을 설정하세요.',
  ],
  'invite.none': ['Nobody is invited.', '초대된 사람이 없습니다.'],
  'invite.until': ['until {until}', '{until}까지'],
  'invite.revoked': [
    '{name} is no longer invited; their sessions end within seconds.',
    '{name} 님의 초대를 취소했습니다. 로그인도 몇 초 안에 끝납니다.',
  ],
  'invite.unknown': ['{name} is not invited.', '{name} 님은 초대되어 있지 않습니다.'],

  'describeSubscription.done': [
    '"{subscription}" gets {on} at {place}. In the last hour: {delivered} delivered, {retry} to be tried again, {dead} dead, {skipped} skipped.',
    '"{subscription}": {on} → {place}. 지난 한 시간: 전달 {delivered}, 다시 시도 {retry}, 전달 실패 {dead}, 건너뜀 {skipped}.',
  ],
  'pause.done': [
    '"{subscription}" is paused: its events wait until it is resumed.',
    '"{subscription}" 전송을 멈췄습니다. 다시 시작할 때까지 이벤트는 기다립니다.',
  ],
  'pause.already': ['"{subscription}" was already paused.', '"{subscription}"은(는) 이미 멈춰 있습니다.'],
  'resume.done': [
    '"{subscription}" is resumed; it was paused at {at}: {reason}',
    '"{subscription}" 전송을 다시 시작했습니다. 멈춘 때: {at}, 이유: {reason}',
  ],
  'resume.not': ['"{subscription}" was not paused.', '"{subscription}"은(는) 멈춰 있지 않았습니다.'],
  'resume.missing': [
    'Events that log.retention deleted in the meantime are lost to it.',
    '그사이 log.retention이 지운 이벤트는 보낼 수 없습니다.',
  ],
  'skip.waits': [
    '{events} for "{subscription}" ({unread} not read from the log, {queued} in the queue)',
    '"{subscription}"을(를) 기다리는 {events}(로그에서 읽지 않은 것 {unread}, 큐에 있는 것 {queued})',
  ],
  'skip.confirm': ['This drops {waits}, which cannot be undone', '되돌릴 수 없습니다. 버릴 것: {waits}'],
  'skip.done': ['Dropped: {waits}. Dead letters stay.', '버린 것: {waits}. 전달 실패는 남습니다.'],
  'skip.running': ['{events} being handled will end.', '처리 중인 {events}은 끝까지 처리합니다.'],
  'forgetSubscription.confirm': [
    'This removes everything of the subscription "{subscription}" ({waiting} waiting, {dead} dead), which cannot be undone',
    '되돌릴 수 없습니다. 받는 곳 "{subscription}"에 대해 저장된 것을 모두 지웁니다(대기 {waiting}, 전달 실패 {dead})',
  ],
  'forgetMissingRules.done': ['{count} rules are forgotten.', '규칙 {count}개를 지웠습니다.'],
  'forgetSubscription.done': [
    'The subscription "{subscription}" is forgotten.',
    '받는 곳 "{subscription}"에 대해 저장된 것을 지웠습니다.',
  ],
  'snapshot.done': [
    'The running service sends every record of {workspaces} to "{subscription}", each list once it has been swept.',
    '켜져 있는 서비스가 {workspaces}의 모든 레코드를 "{subscription}"에 보냅니다. 목록마다 한 번 수집된 뒤에 보냅니다.',
  ],
  'snapshot.nothing': [
    'Nothing was stored yet that "{subscription}" could get.',
    '"{subscription}"에 보낼 것이 아직 저장되지 않았습니다.',
  ],
  'replay.dryRun': ['{events} would be sent to "{subscription}" again.', '"{subscription}"에 다시 보낼 {events}.'],
  'replay.done': ['{events} sent to "{subscription}" again.', '"{subscription}"에 {events}을 다시 보냈습니다.'],
  'replay.interrupted': [
    '{events} sent to "{subscription}" again so far; the running service, or the next one, sends the rest.',
    '"{subscription}"에 지금까지 {events}을 다시 보냈습니다. 나머지는 켜져 있는 서비스나 다음 서비스가 보냅니다.',
  ],
  'replay.lasts': [
    'At its rate that takes at least {duration}; new events go between them.',
    '보내는 속도로 적어도 {duration} 걸리며, 새 이벤트는 그 사이에 보냅니다.',
  ],
  'replayStop.done': ['Stopped; {events} dropped from the queue.', '멈췄습니다. 대기열에서 {events}을 버렸습니다.'],
  'replayStop.nothing': ['No such replay is being sent.', '보내고 있는 것이 없습니다.'],

  'deadRetry.dryRun': [
    '{count} dead {count|letter|letters} would be handled again.',
    '다시 처리할 전달 실패 {count}건.',
  ],
  'deadRetry.done': [
    '{count} dead {count|letter|letters} to be handled again.',
    '전달 실패 {count}건을 다시 처리합니다.',
  ],
  'deadDrop.confirm': [
    'This drops {count} dead {count|letter|letters}, which cannot be undone',
    '되돌릴 수 없습니다. 전달 실패 {count}건을 지웁니다',
  ],
  'deadDrop.done': ['{count} dead {count|letter|letters} dropped.', '전달 실패 {count}건을 지웠습니다.'],

  'held.none': ['List "{list}": nothing is held.', '목록 "{list}": 보류된 것이 없습니다.'],
  'accept.done': [
    'List "{list}": {count} held {count|record|records} accepted; the next complete sweep that still finds them emits them.',
    '목록 "{list}": 보류된 {count}건을 승인했습니다. 다음 수집에서도 그대로면 알립니다.',
  ],
  'discard.confirm': [
    'This forgets {count} held {count|record|records} of the list "{list}": no event reports them',
    '목록 "{list}"이(가) 보류한 {count}건을 넘깁니다. 이벤트로 알리지 않습니다',
  ],
  'discard.done': [
    'List "{list}": {count} held {count|record|records} discarded.',
    '목록 "{list}": 보류된 {count}건을 넘겼습니다.',
  ],
  'mute.done': [
    '{subscription} says nothing more of "{record}", until it is unmuted.',
    '"{record}": 해제할 때까지 {subscription}에서 알리지 않습니다.',
  ],
  'mute.until': [
    '{subscription} says nothing of "{record}" until {until}.',
    '"{record}": {until}까지 {subscription}에서 알리지 않습니다.',
  ],
  'unmute.done': [
    '{subscription} says something of "{record}" again.',
    '"{record}": {subscription}에서 다시 알립니다.',
  ],
  'unmute.not': [
    '"{record}" is not muted for {subscription}.',
    '"{record}": {subscription}에서 알리지 않는 레코드가 아닙니다.',
  ],
  'muted.none': ['{subscription} mutes no record.', '{subscription}에서 알리지 않는 레코드가 없습니다.'],
  'muted.until': ['until {until}', '{until}까지'],
  'snooze.done': [
    'Until {until}, nothing is told of {record}. If it is still unchanged then, it is told to {subscriptions}.',
    '{until}까지 {record}을(를) 알리지 않습니다. 그때도 변경이 없으면 {subscriptions}에 알립니다.',
  ],
  'resync.confirm': [
    'This drops the baseline of {lists}: changes since the last sweep will make no events',
    '{lists}의 기준을 버립니다. 마지막 수집 이후의 변경은 이벤트가 되지 않습니다',
  ],
  'resync.done': [
    'The baseline of {lists} is dropped; the next sweep makes no events. Records and sequences stay.',
    '{lists}의 기준을 버렸습니다. 다음 수집은 이벤트를 만들지 않습니다. 레코드와 순번은 남습니다.',
  ],
  'erase.confirm': [
    'This erases the record {id} of the list "{list}" and all that is kept of it, and cannot be undone',
    '되돌릴 수 없습니다. 목록 "{list}"의 레코드 {id}와 그에 대해 보관한 것을 모두 지웁니다',
  ],
} as const;
