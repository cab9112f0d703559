/** Objects that records refer to and no endpoint lists: users, teams, web forms, sequences and products. */
import { fixedUuid } from './ids.js';

export interface Ref {
  readonly id: string;
  readonly name: string;
}

const NAMES = {
  user: ['김서연', '이도현', '박지우', '최민준', '정하은', '강시우', '조예린', '윤태호'],
  team: ['영업 1팀', '영업 2팀', '고객성공팀', '마케팅팀'],
  form: ['상담 신청', '자료 요청', '세미나 등록', '데모 신청', '문의하기'],
  sequence: ['신규 리드 육성', '재계약 안내', '휴면 고객 깨우기'],
  product: ['스탠다드 플랜', '프로 플랜', '엔터프라이즈', '온보딩 컨설팅', '데이터 이관'],
} as const;
export type RefKind = keyof typeof NAMES;
const REF_KINDS = Object.keys(NAMES) as RefKind[];

export class Directory {
  readonly #refs: Readonly<Record<RefKind, Ref[]>>;

  constructor(seed: number) {
    const refsOf = (kind: RefKind, salt: number): Ref[] =>
      NAMES[kind].map((name, index) => ({ id: fixedUuid(seed, 100 + salt, index), name }));
    this.#refs = Object.fromEntries(REF_KINDS.map((kind, salt) => [kind, refsOf(kind, salt)])) as Record<
      RefKind,
      Ref[]
    >;
  }

  ref(kind: RefKind, index: number | null): Ref | null {
    return index === null ? null : (this.#refs[kind][index] ?? null);
  }

  refs(kind: RefKind, indexes: readonly number[]): Ref[] {
    return indexes.flatMap((index) => this.ref(kind, index) ?? []);
  }

  /** @returns the reference before and after; null if it does not exist */
  rename(kind: RefKind, index: number, name: string): { before: Ref; after: Ref } | null {
    const before = this.ref(kind, index);
    if (before === null) return null;
    const after = { ...before, name };
    this.#refs[kind][index] = after;
    return { before, after };
  }
}

export const DIRECTORY_SIZES = Object.fromEntries(REF_KINDS.map((kind) => [kind, NAMES[kind].length])) as Readonly<
  Record<RefKind, number>
>;
