/** The rows of the tables: a changed field, a delivery, a dead letter, a person's todos, an entry of the audit. */
import type { TodoRows, TodosReport } from '../crm/todo-counts.js';
import type { DeadLetter } from '../delivery/act/dead-letters.js';
import type { DeliveryRow } from '../delivery/receipts/delivery-row.js';
import { titleOfEvent } from '../events/describe.js';
import type { Actor, ChangeEvent, FieldChange } from '../events/types.js';
import type { RecordHistory } from '../feed/history/record-history.js';
import type { Row, Sheet } from './sheet.js';

export function nameOf(by: Actor | null | undefined): string {
  return by == null ? '' : (by.name ?? by.id ?? by.type);
}

const CHANGE = ['field', 'before', 'after', 'by'];

/** A row for each field; one for an event that changed none. */
function* changeRows(of: Row, actor: Actor | null | undefined, changes: readonly FieldChange[]): Generator<Row> {
  if (changes.length === 0) yield { ...of, by: nameOf(actor) };
  for (const change of changes) yield { ...of, ...change, by: nameOf(change.actor ?? actor) };
}

const EVENT = ['time', 'observed', 'type', 'record', 'title', ...CHANGE, 'event', 'workspace'];

export function eventSheet(events: AsyncIterable<{ event: ChangeEvent }>): Sheet {
  async function* rows(): AsyncGenerator<Row> {
    for await (const { event } of events) {
      const { id, type, subject, time, source, data } = event;
      const about = { time, observed: data.observedAt, type, record: subject, title: titleOfEvent(event), event: id };
      yield* changeRows({ ...about, workspace: source.split('/').at(-1) }, data.actor, data.changes);
    }
  }
  return { columns: EVENT, rows: rows() };
}

const HISTORY = ['time', 'observed', 'what', ...CHANGE, 'event'];

/** @param parts of the history of one record, newest first */
export function historySheet(parts: AsyncIterable<RecordHistory>): Sheet {
  async function* rows(): AsyncGenerator<Row> {
    for await (const { changes } of parts) {
      for (const { time, observedAt: observed, type, event, actor, changes: fields } of changes)
        yield* changeRows({ time, observed, what: type, event }, actor, fields);
    }
  }
  return { columns: HISTORY, rows: rows() };
}

const DELIVERY = ['at', 'subscription', 'outcome', 'attempt', 'ms', 'status', 'reason', 'words', 'type'];

export function deliverySheet(deliveries: readonly DeliveryRow[]): Sheet {
  const rows = deliveries.map(({ eventId: event, nextAttemptAt: next, ...row }) => ({ ...row, event, next }));
  return { columns: [...DELIVERY, 'list', 'record', 'event', 'next', 'workspace'], rows };
}

export function deadLetterSheet(letters: readonly DeadLetter[]): Sheet {
  const columns = ['died', 'subscription', 'reason', 'attempts', 'type', 'record', 'title', 'event', 'workspace'];
  const rows = letters.map(({ diedAt: died, attempts, event, ...letter }) => {
    const of = { type: event.type, record: event.subject, title: titleOfEvent(event), event: event.id };
    return { ...letter, ...of, died, attempts: attempts.length };
  });
  return { columns, rows };
}

export function todoSheet({ workspaces }: TodosReport): Sheet {
  const counts = ['open', 'dueToday', 'overdue', 'completed', 'completionRate', 'medianMsToComplete'];
  const rows = workspaces.flatMap(({ workspace, people, teams, total }) => [
    { workspace, of: 'total', ...total },
    ...people.map((one) => ({ workspace, of: 'person', ...one })),
    ...teams.map((one) => ({ workspace, of: 'team', ...one })),
  ]);
  return { columns: ['workspace', 'of', 'id', 'name', ...counts], rows };
}

const TODO = ['title', 'owner', 'about', 'due', 'daysLate', 'done', 'completedAt', 'teams', 'link', 'id', 'workspace'];

/** @param part after the one with this `next` */
export function todoRowSheet(part: (from: string | undefined) => Promise<TodoRows>): Sheet {
  async function* rows(): AsyncGenerator<Row> {
    for (let from: string | undefined; ;) {
      const { rows: some, next } = await part(from);
      for (const { teams, ...row } of some) yield { ...row, teams: teams.join(', ') };
      if (next === null) return;
      from = next;
    }
  }
  return { columns: TODO, rows: rows() };
}

export function recordSheet(fields: readonly string[], records: AsyncIterable<Row>): Sheet {
  return { columns: ['id', ...fields.filter((field) => field !== 'id')], rows: records };
}
