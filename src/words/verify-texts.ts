/** The texts of `verify`, on a terminal and on the page, in English and in Korean. */
export const VERIFY_TEXTS = {
  'verify.copy.tables': ['its tables', '테이블'],
  'verify.copy.file': ['the file', '파일'],
  'verify.copy.rows': ['the rows of a program', '프로그램이 준 행'],
  'verify.right': [
    '"{name}": the copy is right: {records}, compared with {copy} in {time}.',
    '"{name}": 사본이 CRM과 같습니다. {records}을 {time} 만에 비교했습니다({copy}).',
  ],
  'verify.wrong': [
    '"{name}": {count} of {records} {count|is|are} wrong, compared with {copy} in {time}.',
    '"{name}": {records} 중 {count}건이 CRM과 다릅니다({copy}, {time}).',
  ],
  'verify.records': ['{count} {count|record|records}', '레코드 {count}건'],
  'verify.head': ['list|equal|in flight|behind|missing|extra|named', '목록|같음|전달 중|오래됨|없음|남음|이유 있음'],
  'verify.equal': ['equal', '같음'],
  'verify.inFlight': ['in flight', '전달 중'],
  'verify.behind': ['behind', '오래됨'],
  'verify.missing': ['missing', '없음'],
  'verify.extra': ['extra', '남음'],
  'verify.dead': ['dead letter {count}', '전달 실패 {count}'],
  'verify.dropped': ['dropped {count}', '버림 {count}'],
  'verify.held': ['held {count}', '보류 {count}'],
  'verify.unreadable': ['unreadable {count}', '읽을 수 없음 {count}'],
  'verify.discarded': ['discarded {count}', '버림 {count}'],
  'verify.erased': ['erased {count}', '삭제 요청 {count}'],
  'verify.unjudged': ['not judged {count}', '판단 불가 {count}'],
  'verify.examples': ['The first ones that are wrong:', '다른 레코드:'],
  'verify.example.behind': [
    'behind: the copy has sequence {copy}, the feed {feed}',
    '오래됨: 사본의 sequence {copy}, 최신 {feed}',
  ],
  'verify.example.missing': ['missing: the feed has sequence {feed}', '없음: 최신 sequence {feed}'],
  'verify.example.extra': ['extra: the list no longer has it', '남음: 목록에 더 이상 없습니다'],
  'verify.doubt': [
    '{list}: the subscription does not get every event of it ({options}), so records that differ are not judged.',
    '{list}: 이 받는 곳은 이 목록의 모든 이벤트를 받지 않으므로({options}) 다른 레코드를 판단하지 않습니다.',
  ],
  'verify.doubt.off': [
    '{list}: it is not polled, so nothing says what the CRM has.',
    '{list}: 수집하지 않는 목록이라 비교할 수 없습니다.',
  ],
  'verify.doubt.rows': [
    '{list}: its rows are events and are only recognised: there is no state to compare.',
    '{list}: 이력 목록이라 비교할 상태가 없습니다.',
  ],
  'verify.doubt.waiting': ['{list}: it has not been swept yet.', '{list}: 아직 끝까지 읽지 않았습니다.'],
  'verify.doubt.receipts': [
    '{list}: with settle and without receipts, nothing says which changes cancelled each other out.',
    '{list}: settle을 쓰고 전달 기록을 남기지 않아 서로 상쇄된 변경을 알 수 없습니다.',
  ],
  'verify.repair': [
    'Send them again: {command}. What was missing from the start comes with it too, or with: {snapshot}.',
    '다시 보내려면: {command}. 처음부터 없던 레코드도 함께 보냅니다(전체를 보내려면: {snapshot}).',
  ],
  'verify.repaired': [
    '{count} {count|record is|records are} sent again, in order. Verify once more when they are delivered.',
    '{count}건을 차례대로 다시 보냅니다. 전달된 뒤 다시 확인하세요.',
  ],
  'verify.compared': ['{count} compared', '{count}건 비교'],
} as const;
