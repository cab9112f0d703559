/**
 * All switches of the sandbox as plain data: how it answers where the interface does not say, and which faults occur when.
 * They can change at any time and apply from the next request on.
 */
import { DEFAULT_PROTOCOL, type Protocol } from '../../server/read-api/respond.js';
import type { OrderName } from '../world/orders.js';

export interface Behaviour extends Protocol, PagingRules, RecordRules, LimitRules, FaultRules {}

export interface PagingRules {
  /** Records per page. @defaultValue 50 */
  readonly pageSize: number;
  /** How the last page is marked. `empty-page`: its cursor leads to a page without records. @defaultValue 'null' */
  readonly end: 'null' | 'missing' | 'empty-text' | 'empty-page';
  /** The kind of cursor. @defaultValue 'last-id': the id of the page's last record; the next page begins after it */
  readonly cursor: 'last-id' | 'offset' | 'expiring' | 'snapshot' | 'single-use';
  /** The lifetime of an expiring cursor or a snapshot; ms. @defaultValue 60000 */
  readonly cursorLifetimeMs: number;
  /** The answer to an unknown or used cursor. @defaultValue 'refuse' (400) */
  readonly badCursor: 'refuse' | 'refuse-empty' | 'first-page' | 'empty-page';
  /** Whether a last-id cursor is still valid when its record is gone. @defaultValue 'good' */
  readonly cursorOfGoneRecord: 'good' | 'bad';
  /** @defaultValue 'creation' */
  readonly order: OrderName | 'shuffled';
  /** How many records of the previous page are repeated. @defaultValue 0 */
  readonly overlap: number;
}

export interface RecordRules {
  /** Spelling of a todo's fields: as in the interface, as in real answers, or both. @defaultValue 'written' */
  readonly todoNames: 'written' | 'wild' | 'both';
  /** Adds fields that real answers have and the interface does not name: `RecordId`, `htmlBody` … @defaultValue false */
  readonly extras: boolean;
  /** Precision of timestamps. `still`: the change timestamp never moves. @defaultValue 'ms' */
  readonly stamps: 'ms' | 'minute' | 'still';
  /** Whether 수정 날짜 also moves when only counters, notes or todos changed. The real service does not do this. @defaultValue false */
  readonly stampsFollow: boolean;
  /** How an empty field is sent. `mixed`: null or absent, at random in every request. @defaultValue 'null' */
  readonly empties: 'null' | 'absent' | 'mixed';
  /** Whether keys and arrays of references have another order in every request. @defaultValue 'kept' */
  readonly sequence: 'kept' | 'reordered';
  /** Whether picture URLs have a new signature in every request. @defaultValue 'kept' */
  readonly pictures: 'kept' | 'signed';
  /** A field that appears, disappears or changes its type on all records of a list (not history and activity). @defaultValue 'none' */
  readonly drift: 'none' | 'added' | 'removed' | 'reshaped';
  /** Whether older history rows lack `source`, as in real answers. @defaultValue 'present' */
  readonly historySource: 'present' | 'older-absent';
}

export interface LimitRules {
  /** Requests per sliding window; 0 for no limit. @defaultValue 100 */
  readonly limitRequests: number;
  /** The window; ms. @defaultValue 10000 */
  readonly limitWindowMs: number;
  /** How a 429 says when to retry. @defaultValue 'reason': "8.316초 후 재시도해주세요." */
  readonly limitHint: 'reason' | 'message' | 'list' | 'header' | 'absurd' | 'none' | 'empty' | 'html';
  /** Requests per second that another integration takes out of the same window. @defaultValue 0 */
  readonly foreignPerSecond: number;
  /** Delay before every answer; ms. @defaultValue 0 */
  readonly latencyMs: number;
}

/** When a fault occurs, counted in requests with a valid token. All given conditions must hold. */
export interface Schedule {
  /** Every nth request. */
  readonly every?: number;
  /** With this probability, from the seeded random numbers. */
  readonly share?: number;
  /** Only after this many requests. */
  readonly after?: number;
  /** At most this many times. */
  readonly times?: number;
}

export const SCHEDULED_FAULTS = [
  'rate-limited',
  'unauthorised',
  'forbidden',
  'empty-400',
  'html-404',
  'html-502',
  'json-500',
  'refused-200',
  'listless-200',
  'truncated',
  'stalled',
  'dropped',
  'oversized',
  'gzip',
  'stale',
  'repeated-cursor',
  'cursor-row-deleted',
  'rename',
] as const;
export type ScheduledFault = (typeof SCHEDULED_FAULTS)[number];

export interface FaultRules {
  readonly schedules: Readonly<Partial<Record<ScheduledFault, Schedule>>>;
  /** Length of a stall; ms. @defaultValue 30000 */
  readonly stallMs: number;
  /** Number of spaces after an oversized body. @defaultValue 67108864 (64 MiB) */
  readonly oversizedBytes: number;
  /** How far a stale replica may lag; ms. @defaultValue 5000 */
  readonly staleMs: number;
  /** Mutations after every delivered page: changes in the middle of a sweep. @defaultValue 0 */
  readonly churn: number;
}

export const DEFAULT_BEHAVIOUR: Behaviour = {
  ...DEFAULT_PROTOCOL,
  pageSize: 50,
  end: 'null',
  cursor: 'last-id',
  cursorLifetimeMs: 60_000,
  badCursor: 'refuse',
  cursorOfGoneRecord: 'good',
  order: 'creation',
  overlap: 0,
  todoNames: 'written',
  extras: false,
  stamps: 'ms',
  stampsFollow: false,
  empties: 'null',
  sequence: 'kept',
  pictures: 'kept',
  drift: 'none',
  historySource: 'present',
  limitRequests: 100,
  limitWindowMs: 10_000,
  limitHint: 'reason',
  foreignPerSecond: 0,
  latencyMs: 0,
  schedules: {},
  stallMs: 30_000,
  oversizedBytes: 64 * 1_024 * 1_024,
  staleMs: 5_000,
  churn: 0,
};
