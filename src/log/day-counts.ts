/** What was logged on each day, in numbers: kept with the events, so that a year is drawn without reading any. */
import { personInCharge } from '../events/person-in-charge.js';
import type { ChangeEvent } from '../events/types.js';
import { dayIn } from '../kit/iso-time.js';
import type { WorkspaceKeys, WorkspaceRedis } from '../redis/keys.js';

/** A year, and the same days of the year before it for a month. */
export const KEPT_MS = 400 * 86_400_000;

/**
 * An event of a record is counted once as a whole. An edit is also counted for its person in charge, and for each changed field; not what is told
 * beside it, such as that a todo was completed.
 */
export type Counted =
  | readonly ['event', type: string, changeClass: string]
  | readonly ['owner', object: string, id: string, name: string]
  | readonly ['field', object: string, field: string];

const EDITS = ['created', 'updated', 'deleted'];

/** The fields of a day's hash that an event adds one to; none of the feed's own events. */
function countedAs({ type, data }: ChangeEvent): Counted[] {
  const [source, object = '', verb = ''] = type.split('.');
  if (source !== 'crm') return [];
  const whole: Counted = ['event', type, data.class];
  const record = data.after ?? data.before;
  if (data.class !== 'edited' || record === null || !EDITS.includes(verb)) return [whole];
  const owner = personInCharge(record);
  const fields = new Set(data.changes.map(({ field }) => field));
  return [
    whole,
    ['owner', object, owner?.id ?? '', owner?.name ?? ''],
    ...[...fields].map((field): Counted => ['field', object, field]),
  ];
}

export interface DayCount {
  /** The hash of the day. */
  key: string;
  /** How much is added to which field. */
  added: ReadonlyMap<string, number>;
}

export interface DayCountsOptions extends WorkspaceKeys {
  /** In which days begin. */
  timeZone: string;
}

/** What events add to their days: the day of `observedAt`, as the log has it, and not of a time that a record names. */
export function dayCounts(events: readonly ChangeEvent[], { keys, workspace, timeZone }: DayCountsOptions): DayCount[] {
  const days = new Map<string, Map<string, number>>();
  for (const event of events) {
    const counted = countedAs(event);
    if (counted.length === 0) continue;
    const key = keys.day(workspace, dayIn(timeZone, event.data.observedAt));
    const added = days.get(key) ?? new Map<string, number>();
    days.set(key, added);
    for (const one of counted) {
      const field = JSON.stringify(one);
      added.set(field, (added.get(field) ?? 0) + 1);
    }
  }
  return [...days].map(([key, added]) => ({ key, added }));
}

/** The arguments with which scripts that log one event count it (redis/lua/count-event.lua): its day, and the fields. */
export function countArguments(event: ChangeEvent | null, options: DayCountsOptions): [key: string, fields: string] {
  const [day] = event === null ? [] : dayCounts([event], options);
  return day === undefined ? ['', ''] : [day.key, [...day.added.keys()].join('\n')];
}

/** What was counted on each of these days, in their order. */
export async function readDays(
  { redis, keys, workspace }: WorkspaceRedis,
  dates: readonly string[],
): Promise<ReadonlyMap<Counted, number>[]> {
  const pipeline = redis.pipeline();
  for (const date of dates) pipeline.hgetall(keys.day(workspace, date));
  const answers = (await pipeline.exec()) ?? [];
  return answers.map(([error, hash]) => {
    if (error) throw error;
    const fields = Object.entries(hash as Readonly<Record<string, string>>);
    return new Map(fields.map(([field, count]) => [JSON.parse(field) as Counted, Number(count)]));
  });
}
