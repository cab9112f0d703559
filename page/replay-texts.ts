/** The texts of sending events once more. */
export const replayTexts = {
  'replay.label': ['Replay', '다시 보내기'],
  'replay.title': ['Send events to {name} again', '{name}: 이벤트 다시 보내기'],
  'replay.from': ['Since', '범위'],
  'replay.from.1h': ['the last hour', '지난 1시간'],
  'replay.from.24h': ['the last 24 hours', '지난 24시간'],
  'replay.from.7d': ['the last 7 days', '지난 7일'],
  'replay.from.time': ['a time …', '시각 지정 …'],
  'replay.from.beginning': ['the beginning of the log', '로그 처음부터'],
  'replay.time': ['Time', '시각'],
  'replay.type': ['Only events of the type (* allowed)', '이 종류의 이벤트만 (* 사용 가능)'],
  'replay.record': ['Only the record with the id', '이 ID의 레코드만'],
  'replay.failed': ['Only what ended as a dead letter and is none now', '전달 실패가 되었다가 지금은 아닌 이벤트만'],
  'replay.sure': [
    '{count} event{s} will be sent again. Their ids stay the same.',
    '이벤트 {count}건을 다시 보냅니다. 이벤트 ID는 같습니다.',
  ],
  'replay.lasts': [
    'At the rate of the subscription that takes at least {duration}; new events go between them.',
    '받는 곳의 전송 속도로 최소 {duration} 걸리며, 새 이벤트는 그 사이에 보냅니다.',
  ],
  'replay.started': [
    'The replay has begun. This page shows how far it is.',
    '다시 보내기를 시작했습니다. 진행 상황은 이 화면에 나타납니다.',
  ],
  'replay.progress': [
    'Replay: {count} event{s} sent, up to {reached} of {until}.',
    '다시 보내는 중: {count}건 보냄, {until} 중 {reached}까지.',
  ],
  'replay.stop': ['Stop', '중지'],
  'replay.stopSure': [
    'What is not delivered yet is not sent, what waits in the queue neither.',
    '대기열에 있는 것을 포함해 아직 전달하지 않은 이벤트는 보내지 않습니다.',
  ],
} as const;
