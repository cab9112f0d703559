/** Counts what the workspaces use, and answers what they used. */
import type { AppContext } from '../../workers/context.js';
import { datesUpTo } from '../../workers/reports.js';
import type { Workspaces } from '../../workers/workspaces.js';
import type { UsageCall } from '../actions/feed.js';
import { isoTime } from '../kit/clock.js';
import { usage as wrongCall } from '../kit/errors.js';
import { createUsage, readUsedDays, totalOf, type Usage, type UsageCounter } from '../log/usage.js';
import type { Measure } from '../ops/watch/prometheus.js';

const USUAL_DAYS = 30;
const MOST_DAYS = 400;

/** What is measured is counted too. @param workspaces they are made after the context */
export function withUsage<Opened extends Omit<AppContext, 'measure'>>(
  opened: Opened,
  measure: Measure,
  workspaces: () => Workspaces,
) {
  const timeZoneOf = (name: string): string => workspaces().surroundingsOf(name).timeZone;
  const used = createUsage({ ...opened, timeZoneOf });
  return { ...opened, used, measure: counting(measure, used) };
}

function counting(measure: Measure, counter: UsageCounter): Measure {
  return {
    ...measure,
    tried(workspace, tried) {
      measure.tried(workspace, tried);
      counter.add(workspace, { requests: 1, records: tried.records, bytes: tried.bytes });
    },
    delivered(subscription, outcome, workspace) {
      measure.delivered(subscription, outcome, workspace);
      if (outcome === 'delivered') counter.add(workspace, { deliveries: 1 });
    },
  };
}

export async function readUsage(
  { redis, keys, clock }: AppContext,
  workspaces: Workspaces,
  { days = USUAL_DAYS, workspace: name }: UsageCall,
): Promise<Usage> {
  if (!Number.isInteger(days) || days < 1 || days > MOST_DAYS)
    throw wrongCall(`usage: days: give a whole number from 1 to ${MOST_DAYS}.`);
  const now = clock.now();
  const asked = name === undefined ? workspaces.all() : [workspaces.get(name)];
  const read = asked.map(async ({ name: workspace, config: { timeZone } }) => {
    const used = await readUsedDays({ redis, keys, workspace }, datesUpTo(now, { timeZone, count: days }));
    return { workspace, timeZone, total: totalOf(used), days: used };
  });
  return { at: isoTime(now), workspaces: await Promise.all(read) };
}
