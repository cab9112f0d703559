/** An example event of a type: what a test of a handler gets. Its subject is `test`, and so is its record. Pure. */
import type { FieldChange } from '../crm/canonical.js';
import { fieldsOf, type FieldType } from '../crm/known-fields.js';
import type { Lists } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import { listOf, objectOf } from './envelope.js';
import type { ChangeData, ChangeEvent } from './types.js';

const TEST = 'test';
/** Understood in both languages. */
const NAME = '테스트 (test)';
const NOTE = 'A test event. Nothing has changed in the CRM.';

/** The field that differs, by the last word of the type, and its values before and after. */
const CHANGES: Readonly<Record<string, readonly [field: string, before: unknown, after: unknown]>> = {
  completed: ['완료', false, true],
  reopened: ['완료', true, false],
  rescheduled: ['마지막 날짜', '2026-03-02T00:00:00.000Z', '2026-03-09T00:00:00.000Z'],
  reassigned: ['담당자', { id: TEST, name: '담당 A' }, { id: `${TEST}-2`, name: '담당 B' }],
};

export interface ExampleOptions {
  id: string;
  workspace: string;
  /** ISO 8601, UTC. */
  at: string;
  lists: Lists;
}

/** @param type one that the lists of the configuration or the feed itself may have */
export function exampleEvent(type: string, { id, workspace, at, lists }: ExampleOptions): ChangeEvent {
  const envelope = {
    specversion: '1.0',
    id,
    source: `/workspaces/${workspace}`,
    type,
    subject: TEST,
    time: at,
  } as const;
  const common = {
    before: null,
    after: null,
    changes: [],
    sequence: FIRST_SEQUENCE,
    class: 'edited',
    observedAt: at,
    sweep: TEST,
  } as const;
  const data: ChangeData = type.startsWith('changefeed.')
    ? { ...common, detectedBy: 'clock', sweep: '', notice: noticeOf(type) }
    : { ...common, ...dataOf(type, at, lists) };
  return { ...envelope, datacontenttype: 'application/json', data };
}

function noticeOf(type: string): NonNullable<ChangeData['notice']> {
  const isOver = type === 'changefeed.problem.over';
  return { severity: 'info', message: NOTE, since: null, list: null, ...(isOver && { problem: 'api.away' }) };
}

function dataOf(type: string, at: string, lists: Lists): Pick<ChangeData, 'detectedBy'> & Partial<ChangeData> {
  const verb = type.split('.').slice(2).join('.');
  const record = exampleRecord(listOf({ type }, lists) ?? '', at, objectOf({ type }));
  if (verb === 'created' || verb === 'snapshot') return { detectedBy: 'content', after: record };
  if (verb === 'deleted') return { detectedBy: 'content', before: record };
  if (verb === 'due_soon' || verb === 'overdue') return { detectedBy: 'clock', after: record, due: at };
  if (verb === 'unchanged') {
    const unchanged = { for: '14d', days: 'calendar', field: null, related: [], since: at, seen: true } as const;
    return { detectedBy: 'clock', after: record, unchanged };
  }
  if (verb === 'schema_changed') {
    const schema = { field: TEST, kind: 'appeared', rows: 1, share: 1, before: ['absent'], after: ['string'] } as const;
    return { detectedBy: 'content', class: 'refreshed', schema };
  }
  const [field, before, after] = CHANGES[verb] ?? [nameField(record), '테스트 (이전)', '테스트'];
  const change: FieldChange = { field, before, after };
  return {
    detectedBy: 'content',
    before: { ...record, [field]: before },
    after: { ...record, [field]: after },
    changes: [change],
    ...(verb !== 'updated' && { derivedFrom: TEST }),
  };
}

/** As in production, where a column of 32 bits does not take it: sequences begin with the epoch of the state. */
export const FIRST_SEQUENCE = 1_883_093_401_075_713;

const NAMES = ['이름', '제목', '내용', 'text', 'fieldName', 'type'];

function nameField(record: CrmRecord): string {
  return NAMES.find((name) => Object.hasOwn(record, name)) ?? '이름';
}

function exampleRecord(list: string, at: string, object: string): CrmRecord {
  const values: Readonly<Record<FieldType, unknown>> = {
    string: TEST,
    integer: 1,
    boolean: false,
    timestamp: at,
    ref: { id: TEST, name: '테스트' },
    refs: [{ id: TEST, name: '테스트' }],
    any: null,
  };
  const fields = fieldsOf(list).map(({ name, type }) => [name, values[type]] as const);
  const named = Object.fromEntries(fields.length === 0 ? [['이름', object]] : fields);
  const name = NAMES.find((one) => Object.hasOwn(named, one));
  return { ...named, ...(name !== undefined && { [name]: NAME }), id: TEST };
}
