/**
 * A receipt says how one attempt of a delivery ended: who, when, with what answer. It is packed, because there is one for every
 * delivery, and a search reads a million of them: a search compares bytes, and unpacks what may match. Pure.
 *
 *   length of the rest, 2 bytes · outcome, 1 · parts, 1 · end, 6 · event · log id · record · type · duration · attempt · status
 *   then the parts that it has, in the order of PARTS
 */
import { keyOfField, recordField } from '../../redis/keys.js';

/** Their order is stored: add at the end only. */
const OUTCOMES = ['delivered', 'retry', 'dead', 'skipped'] as const;
const PARTS = ['nextAtMs', 'error', 'words', 'origin', 'into', 'digest'] as const;
/** Types of these words take a byte or two, others are stored as text. */
const OBJECTS = [
  ...['person', 'organization', 'memo', 'todo', 'deal_history', 'person_activity', 'deal', 'lead'],
  ...['person_history', 'organization_history', 'lead_history'],
];
const VERBS = [
  ...['created', 'updated', 'deleted', 'snapshot', 'schema_changed', 'completed', 'reopened', 'rescheduled'],
  ...['reassigned', 'due_soon', 'overdue'],
];
const VERBS_MOST = 16;

export type ReceiptOutcome = (typeof OUTCOMES)[number];

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

const LENGTH_BYTES = 2;
const OUTCOME_AT = 2;
const PARTS_AT = 3;
const END_AT = 4;
export const HEAD_BYTES = 10;
/** The length has two bytes. A record's id may be any text. */
const LONGEST_TEXT = 2_000;

export function packReceipt(receipt: Receipt): Buffer {
  const { endedAtMs, nextAtMs, error, words, origin, into, digest } = receipt;
  const packed = packing(() => {
    out.at = HEAD_BYTES;
    out.bytes[OUTCOME_AT] = OUTCOMES.indexOf(receipt.outcome);
    out.bytes[PARTS_AT] = PARTS.reduce((bits, part, at) => (receipt[part] === undefined ? bits : bits | (1 << at)), 0);
    out.bytes.writeUIntBE(endedAtMs, END_AT, 6);
    putId(receipt.eventId);
    putLogId(receipt.logId, endedAtMs);
    putRecord(receipt.recordId);
    putType(receipt.type);
    putNumber(receipt.ms);
    putNumber(receipt.attempt);
    putNumber(receipt.status);
    if (nextAtMs !== undefined) putNumber(nextAtMs - endedAtMs);
    for (const text of [error, words, origin]) if (text !== undefined) putText(text);
    if (into !== undefined) putId(into);
    if (digest === undefined) return;
    putLogId(digest.fromLogId, endedAtMs);
    putNumber(digest.count);
  });
  packed.writeUInt16BE(packed.length - LENGTH_BYTES);
  return packed;
}

/** The bytes of an id, by which a search finds it. Others may contain them too. */
export const idBytes = (id: string): Buffer => packing(() => putId(id));
export const recordBytes = (recordId: string): Buffer => packing(() => putRecord(recordId));

/** @param workspace the receipts of each are apart */
export function unpackReceipt(packed: Buffer, workspace: string): Receipt {
  const endedAtMs = endOf(packed);
  const take = takeFrom(packed);
  const has = (part: (typeof PARTS)[number]): boolean => hasPart(packed, part);
  const receipt: Receipt = {
    outcome: outcomeOf(packed) ?? 'skipped',
    endedAtMs,
    eventId: take.id(),
    logId: take.logId(endedAtMs),
    workspace,
    recordId: keyOfField(take.bytes()),
    type: take.type(),
    ms: take.number(),
    attempt: take.number(),
    status: take.number(),
  };
  if (has('nextAtMs')) receipt.nextAtMs = endedAtMs + take.number();
  if (has('error')) receipt.error = take.text();
  if (has('words')) receipt.words = take.text();
  if (has('origin')) receipt.origin = take.text();
  if (has('into')) receipt.into = take.id();
  if (has('digest')) receipt.digest = { fromLogId: take.logId(endedAtMs), count: take.number() };
  return receipt;
}

/** The packed receipts of a chunk that are wanted, by where each begins. One of a later release, whose outcome is not known, is left out. */
export function receiptsIn(chunk: Buffer, isWanted: (at: number) => boolean): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + HEAD_BYTES <= chunk.length;) {
    const end = at + LENGTH_BYTES + chunk.readUInt16BE(at);
    if (end > chunk.length) throw new RangeError('a receipt ends behind its chunk');
    if (outcomeOf(chunk, at) !== undefined && isWanted(at)) found.push(chunk.subarray(at, end));
    at = end;
  }
  return found;
}

