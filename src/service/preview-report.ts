/** The report that a rule would send now, of each workspace that it is about. Nothing is sent. */
import type { Rule } from '../config/rules.js';
import { titledText } from '../delivery/handlers/message/chat.js';
import { SERVICES } from '../delivery/handlers/message/services.js';
import { reportText } from '../delivery/handlers/message/todo-report.js';
import { momentBefore, nextMoment } from '../delivery/moments.js';
import { isoTime } from '../kit/clock.js';
import { formatsFor } from '../words/format.js';
import type { AppContext } from '../../workers/context.js';
import { countTodos } from '../../workers/todos.js';
import type { Workspaces } from '../../workers/workspaces.js';
import type { Digest } from './preview-rule.js';

/** Null of a rule about events. */
export async function reportOf(
  { data, subscription }: Rule,
  { clock }: AppContext,
  workspaces: Workspaces,
): Promise<Digest | null> {
  const { report, workspaces: only, language } = subscription;
  if (report === undefined) return null;
  const wanted = workspaces.names.filter((name) => only?.includes(name) ?? true);
  const nowMs = clock.now();
  const all = wanted.map(async (workspace) => {
    const { timeZone, language: own } = workspaces.surroundingsOf(workspace);
    const since = isoTime(momentBefore(report.schedule, nowMs, timeZone));
    const outcome = await countTodos(workspaces, { workspace, since, clock });
    const formats = formatsFor({ language: language ?? own, timeZone, now: outcome.at });
    const text = reportText(outcome, { workspace, per: data.report?.per ?? 'person', formats });
    return { atMs: nextMoment(report.schedule, nowMs, timeZone), text: titledText(text, SERVICES.jandi) };
  });
  const reports = await Promise.all(all);
  const at = isoTime(Math.min(...reports.map(({ atMs }) => atMs)));
  return { at, text: reports.map(({ text }) => text).join('\n\n') };
}
