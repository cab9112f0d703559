/**
 * A receipt says how one attempt of a delivery ended: who, when, with what answer. It is stored as one line of text, its parts separated by
 * tabs; what it does not have at its end is left out. Numbers of milliseconds have base 36, and ids of ours base 64, because there is a receipt
 * for every delivery. Pure.
 *
 *   outcome · end · event · log id · record · type · duration · attempt · status · next attempt · error · words · origin · into · digest
 */
import { keyOfField, recordField } from '../../redis/keys.js';

const LETTERS = { delivered: 'd', retry: 'r', dead: 'x', skipped: 's' } as const;
export const RECEIPT_OUTCOMES = ['delivered', 'retry', 'dead', 'skipped'] as const;
const OUTCOMES = new Map<string, ReceiptOutcome>(RECEIPT_OUTCOMES.map((outcome) => [LETTERS[outcome], outcome]));

export type ReceiptOutcome = keyof typeof LETTERS;

export interface Receipt {
  /** `skipped`: it left without its handler being called. `retry`: the attempt failed, another one follows. */
  outcome: ReceiptOutcome;
  /** When the attempt ended, by the clock of its process. */
  endedAtMs: number;
  ms: number;
  /** 1 for the first attempt; 0: there was none. */
  attempt: number;
  /** The HTTP status; 0: the handler named none. */
  status: number;
  eventId: string;
  logId: string;
  workspace: string;
  recordId: string;
  type: string;
  nextAtMs?: number;
  /** The code or class of the error; why it was skipped. */
  error?: string;
  /** What the receiver said. */
  words?: string;
  /** The replay or snapshot that sent it. */
  origin?: string;
  /** The id of the later event of its record into which it was merged. */
  into?: string;
  /** One message about a range of the log, which ends at `logId`. */
  digest?: { fromLogId: string; count: number };
}

/** Before the part about a digest, by which a search finds all lines that have one. A line with other texts may contain it too. */
export const DIGEST_MARK = '#';

export function lineOf(receipt: Receipt): string {
  const { outcome, endedAtMs, ms, attempt, status, nextAtMs, into, digest } = receipt;
  const { error = '', words = '', origin = '' } = receipt;
  const parts = [
    ...[LETTERS[outcome], timeText(endedAtMs), idText(receipt.eventId), logIdText(receipt.logId, endedAtMs)],
    ...[recordText(receipt.recordId), escaped(receipt.type), Math.round(ms), attempt, status],
    nextAtMs === undefined ? '' : timeText(nextAtMs),
    ...[error, words, origin].map(escaped),
    into === undefined ? '' : idText(into),
    digest === undefined ? '' : `${DIGEST_MARK}${logIdText(digest.fromLogId, endedAtMs)}+${digest.count}`,
  ];
  return `${parts.join('\t').replace(/\t+$/, '')}\n`;
}

/** @param workspace the receipts of each are apart. @throws what is no receipt */
export function receiptIn(line: string, workspace: string): Receipt {
  const [letter = '', end, event = '', logId = '', record = '', type = '', ms, attempt, status, ...rest] =
    line.split('\t');
  const [nextAt = '', error = '', words = '', origin = '', into = '', digest = ''] = rest;
  const outcome = OUTCOMES.get(letter);
  if (outcome === undefined) throw new RangeError('no outcome of an attempt');
  const endedAtMs = numberIn(end, 36);
  const receipt: Receipt = {
    ...{ outcome, endedAtMs, ms: numberIn(ms), attempt: numberIn(attempt), status: numberIn(status), workspace },
    ...{ eventId: idIn(event), logId: logIdIn(logId, endedAtMs) },
    ...{ recordId: keyOfField(Buffer.from(record, 'base64url')), type: unescaped(type) },
  };
  if (nextAt !== '') receipt.nextAtMs = numberIn(nextAt, 36);
  if (error !== '') receipt.error = unescaped(error);
  if (words !== '') receipt.words = unescaped(words);
  if (origin !== '') receipt.origin = unescaped(origin);
  if (into !== '') receipt.into = idIn(into);
  if (digest !== '') {
    const [from = '', count] = digest.slice(DIGEST_MARK.length).split('+');
    receipt.digest = { fromLogId: logIdIn(from, endedAtMs), count: numberIn(count) };
  }
  return receipt;
}

/** The lines of a chunk. @throws bytes that are no text, or that end within a line */
export function linesIn(chunk: Buffer): string[] {
  const lines = utf8.decode(chunk).split('\n');
  if (lines.pop() !== '') throw new RangeError('a receipt ends behind its chunk');
  return lines;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function hasOutcome(line: string, outcomes: readonly ReceiptOutcome[]): boolean {
  return outcomes.some((outcome) => line.startsWith(LETTERS[outcome]));
}

/** When the attempt of the first line ended; NaN where there is no receipt. */
export function endOf(lines: string): number {
  return Number.parseInt(lines.split('\t', 2)[1] ?? '', 36);
}

const OWN_ID = /^evt_([0-9a-f]{32})$/;

/** The id of an event, as it stands in a line. A `=` stands before one that is not of ours. */
export function idText(id: string): string {
  const [, hex] = OWN_ID.exec(id) ?? [];
  return hex === undefined ? `=${escaped(id)}` : Buffer.from(hex, 'hex').toString('base64url');
}

function idIn(text: string): string {
  return text.startsWith('=') ? unescaped(text.slice(1)) : `evt_${Buffer.from(text, 'base64url').toString('hex')}`;
}

/** The id of a record, as it stands in a line. */
export function recordText(recordId: string): string {
  return recordField(recordId).toString('base64url');
}

/** The time by its distance from the end of the attempt, which is before or after it. */
function logIdText(logId: string, endedAtMs: number): string {
  const [ms = '0', sequence = '0'] = logId.split('-');
  return `${timeText(endedAtMs - Number(ms))}.${sequence}`;
}

function logIdIn(text: string, endedAtMs: number): string {
  const [since, sequence = ''] = text.split('.');
  return `${endedAtMs - numberIn(since, 36)}-${sequence}`;
}

function timeText(ms: number): string {
  return Math.round(ms).toString(36);
}

function numberIn(text = '', radix = 10): number {
  const number = Number.parseInt(text, radix);
  if (Number.isNaN(number)) throw new RangeError('no number');
  return number;
}

/** Without tabs and ends of lines, whatever a receiver said. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unescaped(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}
