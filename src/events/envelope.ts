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

/** 128 bits of SHA-256 over length-prefixed parts (so that no two lists of parts read the same). */
function eventId(parts: readonly string[]): string {
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
