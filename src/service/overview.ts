/** Asks for the numbers of what changed. */
import type { AppContext } from '../../workers/context.js';
import type { Workspaces } from '../../workers/workspaces.js';
import type { OverviewCall } from '../actions/feed.js';
import { timeOfLogId } from '../events/log-id.js';
import { isoTime } from '../kit/clock.js';
import { usage } from '../kit/errors.js';
import { dayIn } from '../kit/iso-time.js';
import { readDays } from '../log/day-counts.js';
import { overviewOf, type Overview, type WorkspaceOverview } from '../log/overview.js';

const USUAL_DAYS = 7;
const MOST_DAYS = 366;
const DAY_MS = 86_400_000;

export async function readOverview(
  { redis, keys, clock }: AppContext,
  workspaces: Workspaces,
  { days = USUAL_DAYS, workspace: name }: OverviewCall,
): Promise<Overview> {
  if (!Number.isInteger(days) || days < 1 || days > MOST_DAYS)
    throw usage(`overview: days: give a whole number from 1 to ${MOST_DAYS}.`);
  const asked = name === undefined ? workspaces.all() : [workspaces.get(name)];
  const of = async ({
    name: workspace,
    config: { timeZone },
    surroundings,
  }: (typeof asked)[number]): Promise<WorkspaceOverview> => {
    const dates = datesUpTo(clock.now(), { timeZone, count: 2 * days });
    const counted = await readDays({ redis, keys, workspace }, dates);
    const [oldest] = await redis.xrange(keys.log(workspace), '-', '+', 'COUNT', 1);
    const logFrom = oldest === undefined ? null : isoTime(timeOfLogId(oldest[0]));
    const parts = { dates: dates.slice(days), days: counted.slice(days), before: counted.slice(0, days) };
    const counts = (object: string): boolean => surroundings.lists.byObject(object)?.recognisedOnly !== true;
    return { workspace, timeZone, logFrom, ...overviewOf({ ...parts, counts }) };
  };
  return { at: isoTime(clock.now()), workspaces: await Promise.all(asked.map(of)) };
}

/** The last days with today, in their order. Noon stays on its day where clocks change. */
function datesUpTo(nowMs: number, { timeZone, count }: { timeZone: string; count: number }): string[] {
  const today = Date.parse(`${dayIn(timeZone, nowMs)}T12:00:00Z`);
  return Array.from({ length: count }, (_, back) => dayIn('UTC', today - (count - 1 - back) * DAY_MS));
}
