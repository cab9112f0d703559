/** Invented names, companies and sentences. None of them is real. */
import type { Dice } from './random.js';

const SURNAMES = ['김', '이', '박', '최', '정', '강', '조', '윤', '장', '임', '한', '오', '서', '신'] as const;
const GIVEN = ['서', '지', '민', '하', '도', '예', '시', '주', '유', '수', '은', '현', '준', '우'] as const;
const COMPANY_HEADS = ['한빛', '새벽', '푸른', '누리', '다온', '가람', '아라', '미르', '하늘'] as const;
const COMPANY_TAILS = ['상사', '테크', '물산', '소프트', '제약', '건설', '유통', '에너지'] as const;
const COMPANY_FORMS = ['(주)', '주식회사 ', '', ''] as const;
const POSITIONS = ['대표이사', '팀장', '과장', '대리', '구매 담당', '연구원', '이사', '매니저'] as const;
const MEMO_OPENINGS = ['통화함.', '방문 미팅.', '이메일 회신 받음.', '데모 진행.', '견적서 전달.'] as const;
const MEMO_BODIES = [
  '예산은 다음 분기에 확정된다고 함',
  '경쟁사 제품과 비교 중이며 가격보다 이관 기간을 중요하게 봄',
  '의사결정자는 이사님, 실무자는 긍정적',
  '보안 검토 자료를 요청함 <보안팀 & 법무팀>',
  '계약서 초안 검토 후 이번 주 안에 회신 예정',
  '"도입 효과"를 수치로 보여 달라고 함',
  '담당자 휴가로 다음 주에 다시 연락하기로 함',
] as const;
const TODO_VERBS = ['전화하기', '견적서 보내기', '미팅 준비', '계약서 검토', '자료 전달', '후속 연락'] as const;
const REFUSALS = ['광고성 정보 수신 거부', '담당자 변경', '잦은 연락'] as const;

export const TODO_TYPES = ['전화', '미팅', '이메일', '할 일'] as const;
export const NO_TODO = '없음';

export function personName(roll: Dice): string {
  return `${roll.pick(SURNAMES)}${roll.pick(GIVEN)}${roll.pick(GIVEN)}`;
}

export function companyName(roll: Dice): string {
  return `${roll.pick(COMPANY_FORMS)}${roll.pick(COMPANY_HEADS)}${roll.pick(COMPANY_TAILS)}`;
}

export const positionName = (roll: Dice): string => roll.pick(POSITIONS);
export const refusalReason = (roll: Dice): string => roll.pick(REFUSALS);

export function memoText(roll: Dice): string {
  const lines = [`${roll.pick(MEMO_OPENINGS)} ${roll.pick(MEMO_BODIES)}`];
  while (roll.chance(0.3)) lines.push(roll.pick(MEMO_BODIES));
  return lines.join('\n');
}

export function todoContent(roll: Dice): string {
  return `${roll.pick(TODO_VERBS)} (${1 + roll.below(9)}차)`;
}

export function phoneNumber(roll: Dice): string {
  return `010${String(roll.below(100_000_000)).padStart(8, '0')}`;
}
