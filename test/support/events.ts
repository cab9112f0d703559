/** Events as the log has them. Use `changeEvent` instead of building one in a test. */
import { buildEvent, workspaceOf, type EventDraft } from '../../src/events/envelope.js';
import type { ListRef } from '../../src/crm/lists/lists.js';
import type { ChangeData, ChangeEvent } from '../../src/events/types.js';
import type { Redis } from '../../src/redis/client.js';
import type { Keys } from '../../src/redis/keys.js';

export const WORKSPACE = 'acme';

export interface EventSpec {
  record: string;
  sequence: number;
  workspace?: string;
  list?: ListRef;
  verb?: EventDraft['verb'];
  /** Fields that an updated event names: their values are the sequence before and the sequence. */
  changed?: readonly string[];
  class?: ChangeData['class'];
  /** Makes the event about as large as a real one. */
  weight?: number;
  /** More fields of the record after the change. */
  fields?: object;
  /** ISO 8601. When the change was made; it was observed a second later. */
  time?: string;
  /** Replaces what follows from the above. */
  data?: Partial<ChangeData>;
}

export function changeEvent(spec: EventSpec): ChangeEvent {
  const { record, sequence, workspace = WORKSPACE, list = 'people', verb = 'updated', changed = ['담당자'] } = spec;
  const { time = '2026-03-02T04:10:00.000Z' } = spec;
  const image = {
    id: record,
    이름: `가상인 ${sequence}`,
    ...(spec.weight ? { 메모: '가'.repeat(spec.weight / 3) } : {}),
  };
  // The images contain the changes that an updated event names, because merging compares images.
  const holding = (value: number): Record<string, number> =>
    verb === 'updated' ? Object.fromEntries(changed.map((field) => [field, value])) : {};
  const [was, is] = [holding(sequence - 1), holding(sequence)];
  const draft = { workspace, list, verb, recordId: record, time, contentDigest: `${record}-${sequence}` } as const;
  return buildEvent({
    ...(draft as EventDraft),
    data: {
      before: verb === 'created' ? null : { ...image, ...was },
      after: verb === 'deleted' ? null : { ...image, ...is, ...spec.fields },
      changes: verb === 'updated' ? changed.map((field) => ({ field, before: sequence - 1, after: sequence })) : [],
      sequence,
      class: spec.class ?? 'edited',
      detectedBy: 'both',
      observedAt: new Date(Date.parse(time) + 1_000).toISOString(),
      sweep: 'sweep-1',
      ...spec.data,
    },
  });
}

/** Updates of one record, in this order. */
export function changesOf(record: string, ...sequences: number[]): ChangeEvent[] {
  return sequences.map((sequence) => changeEvent({ record, sequence }));
}

/** One update of each record. */
export function firstChangesOf(...records: string[]): ChangeEvent[] {
  return records.map((record) => changeEvent({ record, sequence: 1 }));
}

/** The fields of its entry in the log. */
export function fieldsOf(event: ChangeEvent): string[] {
  return ['event', JSON.stringify(event), 'type', event.type, 'subject', event.subject];
}

/** @returns their log ids */
export async function appendEvents(
  { redis, keys }: { redis: Redis; keys: Keys },
  events: readonly ChangeEvent[],
): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < events.length; from += 1_000) {
    const pipeline = redis.pipeline();
    for (const event of events.slice(from, from + 1_000))
      pipeline.xadd(keys.log(workspaceOf(event)), '*', ...fieldsOf(event));
    ids.push(...((await pipeline.exec()) ?? []).map(([, id]) => String(id)));
  }
  return ids;
}
