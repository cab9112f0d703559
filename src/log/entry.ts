/**
 * An entry of the event log. Its fields are `event` (JSON), `type` and `subject`: whether an event is wanted can mostly be said without parsing it.
 * Readers ignore other fields.
 */
import { z } from 'zod';
import type { ChangeEvent, LoggedEvent } from '../events/types.js';
import { textOf } from '../kit/utf8.js';
import { checked, parseJson, unreadable, type StoredAt } from '../redis/stored.js';

/** An entry as Redis answers it. */
export type StreamEntry = [id: Buffer, fields: Buffer[]];

/** The arguments with which scripts add an event (redis/lua/append-event.lua); empty where there is none. */
export function entryArguments(event: ChangeEvent | null): [event: string, type: string, subject: string] {
  return event === null ? ['', '', ''] : [JSON.stringify(event), event.type, event.subject];
}

const [EVENT, TYPE, SUBJECT] = ['event', 'type', 'subject'].map((name) => Buffer.from(name)) as [
  Buffer,
  Buffer,
  Buffer,
];
const NOTHING = Buffer.alloc(0);

export class LogEntry {
  readonly workspace: string;
  readonly logId: string;
  readonly type: string;
  readonly subject: string;
  readonly bytes: Buffer;
  readonly #log: string;

  /** @param log the key of the stream */
  constructor(workspace: string, log: string, [id, fields]: StreamEntry) {
    this.workspace = workspace;
    this.#log = log;
    this.logId = id.toString('latin1');
    this.bytes = valueIn(fields, EVENT, 0);
    this.type = valueIn(fields, TYPE, 2).toString();
    this.subject = valueIn(fields, SUBJECT, 4).toString();
  }

  logged(): LoggedEvent {
    return { logId: this.logId, event: this.parse() };
  }

  parse(): ChangeEvent {
    const at = { what: 'an event of the log', key: this.#log, field: this.logId } as const;
    const event = readEvent(textOf(this.bytes), at);
    if (event.type === this.type && inUtf8(event.subject) === this.subject) return event;
    throw unreadable(at, 'one whose fields "type" and "subject" are not those of its event');
  }
}

/** The subject as its field has it: half a character is none in UTF-8. */
export function inUtf8(subject: string): string {
  return Buffer.from(subject).toString();
}

/** Names alternate with values, and a value may be anything. @param usual where this release writes the name */
function valueIn(fields: readonly Buffer[], name: Buffer, usual: number): Buffer {
  const isUsual = fields[usual]?.equals(name) === true;
  const at = isUsual ? usual : fields.findIndex((one, index) => index % 2 === 0 && name.equals(one));
  return (at < 0 ? undefined : fields[at + 1]) ?? NOTHING;
}

/** Only what every reader relies on: checking a full schema would take longer than parsing the events. */
export const eventSchema = z.object({
  id: z.string(),
  source: z.string(),
  type: z.string(),
  subject: z.string(),
  time: z.string(),
  data: z.object({ sequence: z.number(), observedAt: z.string(), changes: z.array(z.unknown()) }),
});

export function readEvent(json: string, at: StoredAt): ChangeEvent {
  const event = parseJson(json, at);
  checked(eventSchema, event, at);
  return event as ChangeEvent;
}
