/** Asks for the numbers of what changed. */
import type { AppContext } from '../../workers/context.js';
import { countDays } from '../../workers/reports.js';
import type { Workspaces } from '../../workers/workspaces.js';
import type { OverviewCall } from '../actions/feed.js';
import { isoTime } from '../kit/clock.js';
import { usage } from '../kit/errors.js';
import type { Overview } from '../log/overview.js';

const USUAL_DAYS = 7;
const MOST_DAYS = 366;

export async function readOverview(
  context: AppContext,
  workspaces: Workspaces,
  { days = USUAL_DAYS, workspace: name }: OverviewCall,
): Promise<Overview> {
  if (!Number.isInteger(days) || days < 1 || days > MOST_DAYS)
    throw usage(`overview: days: give a whole number from 1 to ${MOST_DAYS}.`);
  const asked = name === undefined ? workspaces.all() : [workspaces.get(name)];
  const until = context.clock.now();
  const counted = await Promise.all(asked.map((one) => countDays(context, one, { days, until })));
  return { at: isoTime(until), workspaces: counted };
}
