/** The texts about the copy of a subscription. */
export const copyTexts = {
  'copy.title': ['Copy', '사본'],
  'copy.never': ['Nobody has compared its tables with the CRM yet.', '아직 테이블을 CRM과 비교하지 않았습니다.'],
  'copy.right': ['The copy is right', '사본이 CRM과 같습니다'],
  'copy.wrong': ['{count} record{s} {count|is|are} wrong', '레코드 {count}건이 CRM과 다릅니다'],
  'copy.age': ['compared {time}', '{time} 비교'],
  'copy.named': ['Not counted as wrong: {names}', '이유가 있어 제외: {names}'],
  'copy.verify': ['Verify', '비교'],
  'copy.verifyTitle': ['Compare the tables of {name} with the CRM', '{name}: 테이블을 CRM과 비교'],
  'copy.verifyWhat': [
    'Every row is compared with what the CRM showed last. Nothing is sent. A large copy takes minutes.',
    '모든 행을 CRM의 최근 상태와 비교합니다. 아무것도 보내지 않습니다. 사본이 크면 몇 분 걸립니다.',
  ],
  'copy.repair': ['Repair', '복구'],
  'copy.repairTitle': ['Send what is wrong in {name} again', '{name}: 다른 레코드를 다시 보내기'],
  'copy.repairWhat': [
    'The tables are compared once more. Records that are wrong are sent again, in order with the changes that follow.',
    '테이블을 다시 비교한 뒤, 다른 레코드를 이후의 변경과 순서를 지켜 다시 보냅니다.',
  ],
} as const;
