/** Todo reports for the page. Each reads all todos: one is made at a time, they are shared, and few may wait. */
import type { TodosReport } from '../../../crm/todo-counts.js';
import type { TodosCall } from '../../../feed/todos/report.js';
import { isoTime, type Clock } from '../../../kit/clock.js';
import { parseDuration } from '../../../kit/duration.js';
import { readTime } from '../../../kit/iso-time.js';
import { Turns } from '../../../kit/turns.js';
import { RefusedError } from './refused.js';
import { readableTexts } from './event-view.js';

/** A report is shown for this long, also to others. */
const KEPT_MS = 15_000;
/** Periods that begin within the same minute are one, however they are written. */
const GRAIN_MS = 60_000;
/** The report being made, and those that wait: one per period that the page offers, and some. */
const MOST_AT_ONCE = 5;

export type TodoReports = (since: string) => Promise<TodosReport>;

export function createTodoReports(todos: (call: TodosCall) => Promise<TodosReport>, clock: Clock): TodoReports {
  const kept = new Map<string, { untilMs: number; report: Promise<TodosReport> }>();
  const turns = new Turns();
  return async (text) => {
    for (const [since, { untilMs }] of kept) if (untilMs < clock.monotonic()) kept.delete(since);
    const since = rounded(text, clock.now());
    const known = kept.get(since);
    if (known !== undefined) return await known.report;
    if ([...kept.values()].filter(({ untilMs }) => untilMs === Infinity).length >= MOST_AT_ONCE)
      throw new RefusedError(429, 'Reports of todos for other periods are being made. Try again in some seconds.');
    const making = { untilMs: Infinity, report: turns.take('todos', () => todos({ since })).then(readableTexts) };
    kept.set(since, making);
    try {
      return await making.report;
    } catch (error) {
      kept.delete(since);
      throw error;
    } finally {
      making.untilMs = clock.monotonic() + KEPT_MS;
    }
  };
}

/** A date or a time without a zone stays as it is: each workspace has its own. So does what is refused with a reason. */
function rounded(text: string, nowMs: number): string {
  const duration = parseDuration(text);
  const ms = duration === undefined ? (readTime(text, 'UTC') ?? Number.NaN) : nowMs - duration;
  const isPast = ms >= 0 && ms <= nowMs && (duration !== undefined || /T.*(Z|[+-]\d{2}:?\d{2})$/.test(text));
  return isPast ? isoTime(Math.floor(ms / GRAIN_MS) * GRAIN_MS) : text;
}
