/** What is counted for the reports of subscriptions, and for the overview: the stored todos, and the edits of days. */
import type { ReportSubject, ReportOutcome } from '../src/delivery/handlers/handler.js';
import { timeOfLogId } from '../src/events/log-id.js';
import { isoTime } from '../src/kit/clock.js';
import { dayIn } from '../src/kit/iso-time.js';
import { readDays } from '../src/log/day-counts.js';
import { overviewOf, type WorkspaceOverview } from '../src/log/overview.js';
import type { AppContext } from './context.js';
import { countTodos } from './todos.js';
import type { Workspace, Workspaces } from './workspaces.js';

const DAY_MS = 86_400_000;

interface Asked {
  context: AppContext;
  workspaces: Workspaces;
  workspace: string;
  /** ISO 8601: the moment of the report before. */
  since: string;
}

export async function countFor(what: ReportSubject, { context, workspaces, ...period }: Asked): Promise<ReportOutcome> {
  const { clock } = context;
  if (what === 'todos') return await countTodos(workspaces, { ...period, clock });
  // Whole days, up to yesterday: a report comes in the morning.
  const days = Math.max(1, Math.round((clock.now() - Date.parse(period.since)) / DAY_MS));
  const changes = await countDays(context, workspaces.get(period.workspace), { days, until: clock.now() - DAY_MS });
  return { at: isoTime(clock.now()), changes };
}

/** @param period so many days; `until`: a moment of the last one, ms */
export async function countDays(
  { redis, keys }: AppContext,
  { name: workspace, config: { timeZone }, surroundings }: Workspace,
  { days, until }: { days: number; until: number },
): Promise<WorkspaceOverview> {
  const dates = datesUpTo(until, { timeZone, count: 2 * days });
  const counted = await readDays({ redis, keys, workspace }, dates);
  const [oldest] = await redis.xrange(keys.log(workspace), '-', '+', 'COUNT', 1);
  const logFrom = oldest === undefined ? null : isoTime(timeOfLogId(oldest[0]));
  const parts = { dates: dates.slice(days), days: counted.slice(days), before: counted.slice(0, days) };
  const counts = (object: string): boolean => surroundings.lists.byObject(object)?.recognisedOnly !== true;
  return { workspace, timeZone, logFrom, ...overviewOf({ ...parts, counts }) };
}

/** So many days up to that of a moment, in their order. Noon stays on its day where clocks change. */
export function datesUpTo(ms: number, { timeZone, count }: { timeZone: string; count: number }): string[] {
  const last = Date.parse(`${dayIn(timeZone, ms)}T12:00:00Z`);
  return Array.from({ length: count }, (_, back) => dayIn('UTC', last - (count - 1 - back) * DAY_MS));
}
