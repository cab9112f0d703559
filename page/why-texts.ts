/** The texts of the question why a message did not come, and of sending one again. */
export const whyTexts = {
  'why.title': ['Why did it not come?', '왜 안 왔나요?'],
  'why.where': ['To whom', '받는 곳'],
  'why.name': ['Name or id of the record', '레코드 이름 또는 ID'],
  'why.none': [
    'Nothing called so has changed in the last 7 days, or the name is written otherwise.',
    '지난 7일 동안 이 이름의 레코드는 바뀌지 않았습니다. 이름이 다르게 적혀 있을 수도 있습니다.',
  ],
  'why.more': [
    'Older changes were not looked at: the log is long.',
    '더 오래된 변경은 로그가 길어 확인하지 못했습니다.',
  ],
  'why.delivered': ['It came: delivered {when}.', '왔습니다: {when}에 전달했습니다.'],
  'why.digest': [
    'It came in one message about {count} events, {when}.',
    '왔습니다: {when}에 {count}건을 묶은 메시지로 보냈습니다.',
  ],
  'why.retry': [
    'Not yet: the receiver did not take it, and it is tried again.',
    '아직: 받는 쪽이 받지 못해 다시 시도하고 있습니다.',
  ],
  'why.pending': ['Not yet: it waits.', '아직: 기다리고 있습니다.'],
  'why.paused': ['Not yet: it is paused, and its messages wait.', '아직: 일시 중지되어 쌓이고 있습니다.'],
  'why.dead': [
    'No: the receiver refused it in every attempt.',
    '아니요: 여러 번 시도했지만 받는 쪽이 받지 않았습니다.',
  ],
  'why.skipped': ['No: {reason}.', '아니요: {reason}.'],
  'why.not selected': ['No: it is not for it, because of', '아니요: 조건에 맞지 않았습니다:'],
  'why.no receipt': [
    'It is not known: the change is from before this receiver began, or its receipt is no longer kept.',
    '알 수 없습니다: 이 받는 곳이 시작되기 전의 변경이거나 전달 기록이 지워졌습니다.',
  ],
  'again.label': ['Send again', '다시 보내기'],
  'again.what': [
    'This one is sent to {name} once more, with the same id: a receiver that keeps ids takes it for the same.',
    '이것 하나를 {name}에 같은 ID로 다시 보냅니다. ID를 기억하는 곳은 같은 것으로 봅니다.',
  ],
  'again.done': ['It is being sent.', '보내고 있습니다.'],
  'again.none': ['The log no longer has it, or the rule does not select it.', '로그에 없거나 조건에 맞지 않습니다.'],
} as const satisfies Readonly<Record<string, readonly [en: string, ko: string]>>;
