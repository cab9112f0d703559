/**
 * What is true of each thing in the synthetic workspace, without anything that follows from something else: counters,
 * latest notes and next todos are worked out when a record is drawn (`draw/`), so they cannot disagree with it.
 * Things name each other by index; indexes become ids when drawn.
 */

import type { Ref } from './directory.js';
import type { FurtherName } from './lists.js';
import { hash32 } from './random.js';

const FIXED_KINDS = ['people', 'organization', 'memo', 'todo', 'history', 'activity', 'unlistedDeal'] as const;
/** Records of the six lists and of the further ones, and the deals that counters and history refer to: no endpoint lists those. */
export type Kind = (typeof FIXED_KINDS)[number] | FurtherName;

/** A number of its own for every kind, so that no two kinds share an id or a draw of the dice. */
export function numberOf(kind: Kind): number {
  const nth = (FIXED_KINDS as readonly string[]).indexOf(kind);
  return nth >= 0 ? nth : hash32(0xf0, ...Buffer.from(kind));
}

/** Times are ms since the epoch. `bornAt` is part of the id; `createdAt` is what a person may edit. */
interface Born {
  readonly bornAt: number;
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

interface Contact extends Born {
  readonly updatedAt: number;
  readonly name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly picture: string | null;
  readonly linkedin: string | null;
  readonly owner: number | null;
  readonly teams: readonly number[];
  readonly submissions: readonly Submission[];
  /** The workspace's own fields; null: still as the seed has them, to be derived only when drawn. */
  readonly custom: Readonly<Record<string, unknown>> | null;
}

export interface PersonFacts extends Contact {
  readonly organization: number | null;
  readonly position: string | null;
  readonly enrolments: readonly Enrolment[];
  /** Null: wants to hear from us. */
  readonly refusal: { readonly reason: string | null } | null;
}

export interface OrganizationFacts extends Contact {
  /** The sequences its people were put on are listed here as the workspace keeps them. */
  readonly sequences: readonly number[];
}

/** What hangs on a person or an organization, and is counted there. */
export interface Links {
  readonly person: number | null;
  readonly organization: number | null;
}

export interface MemoFacts extends Born, Links {
  readonly updatedAt: number;
  readonly text: string;
  readonly deal: number | null;
  readonly productId: string | null;
  readonly quoteId: string | null;
  readonly todo: number | null;
  readonly parent: number | null;
  readonly owner: number;
}

export interface TodoFacts extends Born, Links {
  readonly updatedAt: number;
  readonly content: string;
  readonly type: string;
  readonly startAt: number;
  readonly endAt: number;
  /** Null while open. */
  readonly doneAt: number | null;
  readonly owner: number | null;
  readonly teams: readonly number[];
  readonly deal: number | null;
  /** The workspace's own fields; null: still as the seed has them, to be derived only when drawn. */
  readonly custom: Readonly<Record<string, unknown>> | null;
}

export type DealStatus = 'lead' | 'running' | 'won' | 'lost';

export interface DealFacts extends Born, Links {
  readonly status: DealStatus;
  readonly owner: number;
}

export interface HistoryFacts extends Born {
  readonly deal: number;
  readonly type: string;
  /** As named when the row was written: a log is not written anew when somebody is renamed. */
  readonly source: { readonly type: string; readonly id: string | null; readonly name: string | null };
  readonly person: number | null;
  readonly organization: number | null;
  readonly fieldName: string | null;
  /** Relations spell their id `_id` here. */
  readonly fieldValue: unknown;
  readonly owner: number | null;
}

export interface ActivityFacts extends Born {
  readonly type: string;
  /** When it happened; may lie long before the row appeared. */
  readonly date: number;
  readonly person: number;
  readonly memo: number | null;
  readonly todo: number | null;
  readonly form: Ref | null;
  /** `emailId`, `messageId` and so on: ids of things no endpoint lists. */
  readonly others: Readonly<Record<string, string>>;
}

/** A record of a further list. */
export interface FurtherFacts extends Born {
  readonly updatedAt: number;
  readonly name: string;
  readonly status: string;
  readonly amount: number | null;
  readonly description: string | null;
  readonly owner: number | null;
  readonly teams: readonly number[];
}

export interface FactsOf {
  people: PersonFacts;
  organization: OrganizationFacts;
  memo: MemoFacts;
  todo: TodoFacts;
  history: HistoryFacts;
  activity: ActivityFacts;
  unlistedDeal: DealFacts;
  [further: FurtherName]: FurtherFacts;
}

export type Sizes = Readonly<Record<Kind, number>>;
