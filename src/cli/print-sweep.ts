/** The result of a sweep: a line per list, and a last sentence when something is left to do. */
import type { ListSweep } from '../../workers/sweeps.js';
import { ChangefeedError, messageOf, type ErrorCode } from '../kit/errors.js';
import type { ListStatus, SubscriptionStatus } from '../ops/watch/status.js';
import { formatDuration } from '../kit/duration.js';
import { isAsLongAsPages } from '../crm/full-page.js';
import type { Formats } from '../words/format.js';
import { wordsFor } from '../words/words.js';
import { type Colours, count, padded } from './text.js';
import { countsText, warningTexts } from './print-status.js';

type Complete = Extract<ListSweep, { outcome: 'complete' }>;

export function sweepLines(sweeps: readonly ListSweep[], colours: Colours, formats: Formats): string[] {
  const several = new Set(sweeps.map(({ workspace }) => workspace)).size > 1;
  const nameOf = ({ workspace, list }: ListSweep): string => (several ? `${workspace}/` : '') + list;
  const width = Math.max(12, ...sweeps.map((one) => nameOf(one).length));
  const printed = new Set<string>();
  return sweeps.map((one) => {
    const name = nameOf(one).padEnd(width);
    if (one.outcome === 'complete') return completeLine(name, one, { colours, formats, isCut: isCut(one, sweeps) });
    const { page, code, reason } = stopOf(one);
    const why = code === null ? reason : `${reason} [${code}]`;
    const known = printed.has(why);
    printed.add(why);
    const where = page === null ? '' : `stopped at page ${page}: `;
    return `${colours.red('✗')} ${name}  ${where}${known ? 'for the same reason' : why}`;
  });
}

/** A list that may be read only in part: as the problem `list.cut`, by what this command has read. */
function isCut({ workspace, summary }: Complete, sweeps: readonly ListSweep[]): boolean {
  const others = sweeps.flatMap((one) =>
    one.workspace === workspace && one.outcome === 'complete' ? [one.summary] : [],
  );
  const lengths = others.flatMap(({ pages, longestPage = 0 }) => (pages > 1 ? [longestPage] : []));
  return summary.pages === 1 && isAsLongAsPages(summary.longestPage ?? 0, lengths);
}

function completeLine(
  name: string,
  { summary }: Complete,
  {
    colours: { green, dim, yellow },
    formats,
    isCut: mayBePart,
  }: { colours: Colours; formats: Formats; isCut: boolean },
): string {
  const { t } = wordsFor(formats.language);
  const { mode, pages, counts, muted = {}, startedAt, completedAt } = summary;
  const events = t('count.event', { count: formats.number(eventCount(summary)) });
  const what = padded(mode === 'baseline' ? t('sweep.baseline') : events, 10);
  const { held = [], staleness: silence = null, unreadable = [] } = summary;
  const endMs = Date.parse(completedAt);
  const warnings = [...warningTexts({ held, silence, unreadable }, endMs), ...(mayBePart ? [t('sweep.cut')] : [])];
  const after = warnings.map((warning) => yellow(`; ${warning}`)).join('');
  const took = { count: formats.number(pages), time: formats.duration(endMs - Date.parse(startedAt)) };
  return `${green('✓')} ${name}  ${what}  ${countsText({ counts: { ...counts }, muted }, formats.language)}${after}  ${dim(t('sweep.took', took))}`;
}

/** Events that a sweep appended. The events of an emitted baseline are not counted. */
export function eventCount({ counts }: Complete['summary']): number {
  return counts.created + counts.edited + counts.refreshed + counts.deleted;
}

/** Where and why a sweep stopped; the reason without the workspace, list and page that stand at its beginning. */
export function stopOf({ error }: { error: unknown }): { page: number | null; code: ErrorCode | null; reason: string } {
  const known = error instanceof ChangefeedError ? error : null;
  const why = known?.code === 'CF_SWEEP_INCOMPLETE' ? known.cause : error;
  const page = known?.facts['page'];
  return {
    page: typeof page === 'number' ? page : null,
    code: (why instanceof ChangefeedError ? why : known)?.code ?? null,
    reason: messageOf(why).replace(/^Workspace "[^"]*", list "[^"]*"(, page \d+)?: /, ''),
  };
}

interface Known {
  isNew: boolean;
  formats: Formats;
}

export function baselineText(lists: readonly ListStatus[], { isNew, formats }: Known): string {
  const { t } = wordsFor(formats.language);
  const records = formats.number(lists.reduce((sum, list) => sum + list.records, 0));
  const known = { records, lists: lists.length };
  return isNew ? `${t('sweep.complete', known)} ${t('sweep.fromHere')}` : t('sweep.known', known);
}

export function nextSweepText(lists: readonly ListStatus[], nowMs: number, formats: Formats): string {
  const { t } = wordsFor(formats.language);
  if (lists.some(({ intervalMs }) => intervalMs === null)) return t('sweep.continuously');
  const [next] = lists
    .flatMap(({ list, dueAt }) => (dueAt === null ? [] : [{ list, inMs: Date.parse(dueAt) - nowMs }]))
    .toSorted((a, b) => a.inMs - b.inMs);
  if (next === undefined) return '';
  const time = formats.duration(Math.ceil(next.inMs / 1_000) * 1_000);
  const when = next.inMs <= 0 ? t('time.now') : t('status.in', { time });
  return t('sweep.next', { list: next.list, when });
}

export function afterBaselineText(sweeps: readonly ListSweep[], formats: Formats): string | undefined {
  const { t } = wordsFor(formats.language);
  const first = sweeps.flatMap((one) => (one.outcome === 'complete' && one.summary.mode === 'baseline' ? [one] : []));
  if (first.length === 0) return undefined;
  const records = formats.number(first.reduce((sum, { summary }) => sum + summary.counts.seen, 0));
  return `${t('sweep.complete', { records, lists: first.length })} ${t('sweep.fromHereBy')}`;
}

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

export function deadLetterTexts(before: readonly SubscriptionStatus[], after: readonly SubscriptionStatus[]): string[] {
  return after.flatMap(({ name, dead }) => {
    const fresh = dead - (before.find((one) => one.name === name)?.dead ?? 0);
    if (fresh <= 0) return [];
    return [
      `changefeed: subscription "${name}": ${count(fresh, 'event')} became dead letters; the log above says why.`,
    ];
  });
}

export function unhandledText(subscriptions: readonly SubscriptionStatus[], timeoutMs: number): string {
  const late = subscriptions.filter(({ lagEvents }) => (lagEvents ?? 0) > 0);
  const which = late.map(({ name, lagEvents }) => `"${name}" ${count(lagEvents ?? 0, 'event')}`).join(', ');
  return `changefeed: not handled within ${formatDuration(timeoutMs)}: ${which}. They stay in the queue: the next sweep or "changefeed start" handles them; --timeout waits longer.`;
}
