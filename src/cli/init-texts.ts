/** What `init` asks, says and writes into the files, in both languages. */
const ENGLISH = {
  askWorkspace: 'Name of the workspace, a part of every event',
  askBaseUrl: 'Address of the API, before /v2',
  askToken: 'API token, written to .env (hidden; Enter: fill it in later)',
  askFormat: 'Language of the configuration: ts, js or json',
  next: 'Next:',
  writeToken: 'write the API token into .env:',
  sweep: 'reads every list once and stores it: the baseline, which makes no events',
  startJson: 'prints each change as a line of JSON from then on',
  startCode: 'runs your handler for each change of a person from then on',
  outcomes: { written: 'written', 'added to': 'added to', kept: 'kept' },
  tokenLine: `The token of the CRM's API, without "Bearer".`,
  name: 'Part of every event and of the keys in Redis: choose a name that can stay.',
  baseUrl: 'What stands before /v2 in the addresses of the API.',
  token: 'Read from the environment or from .env, which is not committed.',
  budget: 'At most this many requests in 10 s, of the 100 that the API is known to allow to all integrations together.',
  lists: 'Options per list: people, organization, memo, todo, history, activity.',
  readyMade:
    'Ready-made lists: edits are found in seconds, with who made them. "changefeed doctor" says of those switched on whether the API serves them.',
  subscriptions: 'Each subscription gets the events that its `on` selects, in the order of each record.',
  redis: 'Without it, a private Redis is started, with its data in .changefeed/. REDIS_URL in the environment wins.',
  handler:
    'Runs once for each change. What it throws is retried, so it may run again for the same event: `event.id` stays the same.',
  on: "For others: ['crm.todo.completed', 'crm.organization.*']. All of them: ['crm.*']",
  message: 'a person has changed',
  images: 'event.data.before and event.data.after are the record before and after the change.',
};

const KOREAN: typeof ENGLISH = {
  askWorkspace: '워크스페이스 이름(모든 이벤트에 들어갑니다)',
  askBaseUrl: 'API 주소(/v2 앞부분)',
  askToken: 'API 토큰(.env에 저장, 화면에는 보이지 않음. Enter: 나중에 입력)',
  askFormat: '설정 파일 형식: ts, js, json',
  next: '다음 단계:',
  writeToken: '.env에 API 토큰을 적으세요:',
  sweep: '모든 목록을 한 번 읽어 저장합니다(첫 수집, 이벤트 없음)',
  startJson: '그 뒤의 변경을 한 줄에 하나씩 JSON으로 출력합니다',
  startCode: '그 뒤로 고객이 바뀔 때마다 핸들러를 실행합니다',
  outcomes: { written: '작성', 'added to': '추가', kept: '유지' },
  tokenLine: 'CRM API 토큰. "Bearer"는 빼고 적으세요.',
  name: '모든 이벤트와 Redis 키에 들어갑니다. 바꾸지 않을 이름을 고르세요.',
  baseUrl: 'API 주소에서 /v2 앞부분.',
  token: '환경 변수나 .env에서 읽습니다. .env는 커밋하지 않습니다.',
  budget: '10초 동안 보낼 최대 요청 수. API는 모든 연동을 합쳐 100건까지 허용하는 것으로 알려져 있습니다.',
  lists: '목록별 옵션: people, organization, memo, todo, history, activity.',
  readyMade:
    '미리 준비된 목록: 수정을 몇 초 안에, 누가 했는지와 함께 찾습니다. 켠 목록을 API가 제공하는지는 "changefeed doctor"가 확인합니다.',
  subscriptions: '각 받는 곳은 `on`이 고른 이벤트를 레코드별 순서대로 받습니다.',
  redis: '지정하지 않으면 전용 Redis가 시작되고 데이터는 .changefeed/에 저장됩니다. 환경 변수 REDIS_URL이 우선합니다.',
  handler:
    '변경마다 한 번 실행됩니다. 오류를 던지면 다시 시도하므로 같은 이벤트로 또 실행될 수 있습니다. `event.id`는 그대로입니다.',
  on: "다른 이벤트: ['crm.todo.completed', 'crm.organization.*']. 모두: ['crm.*']",
  message: '고객이 변경되었습니다',
  images: 'event.data.before와 event.data.after는 변경 전과 변경 후의 레코드입니다.',
};

export const INIT_TEXTS = { en: ENGLISH, ko: KOREAN };
