/**
 * Every switch of the sandbox, as plain data: where the interface is silent this decides, and what can go wrong is
 * scheduled here. Can be changed at any time; the next request follows it.
 */
import { DEFAULT_PROTOCOL, type Protocol } from '../../server/read-api/protocol.js';
import type { OrderName } from '../world/orders.js';

export interface Behaviour extends Protocol, PagingRules, RecordRules, LimitRules, FaultRules {}

export interface PagingRules {
  /** Records per page. @defaultValue 50 */
  readonly pageSize: number;
  /** How the last page says so. `empty-page`: a filled cursor leads to a page without records. @defaultValue 'null' */
  readonly end: 'null' | 'missing' | 'empty-text' | 'empty-page';
  /** What a cursor is. @defaultValue 'last-id': the id of the last record shown; the next page begins after it */
  readonly cursor: 'last-id' | 'offset' | 'expiring' | 'snapshot' | 'single-use';
  /** How long an expiring cursor, or a snapshot, can be used; ms. @defaultValue 60000 */
  readonly cursorLifetimeMs: number;
  /** What a cursor nobody gave out, or that is used up, gets. @defaultValue 'refuse' (400) */
  readonly badCursor: 'refuse' | 'refuse-empty' | 'first-page' | 'empty-page';
  /** Is a last-id cursor still good when its record is gone? @defaultValue 'good' */
  readonly cursorOfGoneRecord: 'good' | 'bad';
  /** @defaultValue 'creation' */
  readonly order: OrderName | 'shuffled';
  /** So many records of the page before are shown again. @defaultValue 0 */
  readonly overlap: number;
}

export interface RecordRules {
  /** Names of a todo's fields: as written, as seen in the wild, or both side by side. @defaultValue 'written' */
  readonly todoNames: 'written' | 'wild' | 'both';
  /** Fields seen in the wild beyond the written ones: `RecordId`, `htmlBody` … @defaultValue false */
  readonly extras: boolean;
  /** Are stamps cut to the minute; or does the change stamp never move at all? @defaultValue 'ms' */
  readonly stamps: 'ms' | 'minute' | 'still';
  /** Does 수정 날짜 move when only counters, notes or todos did? In the wild it does not. @defaultValue false */
  readonly stampsFollow: boolean;
  /** How an empty field is said; `mixed` changes from request to request. @defaultValue 'null' */
  readonly empties: 'null' | 'absent' | 'mixed';
  /** Are arrays and keys in another order at every request? @defaultValue 'kept' */
  readonly sequence: 'kept' | 'reordered';
  /** Do picture URLs carry a signature that is new at every request? @defaultValue 'kept' */
  readonly pictures: 'kept' | 'signed';
  /** A key that appears on, or vanishes from, all records of people, memo and todo. @defaultValue 'none' */
  readonly drift: 'none' | 'added' | 'removed' | 'reshaped';
  /** `source` of history rows; older ones have none in the wild. @defaultValue 'present' */
  readonly historySource: 'present' | 'older-absent';
}

export interface LimitRules {
  /** Requests per sliding window; 0 is no limit. @defaultValue 100 */
  readonly limitRequests: number;
  /** The window; ms. @defaultValue 10000 */
  readonly limitWindowMs: number;
  /** What a 429 says about when to come back. @defaultValue 'reason': "8.316초 후 재시도해주세요." */
  readonly limitHint: 'reason' | 'message' | 'list' | 'header' | 'absurd' | 'none' | 'empty' | 'html';
  /** Requests per second that another integration takes out of the same window. @defaultValue 0 */
  readonly foreignPerSecond: number;
  /** Wait before every answer; ms. @defaultValue 0 */
  readonly latencyMs: number;
}

/** When something happens, counted in requests with a good token. All that is given must hold. */
export interface Schedule {
  /** Every so many requests. */
  readonly every?: number;
  /** With this probability, from the seeded dice. */
  readonly share?: number;
  /** Not before so many requests have passed. */
  readonly after?: number;
  /** At most so often. */
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
  /** Spaces behind an oversized body. @defaultValue 67108864 (64 MiB) */
  readonly oversizedBytes: number;
  /** How far a stale replica may lag; ms. @defaultValue 5000 */
  readonly staleMs: number;
  /** Mutations made after every page that was shown: changes in the middle of a sweep. @defaultValue 0 */
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
