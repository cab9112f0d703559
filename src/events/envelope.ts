/** Where an event's id comes from: from what happened, never from when or by whom it was seen. */
import { createHash } from 'node:crypto';
import { builtInLists, descriptorOf, type ListName, type ListRef, type Lists } from '../crm/lists/lists.js';
import type { ChangeData, ChangeEvent, TodoVerb, Verb } from './types.js';

export type EventDraft = EventCommon & ({ list: ListRef; verb: Verb } | { list: 'todo'; verb: TodoVerb });

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
  const type = `crm.${descriptorOf(list).object}.${verb}`;
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

/** What the record of an event is called: the second word of its type. */
export function objectOf({ type }: Pick<ChangeEvent, 'type'>): string {
  return type.split('.')[1] ?? '';
}

/** The list an event came from. Events of a list that is not among `lists` and the feed's own events have none. */
export function listOf(event: Pick<ChangeEvent, 'type'>, lists: Lists = builtInLists): ListName | undefined {
  return lists.byObject(objectOf(event))?.name;
}
