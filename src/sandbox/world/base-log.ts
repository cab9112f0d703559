/** Initial rows of history and activity, the two lists that only grow. */
import { DIRECTORY_SIZES } from './directory.js';
import type { BaseContext } from './base-context.js';
import type { Directory } from './directory.js';
import type { ActivityFacts, HistoryFacts, Links } from './facts.js';
import { fixedUuid } from './ids.js';
import { baseLinks } from './layout.js';
import type { Dice } from './random.js';

// The creation of a deal writes this many rows within a second.
export const BURST = 4;
const STAGES = ['신규', '상담', '제안', '협상', '계약'] as const;

export function baseHistory(index: number, context: BaseContext): HistoryFacts {
  const roll = context.dice('history', index);
  const group = Math.floor(index / BURST);
  const deals = Math.max(1, context.sizes.unlistedDeal);
  const created = Math.floor(group / 2);
  // Every second group of rows is the creation of one deal. The groups between are edits of earlier deals.
  const isBirth = group % 2 === 0 && created < deals;
  const deal = isBirth ? created : roll.below(Math.min(deals, created + 1));
  const bornAt = isBirth
    ? context.bornAt('history', group * BURST) + (index % BURST) * 40
    : context.bornAt('history', index);
  const isConnection = !isBirth && roll.chance(0.1);
  const change = changeOf(roll, isBirth ? index % BURST : null, context);
  const connected = isConnection ? connection(baseLinks(deal, context.sizes)) : {};
  return { bornAt, createdAt: bornAt, deal, ...change, ...connected };
}

/** The deal was connected to another person or organization. */
export function connection({ person, organization }: Links): Partial<HistoryFacts> {
  const type = person === null ? 'editOrganizationConnect' : 'editPeopleConnection';
  return { type, person, organization: person === null ? organization : null, fieldName: null, fieldValue: null };
}

type Change = Omit<HistoryFacts, 'bornAt' | 'createdAt' | 'deal'>;

/** The content of a row. `nth` is its number among the rows of a creation; null for a later edit. */
export function changeOf(roll: Dice, nth: number | null, { directory }: Pick<BaseContext, 'directory'>): Change {
  const user = roll.below(DIRECTORY_SIZES.user);
  const owner = directory.ref('user', user);
  const source = { type: 'user', id: owner?.id ?? null, name: owner?.name ?? null };
  const edit = { type: 'editField', source, person: null, organization: null, owner: user };
  switch (nth ?? roll.below(6)) {
    case 0:
      return { ...edit, fieldName: '이름', fieldValue: `딜 ${1 + roll.below(900)}` };
    case 1:
      return { ...edit, fieldName: '담당자', fieldValue: { _id: owner?.id, name: owner?.name } };
    case 2:
      return { ...edit, fieldName: '금액', fieldValue: roll.below(900) * 100_000 };
    case 3:
      return { ...edit, fieldName: '단계', fieldValue: roll.pick(STAGES) };
    case 4:
      return {
        ...edit,
        source: { type: roll.pick(['workflow', 'api', 'sequence']), id: null, name: null },
        owner: null,
        fieldName: '상태',
        fieldValue: roll.pick(['진행중', '성사', '실패']),
      };
    default:
      return {
        ...edit,
        source: { type: 'field', id: null, name: null },
        owner: null,
        fieldName: '전체 TODO',
        fieldValue: roll.below(9),
      };
  }
}

export function baseActivity(index: number, context: BaseContext): ActivityFacts {
  const bornAt = context.bornAt('activity', index);
  return writing(index, bornAt, context) ?? contact(index, bornAt, context);
}

/** The row about the creation of a memo or todo; null if this index has no such row. */
function writing(index: number, bornAt: number, context: BaseContext): ActivityFacts | null {
  const { activity, memo, todo } = context.sizes;
  const place = spread(index, memo + todo, activity);
  if (place === null) return null;
  const nth = spread(place, memo, memo + todo);
  const kind = nth === null ? 'todo' : 'memo';
  const child = nth ?? place - Math.floor((place * memo) / (memo + todo));
  const { person } = baseLinks(child, context.sizes);
  if (person === null) return null;
  const date = context.bornAt(kind, child);
  const links = { memo: kind === 'memo' ? child : null, todo: kind === 'todo' ? child : null };
  return { ...row(bornAt, person), type: `${kind}Create`, date, ...links };
}

/**
 * Distributes `count` items evenly over `places`. Returns the item at this place, or null. If there are fewer places than
 * items, only the newest items get one.
 */
function spread(place: number, count: number, places: number): number | null {
  if (count >= places) return count - places + place;
  const before = Math.floor((place * count) / places);
  return Math.floor(((place + 1) * count) / places) > before ? before : null;
}

const CONTACTS = [
  'email',
  'emailOpen',
  'emailLinkClick',
  'smsSend',
  'webFormView',
  'webFormSubmit',
  'meeting',
  'documentView',
] as const;

function contact(index: number, bornAt: number, context: BaseContext): ActivityFacts {
  // Several rows of one mail share its ids, so the ids are derived from the mail and not from the row.
  const { seed, sizes } = context;
  const mail = Math.floor(index / 3);
  const roll = context.dice('activity', mail);
  const person = sizes.people === 0 ? 0 : roll.below(sizes.people);
  const own = context.dice('activity', index, 1);
  return {
    ...row(bornAt, person),
    ...contactDetails(own, own.pick(CONTACTS), context.directory, (salt) => fixedUuid(seed, 300 + salt, mail)),
  };
}

/** Type, form and foreign ids of a contact of this type. */
export function contactDetails(
  roll: Dice,
  type: string,
  directory: Directory,
  idOf: (salt: number) => string,
): Pick<ActivityFacts, 'type' | 'form' | 'others'> {
  const form = type.startsWith('webForm') ? directory.ref('form', roll.below(DIRECTORY_SIZES.form)) : null;
  if (type.startsWith('email')) {
    return { type, form, others: { emailId: idOf(0), messageId: `<${idOf(1)}@example.invalid>`, threadId: idOf(2) } };
  }
  if (type === 'smsSend') return { type, form, others: { smsId: idOf(3) } };
  if (type === 'documentView') return { type, form, others: { documentId: idOf(4), documentName: '회사소개서.pdf' } };
  if (type === 'recordingCreate') return { type, form, others: { recordingId: idOf(5) } };
  return { type, form, others: {} };
}

function row(bornAt: number, person: number): ActivityFacts {
  return {
    bornAt,
    createdAt: bornAt,
    type: 'create',
    date: bornAt,
    person,
    memo: null,
    todo: null,
    form: null,
    others: {},
  };
}
