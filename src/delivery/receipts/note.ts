/** The receipt of an attempt, for the step that ends it to keep. */
import type { ReceiptRetention } from '../handlers/handler.js';
import { saidIn } from '../handlers/errors.js';
import type { Clock } from '../../kit/clock.js';
import { printable, shorten } from '../../kit/printable.js';
import type { NotedReceipts } from '../groups/gate.js';
import type { Receipt, ReceiptOutcome } from './receipt.js';
import { originOf } from '../deliveries.js';
import type { FailedAttempt } from '../failure.js';

const LONGEST_WORDS = 200;

export interface Noting {
  subscription: { readonly name: string; readonly receipts?: ReceiptRetention | null | undefined };
  clock: Clock;
  /** The log's retention: what receivers said is kept no longer than events. @defaultValue it is not kept */
  logAgeMs?: number | undefined;
  measure?: { delivered(subscription: string, outcome: ReceiptOutcome, workspace: string): void } | undefined;
}

/** What a receipt names: a delivery, or a digest. */
export interface Noted {
  id: string;
  workspace: string;
  logId: string;
  event: { readonly id: string; readonly type: string; readonly subject: string };
  digest?: Receipt['digest'];
}

/**
 * Why an event was not sent. `where`: it no longer selects. `muted`: a person wants to hear no more of the record. `gone`: the log has dropped the
 * event. `no-address`: of the person in charge.
 */
export type Skipped =
  'where' | 'muted' | 'cancelled-out' | 'not-selected' | 'merged' | 'gone' | 'dropped' | 'no-address';

/** How an attempt ended. `skipped`: there was none. */
export type Ended =
  | { outcome: 'delivered'; attempt: number; ms: number; status: number | undefined; words?: string | undefined }
  | { outcome: 'retry'; failure: FailedAttempt; nextAtMs?: number | undefined }
  | { outcome: 'dead'; failure: FailedAttempt }
  | { outcome: 'skipped'; why: Skipped; into?: string };

/** @returns undefined where the subscription keeps none */
export function noteEnd(deliveries: readonly Noted[], ended: Ended, noting: Noting): NotedReceipts | undefined {
  const { subscription, measure, clock } = noting;
  for (const { workspace } of deliveries) measure?.delivered(subscription.name, ended.outcome, workspace);
  if (subscription.receipts == null) return undefined;
  const endedAtMs = clock.now();
  const about = aboutEnd(ended, endedAtMs, noting);
  const receipts = deliveries.map(({ id, workspace, logId, event, digest }): Receipt => {
    const origin = originOf(id);
    const { id: eventId, subject: recordId, type } = event;
    const of = {
      eventId,
      logId,
      workspace,
      recordId,
      type,
      ...(origin !== undefined && { origin }),
      ...(digest && { digest }),
    };
    return { endedAtMs, ...of, ...about };
  });
  return { receipts, most: subscription.receipts.number };
}

function aboutEnd(ended: Ended, endedAtMs: number, { subscription: { receipts }, logAgeMs = 0 }: Noting) {
  const { outcome } = ended;
  if (outcome === 'delivered') {
    const { words = '', ms, attempt, status = 0 } = ended;
    return { outcome, ms, attempt, status, ...(words !== '' && { words: shorten(printable(words), LONGEST_WORDS) }) };
  }
  if (outcome === 'skipped') {
    const { why: error, into } = ended;
    return { outcome, ms: 0, attempt: 0, status: 0, error, ...(into !== undefined && { into }) };
  }
  const { attempt, ms = 0, status = 0, code, error: name, message } = ended.failure;
  const words = (receipts?.ageMs ?? Infinity) <= logAgeMs ? shorten(printable(saidIn(message)), LONGEST_WORDS) : '';
  return {
    ...{ outcome, ms, attempt, status, error: code ?? name },
    ...(words !== '' && { words }),
    // Its time may be over when this is noted.
    ...(outcome === 'retry' && ended.nextAtMs !== undefined && { nextAtMs: Math.max(endedAtMs, ended.nextAtMs) }),
  };
}
