/** Finds records of a list by conditions and names, in an order, in steps: at most one step and the answer are in memory. */
import type { FindQuery, FoundRecords } from '../actions/inspector.js';
import type { ListName } from '../crm/lists/lists.js';
import { isObject, type CrmRecord, type UncheckedRecord } from '../crm/record.js';
import { normal, valueAtPath } from '../delivery/handlers/values.js';
import { checkConditions, compileWhere } from '../delivery/handlers/where.js';
import { textOfValue, titleOfRecord } from '../events/describe.js';
import type { ChangeEvent } from '../events/types.js';
import { withId } from '../feed/detect/build-event.js';
import { isInList, isStored } from '../feed/detect/record-state.js';
import { everyDigest, readRecords } from '../feed/store/stored-records.js';
import { usage } from '../kit/errors.js';
import { giveWay } from '../kit/give-way.js';
import type { WorkspaceRedis } from '../redis/keys.js';

/** The place of a record in the order that was asked for: the value it is sorted by, and its id. */
type Place = readonly [value: string | number | null, id: string];
type Found = readonly [at: Place, record: CrmRecord];

const MOST = 200;
const STEP = 200;

/** The records of a list, in steps. */
interface Records {
  /** They are in the order of their ids, and begin after one. */
  areById: boolean;
  steps: (after: string | null) => AsyncIterable<readonly CrmRecord[]>;
}

/** @throws ChangefeedError CF_USAGE */
export async function findRecords(
  { areById, steps }: Records,
  { sort, from, fields, limit = 20, ...query }: FindQuery & { now: string },
): Promise<Omit<FoundRecords, 'asOf'>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw usage(`find: limit must be a whole number from 1 to ${MOST}.`);
  const isWanted = wantedBy(query);
  const isDescending = sort?.startsWith('-') === true;
  const field = isDescending ? sort.slice(1) : sort;
  const order = (one: Place, other: Place): number => compare(one, other, isDescending);
  const after = from === undefined ? null : placeIn(from);
  let found: Found[] = [];
  const isInOrder = areById && field === undefined;
  for await (const step of steps(isInOrder && after !== null ? after[1] : null)) {
    for (const record of step) {
      const place: Place = [field === undefined ? null : valueOf(record, field), record.id];
      if ((after === null || order(place, after) > 0) && isWanted(record)) found.push([place, record]);
    }
    found = found.sort(([one], [other]) => order(one, other)).slice(0, limit + 1);
    // In the order of ids, the first ones that are found are the answer.
    if (isInOrder && found.length > limit) break;
    await giveWay();
  }
  const shown = found.slice(0, limit);
  const [last] = shown.at(-1) ?? [];
  return {
    records: shown.map(([, record]) => partOf(record, fields)),
    next: found.length > limit && last !== undefined ? Buffer.from(JSON.stringify(last)).toString('base64url') : null,
  };
}

export function storedRecords(scope: WorkspaceRedis, list: ListName): Records {
  return {
    areById: true,
    async *steps(after) {
      const ids = (await idsOf(scope, list)).filter((id) => after === null || id > after);
      for (let at = 0; at < ids.length; at += STEP) yield await recordsOf(scope, list, ids.slice(at, at + STEP));
    },
  };
}

/** @param records in no order */
export function formerRecords(records: AsyncIterable<CrmRecord>): Records {
  return {
    areById: false,
    async *steps() {
      let step: CrmRecord[] = [];
      for await (const record of records) {
        step.push(record);
        if (step.length < STEP) continue;
        yield step;
        step = [];
      }
      yield step;
    },
  };
}

async function idsOf(scope: WorkspaceRedis, list: ListName): Promise<string[]> {
  // A step may repeat a record.
  const ids = new Set<string>();
  for await (const step of everyDigest(scope, list)) for (const [id, digest] of step) if (isInList(digest)) ids.add(id);
  return [...ids].sort();
}

async function recordsOf(scope: WorkspaceRedis, list: ListName, ids: readonly string[]): Promise<CrmRecord[]> {
  const stored = await readRecords(scope, list, ids);
  return stored.flatMap((one, index) =>
    isStored(one) && one.image !== null ? [withId(JSON.parse(one.image) as UncheckedRecord, ids[index] ?? '')] : [],
  );
}

/** @throws ChangefeedError CF_USAGE */
export function wantedBy({ where, names, now }: Pick<FindQuery, 'where' | 'names'> & { now: string }) {
  const parts = names?.map(plainName);
  const conditions = where === undefined ? {} : ofRecord(where);
  checkConditions(conditions, 'where');
  const holds = compileWhere(conditions);
  return (record: CrmRecord): boolean => {
    const title = parts === undefined ? '' : plainName(titleOfRecord(record) ?? '');
    if (parts?.some((part) => title.includes(part)) === false) return false;
    // Conditions on the record alone read no more of an event than this.
    const data = { before: null, after: record, changes: [], observedAt: now };
    return holds({ data } as unknown as ChangeEvent, { name: '', data: {} });
  };
}

/** Conditions of `where` name a value of the record `after.<field>`. */
function ofRecord(where: UncheckedRecord): UncheckedRecord {
  const entries = Object.entries(where).map(([path, condition]) => {
    if (path === 'any' && Array.isArray(condition))
      return [path, condition.map((one: unknown) => (isObject(one) ? ofRecord(one) : one))];
    return [path.startsWith('after.') ? path : `after.${path}`, condition];
  });
  return Object.fromEntries(entries) as UncheckedRecord;
}

function plainName(text: string): string {
  return normal(text).toLowerCase();
}

function valueOf(record: CrmRecord, field: string): Place[0] {
  const value = valueAtPath(record, field);
  return typeof value === 'number' ? value : textOfValue(value);
}

/** Records without a value are last in both directions. */
function compare([one, id]: Place, [other, otherId]: Place, isDescending: boolean): number {
  if (one === other) return id < otherId ? -1 : Number(id > otherId);
  if (one === null || other === null) return one === null ? 1 : -1;
  const isBefore = typeof one === typeof other ? one < other : typeof one === 'number';
  return isBefore === isDescending ? 1 : -1;
}

/** @throws ChangefeedError CF_USAGE */
function placeIn(text: string): Place {
  try {
    const [value, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [unknown, unknown];
    const isValue = value === null || typeof value === 'string' || typeof value === 'number';
    if (isValue && typeof id === 'string') return [value, id];
  } catch {
    // Said below.
  }
  throw usage('find: from is no `next` of an answer.');
}

function partOf(record: CrmRecord, fields: FindQuery['fields']): CrmRecord {
  if (fields === undefined) return record;
  const wanted = new Set(fields.map(normal));
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => name === 'id' || wanted.has(normal(name))),
  ) as CrmRecord;
}