export function outcomeOf(bytes: Buffer, at = 0): ReceiptOutcome | undefined {
  return OUTCOMES[bytes[at + OUTCOME_AT] ?? OUTCOMES.length];
}

export function endOf(bytes: Buffer, at = 0): number {
  return bytes.readUIntBE(at + END_AT, 6);
}

export function isOfDigest(bytes: Buffer, at = 0): boolean {
  return hasPart(bytes, 'digest', at);
}

function hasPart(bytes: Buffer, part: (typeof PARTS)[number], at = 0): boolean {
  return ((bytes[at + PARTS_AT] ?? 0) & (1 << PARTS.indexOf(part))) !== 0;
}

/** One place for all: a receipt is packed for each delivery. The longest one fits: its length has two bytes. */
const out = { bytes: Buffer.alloc(65_536), at: 0 };

function packing(put: () => void): Buffer {
  out.at = 0;
  put();
  return Buffer.from(out.bytes.subarray(0, out.at));
}

/** Seven bits a byte, the lowest first. */
function putNumber(number: number): void {
  let rest = Math.max(0, Math.round(number));
  while (rest >= 128) {
    out.bytes[out.at++] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
  }
  out.bytes[out.at++] = rest;
}

function putSized(bytes: Buffer): void {
  putNumber(bytes.length);
  out.at += bytes.copy(out.bytes, out.at);
}

function putText(text: string): void {
  putSized(Buffer.from(text.slice(0, LONGEST_TEXT), 'utf8'));
}

function putRecord(recordId: string): void {
  putSized(recordField(recordId.slice(0, LONGEST_TEXT)));
}

const OWN_ID = /^evt_([0-9a-f]{32})$/;

/** A length of 0 stands before the 16 bytes of an id of ours. */
function putId(id: string): void {
  const [, hex] = OWN_ID.exec(id) ?? [];
  if (hex === undefined) {
    putText(id);
  } else {
    putNumber(0);
    out.at += out.bytes.write(hex, out.at, 'hex');
  }
}

/** The time by its distance from the end of the attempt, which is before or after it. */
function putLogId(logId: string, endedAtMs: number): void {
  const [ms = '0', sequence = '0'] = logId.split('-');
  const sinceMs = endedAtMs - Number(ms);
  putNumber(sinceMs >= 0 ? 2 * sinceMs : -2 * sinceMs - 1);
  putNumber(Number(sequence));
}

/** 0 stands before a type that has no number. */
function putType(type: string): void {
  const [root, object = '', verb = '', ...more] = type.split('.');
  const [at, verbAt] = [OBJECTS.indexOf(object), VERBS.indexOf(verb)];
  const isKnown = root === 'crm' && at >= 0 && verbAt >= 0 && more.length === 0;
  putNumber(isKnown ? 1 + VERBS_MOST * at + verbAt : 0);
  if (!isKnown) putText(type);
}

interface Take {
  number(): number;
  /** @param length @defaultValue a number says it */
  bytes(length?: number): Buffer;
  text(): string;
  id(): string;
  logId(endedAtMs: number): string;
  type(): string;
}

function takeFrom(packed: Buffer): Take {
  let at = HEAD_BYTES;
  const take: Take = {
    number() {
      for (let [number, factor] = [0, 1]; ; factor *= 128) {
        const byte = packed.readUInt8(at++);
        number += (byte % 128) * factor;
        if (byte < 128) return number;
      }
    },
    bytes: (length = take.number()) => packed.subarray(at, (at += length)),
    text: () => take.bytes().toString('utf8'),
    id() {
      const length = take.number();
      return length === 0 ? `evt_${take.bytes(16).toString('hex')}` : take.bytes(length).toString('utf8');
    },
    logId(endedAtMs) {
      const distance = take.number();
      const sinceMs = distance % 2 === 0 ? distance / 2 : -(distance + 1) / 2;
      return `${endedAtMs - sinceMs}-${take.number()}`;
    },
    type() {
      const number = take.number();
      if (number === 0) return take.text();
      return `crm.${OBJECTS[Math.floor((number - 1) / VERBS_MOST)] ?? ''}.${VERBS[(number - 1) % VERBS_MOST] ?? ''}`;
    },
  };
  return take;
}
