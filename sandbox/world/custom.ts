/** Custom fields of every type that real workspaces have. Keys contain spaces, brackets and slashes on purpose. */
import { meaningOf } from '../../src/crm/canonical.js';
import { DIRECTORY_SIZES, type Directory } from './directory.js';
import { dice, type Dice } from './random.js';

const DAY_MS = 86_400_000;
// A date without a time is midnight in Korea, in UTC.
const KST_MS = 9 * 3_600_000;

type Values = Readonly<Record<string, unknown>>;
type Maker = (roll: Dice, now: number, directory: Directory) => unknown;

const GRADES = ['A', 'B', 'C', 'D'] as const;
const INTERESTS = ['가격', '보안', '연동', '이관', '교육'] as const;
const INDUSTRIES = ['제조', '유통', '금융', '의료', 'IT', '교육'] as const;
const PRIORITIES = ['높음', '보통', '낮음'] as const;
const PLACES = ['본사 3층 회의실', '고객사', '온라인', '강남 라운지'] as const;

const date: Maker = (roll, now) =>
  new Date(Math.floor((now + roll.below(400) * DAY_MS) / DAY_MS) * DAY_MS - KST_MS).toISOString();
const dateTime: Maker = (roll, now) =>
  new Date(now + roll.below(60) * DAY_MS + roll.below(24) * 3_600_000).toISOString();
const relation: Maker = (roll, _now, directory) => directory.ref('product', roll.below(DIRECTORY_SIZES.product));
const relations: Maker = (roll, now, directory) => {
  const product = roll.below(DIRECTORY_SIZES.product);
  const more = roll.chance(0.4) ? [(product + 1) % DIRECTORY_SIZES.product] : [];
  return directory.refs('product', [product, ...more]);
};
const some = <T>(roll: Dice, values: readonly T[]): T[] => values.filter(() => roll.chance(0.4));

export type CustomKind = 'people' | 'organization' | 'todo';
const FIELDS: Readonly<Record<CustomKind, Readonly<Record<string, Maker>>>> = {
  people: {
    등급: (roll) => roll.pick(GRADES),
    '관심 분야': (roll) => some(roll, INTERESTS),
    계약일: date,
    '다음 미팅 일시': dateTime,
    '예상 금액': (roll) => roll.below(500) * 100_000,
    '할인율(%)': (roll) => roll.below(400) / 10,
    'VIP 여부': (roll) => roll.chance(0.2),
    '주력 제품': relation,
    '도입 제품': relations,
    'A/S & 유지보수 [내부]': (roll) => `월 ${1 + roll.below(4)}회 점검`,
    '첨부/파일': (roll) => [
      { name: `제안서_v${1 + roll.below(5)}.pdf`, url: `https://files.example.invalid/${roll.below(1e9)}` },
    ],
  },
  organization: {
    업종: (roll) => roll.pick(INDUSTRIES),
    직원수: (roll) => 5 + roll.below(3_000),
    설립일: date,
    '파트너 여부': (roll) => roll.chance(0.3),
    '사용 제품': relations,
    '홈페이지/블로그': (roll) => `https://company${roll.below(10_000)}.example.invalid`,
  },
  todo: {
    우선순위: (roll) => roll.pick(PRIORITIES),
    장소: (roll) => roll.pick(PLACES),
    '알림 일시': dateTime,
    '예상 비용': (roll) => roll.below(100) * 1_000,
  },
};

export interface Customised {
  /** Null: still the initial ones, which are derived when the record is built. */
  readonly custom: Values | null;
}

/** Adds a field that the workspace computes from another one. Users do not edit it. */
export function withFormulas(kind: CustomKind, values: Values): Values {
  if (kind !== 'people') return values;
  const amount = values['예상 금액'];
  return { ...values, '예상 금액(만원)': typeof amount === 'number' ? amount / 10_000 : null };
}

export function customValues(kind: CustomKind, roll: Dice, now: number, directory: Directory): Values {
  const values = Object.entries(FIELDS[kind]).map(([name, make]) => [
    name,
    roll.chance(0.35) ? null : make(roll, now, directory),
  ]);
  return withFormulas(kind, Object.fromEntries(values) as Values);
}

/** A value of each field that users edit, which shows its type. */
export function customExamples(kind: CustomKind, directory: Directory): Values {
  // Some lists are empty at times.
  const example = (make: Maker): unknown => {
    const made = Array.from({ length: 20 }, (_, salt) => make(dice(1, salt), 0, directory));
    return made.find((value) => !Array.isArray(value) || value.length > 0);
  };
  return Object.fromEntries(Object.entries(FIELDS[kind]).map(([name, make]) => [name, example(make)]));
}

/** Changes one value. Null and an empty list are equal, because no detector can see that edit. */
export function editCustom(kind: CustomKind, values: Values, roll: Dice, now: number, directory: Directory): Values {
  const makers = FIELDS[kind];
  const names = Object.keys(makers);
  const name = names[roll.below(names.length)] ?? '';
  const before = meaningOf(values[name]);
  let value = makers[name]?.(roll, now, directory);
  // The new value may equal the old one: after three attempts the field becomes null. An empty field is tried until it is not.
  for (let again = 0; (again < 3 || before === null) && meaningOf(value) === before; again++)
    value = makers[name]?.(roll, now, directory);
  return withFormulas(kind, { ...values, [name]: meaningOf(value) === before ? null : value });
}
