/** The texts of erasing a record, in English and in Korean, as those of the rest of the page. */
export const eraseTexts = {
  'erase.label': ['Erase the record', '레코드 지우기'],
  'erase.title': ['Erase {name}', '{name} 지우기'],
  'erase.sure': [
    'The stored record, its {count} event{s} in the log, and what subscriptions keep of it are erased. It is kept out from then on, also while the CRM shows it. This cannot be undone.',
    '저장된 레코드와 로그의 이벤트 {count}건, 받는 곳이 보관한 내용을 모두 지웁니다. CRM에 남아 있어도 다시 저장하지 않습니다. 되돌릴 수 없습니다.',
  ],
  'erase.done': [
    'Erased, with {count} event{s} in the log. Waiting deliveries: {deliveries}; dead letters: {dead}; receipts: {receipts}; rows of tables: {rows}.',
    '레코드와 로그의 이벤트 {count}건을 지웠습니다. 대기 중인 전달 {deliveries}건, 전달 실패 {dead}건, 전달 기록 {receipts}건, 테이블 행 {rows}건도 지웠습니다.',
  ],
  'erase.running': [
    '{count} of its events are still being handled. Erase it again when they have ended.',
    '이벤트 {count}건을 아직 처리하고 있습니다. 끝난 뒤 다시 지우세요.',
  ],
  'erase.disk.rewriting': [
    'Redis writes its files anew now. Until it has done so, they still have the record.',
    'Redis가 파일을 새로 쓰고 있습니다. 끝날 때까지 파일에는 레코드가 남아 있습니다.',
  ],
  'erase.disk.refused': [
    'Redis did not write its files anew: run BGREWRITEAOF (and BGSAVE) there.',
    'Redis가 파일을 새로 쓰지 않았습니다. Redis에서 BGREWRITEAOF(와 BGSAVE)를 실행하세요.',
  ],
  'erase.related': [
    '{count} other record{s} {count|contains|contain} its id, name, e-mail address or phone number and {count|is|are} not erased:',
    '이 레코드의 ID, 이름, 이메일, 전화번호가 들어 있는 다른 레코드 {count}건은 지우지 않습니다:',
  ],
  'erase.in.log': [
    'A notice in the log names it, until retention drops the notice: {name}',
    '로그의 알림에 이 레코드가 나옵니다. 보관 기간이 지나면 없어집니다: {name}',
  ],
  'erase.in.subscription': [
    'The subscription {name} names it, in the reason of its pause or its last error: resume it.',
    '받는 곳 {name}의 중지 사유나 마지막 오류에 이 레코드가 나옵니다. 받는 곳을 다시 시작하세요.',
  ],
  'erase.in.rule': [
    'The rule {name} names it: correct the rule.',
    '규칙 {name}에 이 레코드가 나옵니다. 규칙을 고치세요.',
  ],
  'erase.receipt': ['Erased on {time}: {list} {id} of {workspace}.', '{time}에 지웠습니다: {workspace} {list} {id}'],
  'erase.tombstone': ['In the records of decisions it is called {tombstone}.', '결정 기록에서의 표시: {tombstone}'],
  'erase.receiptCopy': ['Copy the receipt', '확인서 복사'],
  'erase.receiptCopied': ['Copied', '복사됨'],
  'erase.more': ['and {count} more', '외 {count}건'],
  'erase.outOfReach': [
    'Out of reach: backups, and what these have delivered: {names}.',
    '지울 수 없는 곳: 백업, 그리고 다음 받는 곳이 이미 전달한 내용: {names}.',
  ],
} as const satisfies Readonly<Record<string, readonly [en: string, ko: string]>>;
