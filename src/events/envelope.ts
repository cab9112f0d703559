/** Where an event's id comes from: from what happened, never from when or by whom it was seen. */
import { createHash } from 'node:crypto';
import { OBJECT_OF, listOfObject, type ListName } from './lists.js';
import type { ChangeData, ChangeEvent, EventType, TodoVerb, Verb } from './types.js';

export type EventDraft = EventCommon & ({ list: ListName; verb: Verb } | { list: 'todo'; verb: TodoVerb });

interface EventCommon {
  workspace: string;
  recordId: string;
  /** ISO 8601, UTC. */
  time: string;
  /** Digest of the record's new content; part of the id, so that two different changes never share one. */
  contentDigest: string;
  data: ChangeData;
}

export function buildEvent({ workspace, list, verb, recordId, time, contentDigest, data }: EventDraft): ChangeEvent {
  // Of todos alone there are more verbs: the draft's type has seen to that.
  const type = `crm.${OBJECT_OF[list]}.${verb}` as EventType;
  return {
    specversion: '1.0',
    id: eventId([workspace, type, recordId, String(data.sequence), contentDigest]),
    source: `/workspaces/${workspace}`,
    type,
    subject: recordId,
    time,
    datacontenttype: 'application/json',
    data,
  };
}

/** An event that a derive function made of another: of the same record, at the same point of its history. */
export function buildDerivedEvent(
  source: ChangeEvent,
  {
    derive,
    type,
    index,
    derived,
  }: { derive: string; type: string; index: number; derived: ChangeData['derived'] & object },
): ChangeEvent {
  return {
    ...source,
    id: eventId([derive, source.id, type, String(index)]),
    type,
    data: { ...source.data, derivedFrom: source.id, derivedBy: derive, derived },
  };
}

/** The id of several events told as one: from theirs alone, so that the same merge always has the same. */
export function mergedEventId(ids: readonly string[]): string {
  return eventId(['merged', ...ids]);
}

/** The id of several events sent in one message. */
export function batchId(ids: readonly string[]): string {
  return eventId(['batch', ...ids]);
}

/** 128 bits of SHA-256 over length-prefixed parts (so that no two lists of parts read the same). */
export function eventId(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
  return `evt_${hash.digest('hex').slice(0, 32)}`;
}

export function workspaceOf(event: ChangeEvent): string {
  return event.source.slice('/workspaces/'.length);
}

/** The list an event came from, read off its type. */
export function listOf(event: ChangeEvent): ListName | undefined {
  return listOfObject(event.type.split('.')[1] ?? '');
}
