/** The texts of muted records, in English and in Korean. */
export const mutedTexts = {
  'muted.title': ['Muted records', '알리지 않는 레코드'],
  'muted.intro': ['Nothing is said of them here, whatever happens to them.', '무엇이 바뀌어도 여기로 알리지 않습니다.'],
  'muted.forGood': ['until it is unmuted', '해제할 때까지'],
  'muted.till': ['until {until}', '{until}까지'],
  'muted.undo': ['Unmute', '다시 알리기'],
  'muted.question': ['Is it told of again, from the next change on?', '다음 변경부터 다시 알릴까요?'],
} as const satisfies Readonly<Record<string, readonly [en: string, ko: string]>>;
