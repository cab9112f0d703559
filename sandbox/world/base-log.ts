/** Rows of history and activity, the two lists that only grow: the initial ones, and what later ones consist of. */
import { DIRECTORY_SIZES, type Directory } from './directory.js';
import type { BaseContext } from './base-context.js';
import type { ActivityFacts, HistoryFacts, Parents } from './facts.js';
import { fixedUuid } from './ids.js';
import { baseLinks } from './links.js';
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
  const createdAt = isBirth
    ? context.bornAt('history', group * BURST) + (index % BURST) * 40
    : context.bornAt('history', index);
  const change = changeOf(roll, isBirth ? index % BURST : null, context);
  const isConnection = !isBirth && roll.chance(0.1);
  return { createdAt, deal, ...change, ...(isConnection && connection(baseLinks('unlistedDeal', deal, context))) };
}

/** The deal was connected to another person or organization. */
export function connection({ person, organization }: Parents): Partial<HistoryFacts> {
  const type = person === null ? 'editOrganizationConnect' : 'editPeopleConnection';
  return { type, person, organization: person === null ? organization : null, fieldName: null, fieldValue: null };
}

type HistoryChange = Omit<HistoryFacts, 'createdAt' | 'deal'>;

/** The content of a row. `nth` is its number among the rows of a creation; null for a later edit. */
export function changeOf(roll: Dice, nth: number | null, { directory }: Pick<BaseContext, 'directory'>): HistoryChange {
  const user = roll.below(DIRECTORY_SIZES.user);
  const by = editBy(user, directory);
  const nobody = (type: string) => ({ source: { type, id: null, name: null }, owner: null });
  switch (nth ?? roll.below(6)) {
    case 0:
      return { ...by, fieldName: '이름', fieldValue: `딜 ${1 + roll.below(900)}` };
    case 1:
      return { ...by, fieldName: '담당자', fieldValue: { _id: by.source.id, name: by.source.name } };
    case 2:
      return { ...by, fieldName: '금액', fieldValue: roll.below(900) * 100_000 };
    case 3:
      return { ...by, fieldName: '단계', fieldValue: roll.pick(STAGES) };
    case 4: {
      const status = { fieldName: '상태', fieldValue: roll.pick(['진행중', '성사', '실패']) };
      return { ...by, ...nobody(roll.pick(['workflow', 'api', 'sequence'])), ...status };
    }
    default:
      return { ...by, ...nobody('field'), fieldName: '전체 TODO', fieldValue: roll.below(9) };
  }
}

/** The fields that the rows of a user's edits have in common. */
export function editBy(user: number, directory: Directory) {
  const { id = null, name = null } = directory.ref('user', user) ?? {};
  return { type: 'editField', source: { type: 'user', id, name }, person: null, organization: null, owner: user };
}

export function baseActivity(index: number, context: BaseContext): ActivityFacts {
  const createdAt = context.bornAt('activity', index);
  return { createdAt, ...(writing(index, context) ?? contact(index, createdAt, context)) };
}

type Happened = Omit<ActivityFacts, 'createdAt'>;

/** One of three rows is about the creation of a memo and one of a todo; null if this row is not. */
function writing(index: number, context: BaseContext): Happened | null {
  const kind = (['memo', 'todo'] as const)[index % 3];
  const child = Math.floor(index / 3);
  if (kind === undefined || child >= context.sizes[kind]) return null;
  const { person } = baseLinks(kind, child, context);
  if (person === null) return null;
  return happened(context.bornAt(kind, child), person, { type: `${kind}Create`, [kind]: child });
}

// An invented type at the end: the set of types is open, and a client must not depend on it.
const CONTACTS = [
  'email',
  'emailOpen',
  'emailLinkClick',
  'smsSend',
  'webFormView',
  'webFormSubmit',
  'meeting',
  'documentView',
  'kakaoAlimtalkSend',
  'recordingCreate',
  'chatbotReply',
] as const;

function contact(index: number, at: number, context: BaseContext): Happened {
  // Several rows of one mail share its ids, so the ids are derived from the mail and not from the row.
  const { seed, sizes, directory } = context;
  const mail = Math.floor(index / 3);
  const person = sizes.people === 0 ? 0 : context.dice('activity', mail).below(sizes.people);
  const idOf = (salt: number): string => fixedUuid(seed, 300 + salt, mail);
  return happened(at, person, contactDetails(context.dice('activity', index, 1), directory, idOf));
}

/** Type, form and foreign ids of a contact. */
export function contactDetails(
  roll: Dice,
  directory: Directory,
  idOf: (salt: number) => string,
): Pick<ActivityFacts, 'type' | 'form' | 'others'> {
  const type = roll.pick(CONTACTS);
  const form = type.startsWith('webForm') ? directory.ref('form', roll.below(DIRECTORY_SIZES.form)) : null;
  if (type.startsWith('email')) {
    return { type, form, others: { emailId: idOf(0), messageId: `<${idOf(1)}@example.invalid>`, threadId: idOf(2) } };
  }
  if (type === 'smsSend') return { type, form, others: { smsId: idOf(3) } };
  if (type === 'documentView') return { type, form, others: { documentId: idOf(4), documentName: '회사소개서.pdf' } };
  if (type === 'recordingCreate') return { type, form, others: { recordingId: idOf(5) } };
  return { type, form, others: {} };
}

/** A row about this person. */
export function happened(date: number, person: number, details: Partial<ActivityFacts>): Happened {
  return { type: 'create', date, person, memo: null, todo: null, form: null, others: {}, ...details };
}
