/** Journal lines and events for the tests of `verify`. */
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { JournalLine, MutationLine } from '../../sandbox/journal/lines.js';
import type { JudgedEvent } from '../../sandbox/verify/read.js';

export const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

let mutations = 0;
interface Mutation {
  id?: string;
  list?: BuiltInList;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  second: number;
  /** Null: overwritten before any walk saw it. */
  seen: number | null;
}

export function mutation({ id = 'p1', list = 'people', before, after, second, seen }: Mutation): MutationLine {
  const image = (fields: Record<string, unknown> | null): CrmRecord | null =>
    fields === null ? null : { id, ...fields };
  return {
    line: 'mutation',
    mutation: ++mutations,
    kind: 'edit-person',
    list,
    id,
    at: at(second),
    cause: 'direct',
    before: image(before),
    after: image(after),
    visibleAt: seen === null ? null : at(seen),
  };
}

export const walk = (from: number, to: number, list: BuiltInList = 'people'): JournalLine => ({
  line: 'walk',
  list,
  startedAt: at(from),
  endedAt: at(to),
});

interface EventFixture {
  type?: string;
  subject?: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  sequence?: number;
  second: number;
  id?: string;
}

export function eventOf({
  type = 'crm.person.updated',
  subject = 'p1',
  before,
  after,
  sequence = 1,
  second,
  id,
}: EventFixture): JudgedEvent {
  const image = (fields: Record<string, unknown> | null): CrmRecord | null =>
    fields === null ? null : { id: subject, ...fields };
  return {
    id: id ?? `evt_${subject}_${sequence}_${JSON.stringify(after)}`,
    type,
    subject,
    source: '/workspaces/w',
    data: { before: image(before), after: image(after), sequence, observedAt: at(second) },
  };
}
