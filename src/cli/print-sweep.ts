/** The result of a sweep: a line per list, and a last sentence when something is left to do. */
import type { ListSweep } from '../app/changefeed.js';
import { ChangefeedError, messageOf, type ErrorCode } from '../errors.js';
import type { SubscriptionStatus } from '../observability/status.js';
import { formatDuration } from '../runtime/duration.js';
import { type Colours, count } from './text.js';
import { countsText, warningTexts } from './print-status.js';

type Complete = Extract<ListSweep, { outcome: 'complete' }>;
type Incomplete = Extract<ListSweep, { outcome: 'incomplete' }>;

/** A line per list. A reason that stopped several lists is printed once. */
export function sweepLines(sweeps: readonly ListSweep[], colours: Colours): string[] {
  const several = new Set(sweeps.map(({ workspace }) => workspace)).size > 1;
  const nameOf = ({ workspace, list }: ListSweep): string => (several ? `${workspace}/` : '') + list;
  const width = Math.max(12, ...sweeps.map((one) => nameOf(one).length));
  const printed = new Set<string>();
  return sweeps.map((one) => {
    const name = nameOf(one).padEnd(width);
    if (one.outcome === 'complete') return completeLine(name, one, colours);
    const { page, code, reason } = stopOf(one);
    const why = code === null ? reason : `${reason} [${code}]`;
    const known = printed.has(why);
    printed.add(why);
    const where = page === null ? '' : `stopped at page ${page}: `;
    return `${colours.red('✗')} ${name}  ${where}${known ? 'for the same reason' : why}`;
  });
}

function completeLine(name: string, { summary }: Complete, { green, dim, yellow }: Colours): string {
  const { mode, pages, counts, muted = {}, completedAt } = summary;
  const what = mode === 'baseline' ? 'baseline' : count(eventsOf(summary), 'event');
  const { heldRemovals = null, heldCreations = null, staleness: silence = null } = summary;
  const warnings = warningTexts({ heldRemovals, heldCreations, silence }, Date.parse(completedAt));
  const after = warnings.map((warning) => yellow(`; ${warning}`)).join('');
  return `${green('✓')} ${name}  ${what.padEnd(10)}  ${countsText({ counts: { ...counts }, muted })}${after}  ${dim(`(${count(pages, 'page')}, ${formatDuration(tookMs(summary))})`)}`;
}

/** Events that a sweep appended. The events of an emitted baseline are not counted. */
export function eventsOf({ counts }: Complete['summary']): number {
  return counts.created + counts.edited + counts.refreshed + counts.deleted;
}

function tookMs({ startedAt, completedAt }: Complete['summary']): number {
  return Date.parse(completedAt) - Date.parse(startedAt);
}

/** Where and why a sweep stopped; the reason without the workspace, list and page that stand at its beginning. */
export function stopOf({ error }: Incomplete): { page: number | null; code: ErrorCode | null; reason: string } {
  const known = error instanceof ChangefeedError ? error : null;
  const why = known?.code === 'CF_SWEEP_INCOMPLETE' ? known.cause : error;
  const page = known?.facts['page'];
  return {
    page: typeof page === 'number' ? page : null,
    code: (why instanceof ChangefeedError ? why : known)?.code ?? null,
    reason: messageOf(why).replace(/^Workspace "[^"]*", list "[^"]*"(, page \d+)?: /, ''),
  };
}

/** The sentence after the lines when lists could not be completed; undefined when all were. */
export function incompleteText(sweeps: readonly ListSweep[]): string | undefined {
  const stopped = sweeps.filter((one) => one.outcome === 'incomplete');
  if (stopped.length === 0) return undefined;
  const how = `${stopped.length} of ${count(sweeps.length, 'list')} could not be completed`;
  const refused = stopped.filter(({ error }) => error instanceof ChangefeedError && error.code === 'CF_SOURCE_CHANGED');
  if (refused.length === stopped.length) return `changefeed: ${how}. Nothing was written of them. [CF_SOURCE_CHANGED]`;
  const resumed = stopped.every(({ error }) => !(error instanceof ChangefeedError) || error.facts['resumes'] !== false);
  const next = resumed
    ? 'What was read is kept, and the next sweep continues where this one stopped'
    : 'What was read is kept; a list whose paging broke starts at its first page, any other continues where it stopped';
  return `changefeed: ${how}. ${next}. [CF_SWEEP_INCOMPLETE]`;
}

/** New dead letters since the first status. */
export function deadLetterTexts(before: readonly SubscriptionStatus[], after: readonly SubscriptionStatus[]): string[] {
  return after.flatMap(({ name, dead }) => {
    const fresh = dead - (before.find((one) => one.name === name)?.dead ?? 0);
    if (fresh <= 0) return [];
    return [
      `changefeed: subscription "${name}": ${count(fresh, 'event')} became dead letters; the log above says why.`,
    ];
  });
}

/** The subscriptions that had not handled all events within the time, and how many are left. */
export function unhandledText(subscriptions: readonly SubscriptionStatus[], timeoutMs: number): string {
  const late = subscriptions.filter(({ lagEvents }) => lagEvents > 0);
  const which = late.map(({ name, lagEvents }) => `"${name}" ${count(lagEvents, 'event')}`).join(', ');
  return `changefeed: not handled within ${formatDuration(timeoutMs)}: ${which}. They stay in the queue: the next sweep or "changefeed start" handles them; --timeout waits longer.`;
}
