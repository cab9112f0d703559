/** What each problem means and what to do about it, in Korean. In English, the message of the log says it. */
import type { NoticeKind } from '../../src/events/types.js';

export const koProblems: Readonly<Record<NoticeKind, string>> = {
  'redis.evicts':
    'Redis가 메모리 정책에 따라 키를 지울 수 있어 수집과 전달을 멈추었습니다. maxmemory-policy를 noeviction으로 바꾸세요.',
  'redis.refuses': 'Redis가 쓰기를 거부합니다. 읽기 전용 복제본인지, 메모리나 디스크가 가득 찼는지 확인하세요.',
  'state.lost': '저장해 둔 상태가 Redis에 없습니다. 목록을 처음부터 다시 읽으며, 그 사이의 변경은 알 수 없습니다.',
  'state.rewound':
    'Redis가 이전 상태로 되돌아가 최근 기록을 잃었습니다. 모든 목록을 다시 읽으며 일부 이벤트는 반복됩니다. Redis의 영속성 설정을 확인하세요.',
  'api.away':
    'API가 응답하지 않거나 오류만 보냅니다. 네트워크와 설정의 baseUrl을 확인하세요. 돌아오면 자동으로 이어집니다.',
  'sweep.failed': '목록을 끝까지 읽지 못했습니다. 자동으로 다시 시도합니다. 계속되면 원인을 확인하세요.',
  'source.changed':
    '주소나 토큰이 전과 다른 데이터를 가리킵니다. 실수라면 설정을 되돌리고, 의도한 것이라면 changefeed resync를 실행하세요.',
  'token.refused':
    'API가 토큰을 거부했습니다. CRM에서 토큰을 새로 발급하면 이전 토큰은 쓸 수 없습니다. 최신 토큰을 설정에 넣으세요.',
  'list.late': '읽을 때가 지났는데 이 목록을 읽는 프로세스가 없습니다. 수집 프로세스의 상태와 설정을 확인하세요.',
  'list.silent': '이 목록에 평소보다 오래 변경이 없습니다. 권한이나 필터가 바뀌지 않았는지 확인하세요.',
  'list.cut':
    '첫 페이지가 꽉 찼는데 다음 커서가 없습니다. CRM에 레코드가 더 있으면 커서 이름이 바뀌어 나머지를 읽지 못하는 것입니다.',
  'list.restless':
    '같은 필드가 대부분의 레코드에서 거듭 수정된 것으로 나타납니다. 사람이 고치는 값이 아니라면 목록의 refreshed나 ignore에 그 필드를 적으세요.',
  'removals.held': '한 번에 많은 레코드가 사라져 삭제 이벤트를 보류했습니다. 실제 삭제라면 승인하세요.',
  'creations.held': '레코드 대부분이 새것이어서 생성 이벤트를 보류했습니다. 예상한 일이라면 승인하세요.',
  'subscription.disabled':
    '이 구독으로의 전달이 일시 중지되었습니다. 이벤트는 쌓여 있으며, 다시 시작하면 이어서 전달합니다.',
  'subscription.failing': '이 구독의 모든 전달이 실패하고 있습니다. 받는 쪽의 상태를 확인하세요.',
  'subscription.unconfigured':
    '설정에서 이름이 바뀌었거나 빠진 구독에 이벤트가 남아 있습니다. changefeed subscriptions rename으로 옮기거나 forget으로 지우세요.',
  'delivery.late':
    '오래 기다리는 이벤트가 있습니다. 처리가 느리면 concurrency를 높이거나 handle 프로세스를 늘리고, 구독이 멈춰 있으면 다시 시작하세요.',
  'delivery.dead': '전달하지 못한 이벤트가 데드 레터로 남아 있습니다. 원인을 고친 뒤 다시 보내거나 버리세요.',
  'role.missing': '필요한 역할을 맡은 프로세스가 없습니다. changefeed start로 프로세스를 시작하세요.',
  'loop.stalled': '프로세스의 일부가 진행되지 않아 다시 시작했습니다. 계속되면 프로세스를 다시 시작하세요.',
  'loop.failing': '프로세스의 일부가 1분 넘게 계속 실패합니다. 마지막 오류를 확인하세요.',
  'process.overloaded':
    'CPU가 부족해 목록들이 차례를 기다립니다. 빠지는 변경은 없지만 늦게 발견됩니다. poll 프로세스나 CPU를 늘리거나 interval을 정하세요.',
  'clock.stepped':
    '컴퓨터의 시계가 바뀌었거나 Redis의 시계와 다릅니다. 수집과 전달은 계속되지만 이벤트의 시각과 할 일의 기한이 틀릴 수 있습니다. 시간 동기화를 확인하세요.',
  'problem.over': '문제가 해결되었습니다.',
  'snapshot.complete':
    'Redis가 변경을 잊어 목록의 모든 레코드를 다시 보냈습니다. 이 이벤트보다 낮은 sequence의 레코드는 더 이상 없습니다.',
};

/** The list, the numbers and the command of a held problem, from its message in the log. */
export function koHeld(message: string): string {
  const found = /list "(.+?)": (\d+) of (\d+) records .*?(changefeed accept .+?)\.(?:\s|$)/s.exec(message);
  if (found === null) return '';
  const [, list, count, of, command] = found;
  const [, seen, known] = /only (\d+) of (\d+) known/.exec(message) ?? [];
  const replaced = seen === undefined ? '' : ` 전에 있던 ${known}건 중 ${seen}건만 보입니다.`;
  return ` 대상: ${list} 목록의 ${of}건 중 ${count}건.${replaced} 승인 명령: ${command}`;
}

/** Of the errors with which reading a list fails. */
export const koFailures: Readonly<Record<string, string>> = {
  CF_UNAUTHORISED: koProblems['token.refused'],
  CF_SOURCE_CHANGED: koProblems['source.changed'],
  CF_FORBIDDEN: '이 토큰에는 목록을 읽을 권한이 없습니다. 토큰 소유자의 권한과 요금제, 허용된 주소를 확인하세요.',
  CF_RATE_LIMITED: 'API의 요청 한도를 넘었습니다. 한도는 다른 연동과 함께 씁니다. 설정의 budget을 낮추세요.',
  CF_UNAVAILABLE: 'API가 응답하지 않습니다. 자동으로 다시 시도합니다.',
  CF_REQUEST_REFUSED: 'API가 요청을 거부했습니다. 설정의 baseUrl을 확인하세요.',
  CF_PAGE_MALFORMED: 'API의 응답이 약속된 형식이 아닙니다. 그 페이지의 내용은 저장하지 않았습니다.',
};
