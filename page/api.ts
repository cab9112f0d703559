/** What the page asks of its server. */
import type { z } from 'zod';
import type * as answers from '../src/ops/server/page/answers.js';
import type { ListSchema } from '../src/feed/detect/schema-drift/schema.js';
import type { TodosReport } from '../src/crm/todo-counts.js';

type Answered<Name extends keyof typeof answers> = answers.Plain<z.output<(typeof answers)[Name]>>;

export type { ListSchema, TodosReport };
export type { ListStatus, Problem, WorkspaceStatus } from '../src/ops/watch/status.js';
/** A delivery without its title, which only the lists of deliveries have. */
export type { DeliveryRow as Attempt, SubscriptionDetails } from '../src/delivery/receipts/delivery-row.js';
export type { Tried } from '../src/delivery/ask/tried.js';
export type { Verified } from '../src/delivery/verify/verified.js';
export type { EventView, ValueView } from '../src/ops/server/page/answers.js';
export type Status = z.output<typeof answers.status>;
export type Subscription = Status['subscriptions'][number];
export type About = Answered<'about'>;
export type Caller = NonNullable<Answered<'session'>['caller']>;
export type History = Answered<'history'>;
export type EventsPage = Answered<'eventsPage'>;
export type OneEvent = Answered<'oneEvent'>;
export type Delivery = Answered<'deliveries'>['deliveries'][number];
export type Skipped = Answered<'skipped'>;
export type Held = Answered<'heldRecords'>['held'][number];
export type LeftBehind = Answered<'leftBehind'>['subscriptions'][number];
export type RulesAnswer = Answered<'rules'>;
export type RuleChanged = Answered<'ruleChanged'>;
export type RulePreview = Answered<'rulePreview'>;
export type RuleSent = Answered<'ruleSent'>;
export type AuditEntry = Answered<'auditList'>['entries'][number];
export type RuleHistory = Answered<'ruleHistory'>;
export type RuleValues = Answered<'ruleValues'>;
export type Tested = Answered<'tested'>;
export type Erased = Answered<'erased'>;
export type DeadLetter = Answered<'deadLetter'>;

/** What a section of the page is shown from. */
export interface SectionProps {
  about: About;
  status: Status | null;
  /** Reads the status again at once, after an action. */
  again: () => void;
  canAct: boolean;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Called when an answer says that the session is over. */
let onSignedOut: () => void = () => undefined;
export function whenSignedOut(call: () => void): void {
  onSignedOut = call;
}

export function ask<Answer>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<Answer> {
  return call<Answer>('GET', pathWith(path, query));
}

export function act<Answer = { count: number }>(
  method: 'POST' | 'DELETE',
  path: string,
  body: object = {},
): Promise<Answer> {
  return call<Answer>(method, path, body);
}

/** What an operator does about a subscription. */
export function actOn<Answer = { count: number }>(name: string, action: string, body: object = {}): Promise<Answer> {
  return act<Answer>('POST', `/api/subscriptions/${encodeURIComponent(name)}/${action}`, body);
}

export function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : '';
}

export function pathWith(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** The page may be mounted under a path of another server: everything it asks for is beside it. */
export const beside = (path: string): string => `.${path}`;

/** A question that is never answered would keep its section as it is. Actions may take longer. */
const ANSWER_WITHIN_MS = 30_000;

async function call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(beside(path), {
    method,
    ...(method === 'GET' && { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }),
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json', 'x-changefeed-action': '1' },
      body: JSON.stringify(body),
    }),
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text) as Answer;
  if (answer.status === 401) onSignedOut();
  throw new ApiError(answer.status, messageIn(text) ?? answer.statusText);
}

function messageIn(text: string): string | null {
  try {
    return (JSON.parse(text) as { error?: { message?: string } }).error?.message ?? null;
  } catch {
    return null;
  }
}
