/** An event as the page shows it: short texts, so that a record of megabytes costs the page a line. */
import { nameItBelongsTo, type FindRecord } from '../../../events/about.js';
import { differingParts, textOfValue, titleOfEvent, wordsOfType } from '../../../events/describe.js';
import { workspaceOf } from '../../../events/envelope.js';
import { personInCharge } from '../../../events/person-in-charge.js';
import { formatPosition } from '../../../events/position.js';
import { linkTo, type Links } from '../../../events/related.js';
import type { Actor, FieldChange, LoggedEvent } from '../../../events/types.js';
import { shorten } from '../../../kit/printable.js';
import type { EventView, ValueView } from './answers.js';
import { concernsOf } from './concerns.js';

const MOST_CHANGES = 20;
const MOST_CHARACTERS = 240;
/** Equal characters shown around the difference of two long texts. */
const CONTEXT = 24;
/** People in charge are the users of a CRM. A workspace has few of them. */
const MOST_NAMES = 5_000;

export type EventViews = (event: LoggedEvent) => Promise<EventView>;

/** Memos and activities have only the id of a person: the name comes from other events, or is looked up. */
export function createEventViews(find: FindRecord, linksOf: (workspace: string) => Links): EventViews {
  const names = new Map<string, string>();
  return async (event) => {
    const { position, logId, ...view } = viewOf(event);
    const { workspace, person } = view;
    const key = `${workspace} ${person?.id ?? ''}`;
    const isNamed = person !== null && person.name !== person.id;
    if (isNamed && names.size >= MOST_NAMES) names.clear();
    if (isNamed) names.set(key, person.name);
    // All events of a page come this far before the first of them goes on, so each knows the names of all.
    const about = await nameItBelongsTo(event.event, find);
    const named = person === null || isNamed ? person : { ...person, name: names.get(key) ?? person.id };
    // The page sends the position and the log id back.
    const [object, id] = split(view.records[0] ?? '');
    const link = linkTo(object, id, linksOf(workspace));
    return { position, logId, ...readableTexts({ ...view, about: about ?? null, person: named, link }) };
  };
}

function split(record: string): [object: string, id: string] {
  const at = record.indexOf(':');
  return [record.slice(0, at), record.slice(at + 1)];
}

export function viewOf({ logId, event }: LoggedEvent): EventView {
  const { id, type, subject, time, data } = event;
  const workspace = workspaceOf(event);
  const record = data.after ?? data.before;
  const title = titleOfEvent(event);
  const { records, row, edit } = concernsOf(event);
  return {
    position: formatPosition(new Map([[workspace, logId]])),
    id,
    workspace,
    logId,
    type,
    ...wordsOfType(type),
    subject,
    title: title === null ? null : shorten(title, MOST_CHARACTERS),
    about: null,
    link: null,
    records,
    row: row === null ? null : { field: row.field, value: viewOfValue(row.value) },
    edit,
    person: record === null ? null : personInCharge(record),
    actor: viewOfActor(data.actor),
    observedAt: data.observedAt,
    time,
    sequence: data.sequence,
    class: data.class,
    detectedBy: data.detectedBy,
    changes: data.changes.slice(0, MOST_CHANGES).map(viewOfChange),
    moreChanges: Math.max(0, data.changes.length - MOST_CHANGES),
    due: data.due ?? null,
    late: data.late === true,
    notice: data.notice ?? null,
    schema: data.schema ?? null,
  };
}

function viewOfActor(actor: Actor | undefined): EventView['actor'] {
  return actor === undefined ? null : { type: actor.type, id: actor.id, name: actor.name };
}

function viewOfChange({ field, before, after, actor }: FieldChange): EventView['changes'][number] {
  const [old, now] = [textOfValue(before), textOfValue(after)];
  // Cut at their ends, two long texts could look equal.
  const isLong = (old?.length ?? 0) > MOST_CHARACTERS || (now?.length ?? 0) > MOST_CHARACTERS;
  const parts = old !== null && now !== null && isLong ? differingParts(old, now, CONTEXT) : [old, now];
  return {
    field,
    before: valueView(parts[0] ?? null, old, before),
    after: valueView(parts[1] ?? null, now, after),
    actor: viewOfActor(actor),
  };
}

function viewOfValue(value: unknown): ValueView {
  const text = textOfValue(value);
  return valueView(text, text, value);
}

function valueView(part: string | null, whole: string | null, value: unknown): ValueView {
  const type = typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';
  if (part === null) return { text: null, cut: false, type };
  const text = shorten(part, MOST_CHARACTERS);
  return { text, cut: text !== whole, type };
}

/** Names of fields too: what JSON does not escape is replaced in its text, with one pass over all of it. */
export function readableTexts<Value>(value: Value): Value {
  const text = JSON.stringify(value)
    .replace(/(?!\u200d)\p{Cf}/gu, '')
    .replace(/[\u007f-\u009f]/gu, '\u2421');
  return JSON.parse(text, (_name, one: unknown) => (typeof one === 'string' ? readable(one) : one)) as Value;
}

/** A name must not move or hide what stands next to it, such as by a change of direction. Joined emoji stay joined. */
function readable(text: string): string {
  return (
    text
      .replace(/[\u0000-\u0008\u000b-\u001f]/gu, (character) =>
        String.fromCharCode(0x2400 + (character.codePointAt(0) ?? 0)),
      )
      // Half a character, where a text was cut.
      .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
  );
}
