/** Builds events and their ids. An id depends only on what changed, not on when or by which process it was detected. */
import { createHash } from 'node:crypto';
import { builtInLists, descriptorOf, type ListName, type ListRef, type Lists } from '../crm/lists/lists.js';
import type { TodoVerb, Verb } from './kinds.js';
import type { ChangeData, ChangeEvent } from './types.js';

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

/** The id of several events merged into one. It depends only on their ids, so the same merge always has the same id. */
export function mergedEventId(ids: readonly string[]): string {
  return eventId(['merged', ...ids]);
}

/** 128 bits of SHA-256. Each part has its length as prefix: different lists of parts give different input. */
export function eventId(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
  return `evt_${hash.digest('hex').slice(0, 32)}`;
}

export function workspaceOf(event: ChangeEvent): string {
  return event.source.slice('/workspaces/'.length);
}

export function objectOf({ type }: { type: string }): string {
  return type.split('.')[1] ?? '';
}

/** The list of an event; undefined for a list that is not in `lists`, and for the feed's own events. */
export function listOf(event: { type: string }, lists: Lists = builtInLists): ListName | undefined {
  return lists.byObject(objectOf(event))?.name;
}

export function eventsOf({
  events = [],
  writes,
}: {
  events?: readonly ChangeEvent[];
  writes: readonly { event: ChangeEvent | null; derived?: readonly ChangeEvent[] }[];
}): ChangeEvent[] {
  return [...writes.flatMap(({ event, derived = [] }) => (event === null ? [] : [event, ...derived])), ...events];
}

/** More events than any record has in a second, the shortest epoch. Sequences stay below 2^53 until the year 2242. */
const STEP = 2 ** 20;

/** Above everything given out before, so that the highest sequence of a record always wins. */
export function firstSequenceOf(epoch: number): number {
  return epoch * STEP;
}

export function epochOfSequence(sequence: number): number {
  return Math.floor(sequence / STEP);
}

/** Whether it is the last one before an epoch: a snapshot that follows a loss sends it, whatever is stored. */
export function isBeforeEpoch(sequence: number): boolean {
  return (sequence + 1) % STEP === 0;
}

export function nextSequence(last: number, { epoch = 0 }: { epoch?: number }): number {
  return Math.max(last + 1, firstSequenceOf(epoch));
}

/** The time of day in seconds: Redis may have forgotten later epochs, and no process may know them. */
export function epochAfter(last: number, nowMs: number): number {
  return Math.max(last + 1, Math.floor(nowMs / 1_000));
}
