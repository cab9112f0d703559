/**
 * How a history stores what undoes a decision:
 *
 *     version · when · kind · sequence · time of the event · id of the event · former values · more · where the one before it is
 *
 * The values are compact (compact.ts), and `more` is what only some events have. The script that stores it adds the last part, and reads that and the time.
 */
import { z } from 'zod';
import type { UncheckedRecord } from '../../crm/record.js';
import type { Past, Undo } from '../detect/undo.js';
import type { Actor, ChangeClass, ChangeEvent } from '../../events/types.js';
import { checked, unreadable, type StoredAt } from '../../redis/stored.js';
import { compact, CompactReader } from './compact.js';
import { packNumber, readPackedNumber } from './packing.js';

/** One byte. Increase it with every change of the format. */
const VERSION = 'A';
const WHEN_BYTES = 6;
const HEAD_BYTES = VERSION.length + WHEN_BYTES;
const EVENT_BYTES = 16;
const PLACE_BYTES = 10;

const VERBS = [null, 'created', 'updated', 'deleted', 'snapshot'] as const;
const UNDOES = ['absent', 'whole', 'other'] as const;
const [UNDO_BIT, REFRESHED_BIT, REAPPEARED_BIT] = [8, 32, 64];

/** An event as a history keeps it. */
export interface PastEvent {
  id: string;
  verb: NonNullable<(typeof VERBS)[number]>;
  /** ISO 8601: the record's own time of the change, otherwise when it was observed. */
  time: string;
  class: ChangeClass;
  reappeared?: true;
  mergedInto?: string;
  /** Who made all of the change. */
  actor?: Actor;
  /** Who changed some of the fields. */
  actors?: Readonly<Record<string, Actor>>;
}

export interface StoredPast extends Past {
  /** Null: the record was stored without an event. */
  event: PastEvent | null;
  /** The record's sequence after it. */
  sequence: number;
}

const actor = z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() });
const facts = z.object({
  mergedInto: z.string().exactOptional(),
  actor: actor.exactOptional(),
  actors: z.record(z.string(), actor).exactOptional(),
});

interface PackedPast {
  past: Past;
  event: ChangeEvent | null;
  sequence: number;
}

export function packPast({ past: { at, undo }, event, sequence }: PackedPast): Buffer {
  const atMs = Date.parse(at);
  const when = Buffer.alloc(WHEN_BYTES);
  when.writeUIntBE(Math.max(0, atMs), 0, WHEN_BYTES);
  const kept = keptOf(event);
  const bits = kindOf(kept, undo);
  const ofEvent = kept === null ? [] : [packSigned(atMs - Date.parse(kept.time)), Buffer.from(kept.id.slice(4), 'hex')];
  const head = Buffer.concat([Buffer.from(VERSION), when, Buffer.of(bits), packNumber(sequence), ...ofEvent]);
  const { mergedInto, actor, actors } = kept ?? {};
  const more = { ...(mergedInto !== undefined && { mergedInto }), ...(actor && { actor }), ...(actors && { actors }) };
  const values = Object.keys(more).length === 0 ? [] : [compact(more)];
  return Buffer.concat([head, ...formerValues(undo), ...values]);
}

/** A whole record as it is stored, as one long text. */
function formerValues(undo: Undo): Buffer[] {
  if (undo.was === 'absent') return [];
  return [compact(undo.was === 'whole' ? JSON.stringify(undo.record) : undo.fields)];
}

function kindOf(event: PastEvent | null, { was }: Undo): number {
  const verb = VERBS.indexOf(event?.verb ?? null) + UNDO_BIT * UNDOES.indexOf(was);
  return verb + (event?.class === 'refreshed' ? REFRESHED_BIT : 0) + (event?.reappeared === true ? REAPPEARED_BIT : 0);
}

function keptOf(event: ChangeEvent | null): PastEvent | null {
  if (event === null) return null;
  const { id, time, data } = event;
  const verb = VERBS.find((one) => one === event.type.split('.')[2]) ?? 'updated';
  const actors = data.changes.flatMap(({ field, actor: own }) => (own === undefined ? [] : [[field, own] as const]));
  return {
    ...{ id, verb, time, class: data.class },
    ...(data.reappeared === true && { reappeared: true }),
    ...(data.mergedInto !== undefined && { mergedInto: data.mergedInto }),
    ...(data.actor !== undefined && { actor: data.actor }),
    ...(actors.length > 0 && { actors: Object.fromEntries(actors) }),
  };
}

/** Small numbers of either sign take few bytes. */
function packSigned(number: number): Buffer {
  return packNumber(number < 0 ? -2 * number - 1 : 2 * number);
}

interface EntryAt {
  key: string;
  /** The id of the entry. */
  field: string;
}

/** @throws CF_STATE_UNREADABLE: not written by this release */
export function unpackPast(stored: Buffer, at: EntryAt): StoredPast {
  return unpackBy(readPast, stored, at);
}

/** What undoes it, without what else it says. @throws CF_STATE_UNREADABLE */
export function unpackUndo(stored: Buffer, at: EntryAt): Undo {
  return unpackBy((packed) => partsOf(packed).undo, stored, at);
}

function unpackBy<Part>(read: (packed: Buffer, place: StoredAt) => Part, stored: Buffer, at: EntryAt): Part {
  const place: StoredAt = { what: 'a change of a history', ...at };
  if (stored[0] !== VERSION.charCodeAt(0) || stored.length < HEAD_BYTES + PLACE_BYTES)
    throw unreadable(place, `${stored.length} bytes without format version ${VERSION}`);
  try {
    return read(stored.subarray(0, stored.length - PLACE_BYTES), place);
  } catch {
    throw unreadable(place, `${stored.length} bytes that are no change`);
  }
}

function partsOf(stored: Buffer) {
  const bits = stored[HEAD_BYTES] ?? 0;
  const { number: sequence, end } = readPackedNumber(stored, HEAD_BYTES + 1);
  const verb = VERBS[bits % UNDO_BIT] ?? null;
  const lag = verb === null ? { number: 0, end } : readPackedNumber(stored, end);
  const head = verb === null ? end : lag.end + EVENT_BYTES;
  const reader = new CompactReader(stored, head);
  return { bits, sequence, verb, lag, head, reader, undo: undoIn(bits, reader) };
}

function readPast(stored: Buffer, place: StoredAt): StoredPast {
  const atMs = stored.readUIntBE(VERSION.length, WHEN_BYTES);
  const { bits, sequence, verb, lag, head, reader, undo } = partsOf(stored);
  const more = reader.isAtEnd ? {} : checked(facts, reader.read(), place);
  const time = atMs - (lag.number % 2 === 1 ? -(lag.number + 1) / 2 : lag.number / 2);
  const event = verb && {
    ...{ id: `evt_${stored.toString('hex', lag.end, head)}`, verb, time: new Date(time).toISOString(), ...more },
    class: (bits & REFRESHED_BIT) === 0 ? ('edited' as const) : ('refreshed' as const),
    ...((bits & REAPPEARED_BIT) !== 0 && { reappeared: true as const }),
  };
  return { at: new Date(atMs).toISOString(), undo, event, sequence };
}

function undoIn(bits: number, reader: CompactReader): Undo {
  const was = UNDOES[(bits >> 3) & 3] ?? 'absent';
  if (was === 'absent') return { was };
  const values = reader.read();
  if (was === 'whole') return { was, record: JSON.parse(String(values)) as UncheckedRecord };
  return { was, fields: values as UncheckedRecord };
}
