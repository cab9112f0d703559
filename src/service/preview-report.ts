/** The report that a rule would send now, of each workspace that it is about. Nothing is sent. */
import type { Rule } from '../config/rules.js';
import { SERVICES } from '../delivery/handlers/message/services.js';
import { textOfReport } from '../delivery/handlers/report.js';
import { momentBefore, nextMoment } from '../delivery/moments.js';
import { isoTime } from '../kit/clock.js';
import { formatsFor } from '../words/format.js';
import type { AppContext } from '../../workers/context.js';
import { countFor } from '../../workers/reports.js';
import type { Workspaces } from '../../workers/workspaces.js';
import type { Digest } from './preview-rule.js';
import { titledText } from '../delivery/handlers/message/titled-text.js';

/** Null of a rule about events. */
export async function reportOf(
  { data, subscription }: Rule,
  context: AppContext,
  workspaces: Workspaces,
): Promise<Digest | null> {
  const { report, workspaces: only, language } = subscription;
  if (report === undefined) return null;
  const wanted = workspaces.names.filter((name) => only?.includes(name) ?? true);
  const nowMs = context.clock.now();
  const all = wanted.map(async (workspace) => {
    const { timeZone, language: own } = workspaces.surroundingsOf(workspace);
    const since = isoTime(momentBefore(report.schedule, nowMs, timeZone));
    const outcome = await countFor(report.what, { context, workspaces, workspace, since });
    const formats = formatsFor({ language: language ?? own, timeZone, now: outcome.at });
    const text = textOfReport(outcome, { workspace, per: data.report?.per ?? 'person', formats });
    return { atMs: nextMoment(report.schedule, nowMs, timeZone), text: titledText(text, SERVICES.jandi) };
  });
  const reports = await Promise.all(all);
  const at = isoTime(Math.min(...reports.map(({ atMs }) => atMs)));
  return { at, text: reports.map(({ text }) => text).join('\n\n') };
}
