/**
 * The facts about each record, without derived values: counters, latest notes and next todos are computed when a record is
 * built (`draw.ts`), so they are always consistent. Facts refer to other records by index; `draw.ts` turns indexes into ids.
 */

import type { Customised } from './custom.js';
import type { Ref } from './directory.js';
import type { CreditList, FurtherName } from './lists.js';
import { hash32 } from './random.js';

const FIXED_KINDS = ['people', 'organization', 'memo', 'todo', 'history', 'activity', 'unlistedDeal'] as const;
/** Records of the six lists and of the further ones, and the deals that counters and history refer to: no endpoint lists those. */
export type Kind = (typeof FIXED_KINDS)[number] | CreditList | FurtherName;

/** A different number for every kind, so that no two kinds share ids or random numbers. */
export function numberOf(kind: Kind): number {
  const nth = (FIXED_KINDS as readonly string[]).indexOf(kind);
  return nth >= 0 ? nth : hash32(0xf0, ...Buffer.from(kind));
}

/** Times are ms since the epoch. */
interface Born {
  readonly createdAt: number;
}

export interface Submission {
  readonly form: number;
  readonly at: number;
}

export interface Enrolment {
  readonly sequence: number;
  readonly at: number;
  readonly running: boolean;
}

/** A record that users edit, with those who are responsible for it. */
interface Owned extends Born {
  readonly updatedAt: number;
  readonly owner: number | null;
  readonly teams: readonly number[];
}

interface Contact extends Owned, Customised {
  readonly name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly picture: string | null;
  readonly linkedin: string | null;
  readonly submissions: readonly Submission[];
}

export interface PersonFacts extends Contact {
  readonly organization: number | null;
  readonly position: string | null;
  readonly enrolments: readonly Enrolment[];
  /** Null: accepts mail. */
  readonly refusal: { readonly reason: string | null } | null;
}

export interface OrganizationFacts extends Contact {
  /** The sequences in its field 등록된 시퀀스 목록. */
  readonly sequences: readonly number[];
}

/** The parents of a record. They count it. */
export interface Parents {
  readonly person: number | null;
  readonly organization: number | null;
}

export interface MemoFacts extends Born, Parents {
  readonly updatedAt: number;
  readonly text: string;
  readonly deal: number | null;
  readonly productId: string | null;
  readonly quoteId: string | null;
  readonly todo: number | null;
  readonly parent: number | null;
  readonly owner: number;
}

export interface TodoFacts extends Owned, Parents, Customised {
  readonly content: string;
  readonly type: string;
  readonly startAt: number;
  readonly endAt: number;
  /** Null while open. */
  readonly doneAt: number | null;
  readonly deal: number | null;
}

export type DealStatus = 'lead' | 'running' | 'won' | 'lost';

export interface DealFacts extends Born, Parents {
  readonly status: DealStatus;
  readonly owner: number;
}

/** Who changed something: a user, a program (`workflow`, `api`, `sequence`) or the system (`field`). */
export interface Actor {
  readonly type: string;
  readonly id: string | null;
  readonly name: string | null;
}

/** A row about the change of one field of a person, an organization or a lead. */
export interface CreditFacts extends Born {
  /** Index of the record. */
  readonly of: number;
  readonly type: string;
  readonly source: Actor;
  readonly fieldName: string;
  readonly fieldValue: unknown;
}

export interface HistoryFacts extends Born {
  readonly deal: number;
  /** The deal is a record of the list `deal`; otherwise it is one of those that no list shows. */
  readonly isListed?: boolean;
  readonly type: string;
  /** The actor with the name at the time of writing: a later rename does not change it. */
  readonly source: Actor;
  readonly person: number | null;
  readonly organization: number | null;
  readonly fieldName: string | null;
  /** Relations spell their id `_id` here. */
  readonly fieldValue: unknown;
  readonly owner: number | null;
}

export interface ActivityFacts extends Born {
  readonly type: string;
  /** When it happened; may be long before the row appeared. */
  readonly date: number;
  readonly person: number;
  readonly memo: number | null;
  readonly todo: number | null;
  readonly form: Ref | null;
  /** `emailId`, `messageId` and so on: ids of things no endpoint lists. */
  readonly others: Readonly<Record<string, string>>;
}

/** A record of a further list. */
export interface FurtherFacts extends Owned {
  readonly name: string;
  readonly status: string;
  readonly amount: number | null;
  readonly description: string | null;
}

export interface FactsOf {
  people: PersonFacts;
  organization: OrganizationFacts;
  memo: MemoFacts;
  todo: TodoFacts;
  history: HistoryFacts;
  activity: ActivityFacts;
  unlistedDeal: DealFacts;
  people_history: CreditFacts;
  organization_history: CreditFacts;
  lead_history: CreditFacts;
  [further: FurtherName]: FurtherFacts;
}

export type Sizes = Readonly<Record<Kind, number>>;
