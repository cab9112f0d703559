/** The status as a page for a terminal. */
import type { ProcessStatus } from '../redis/process-registry.js';
import { heldText, isError } from '../ops/watch/problems.js';
import type { ListStatus, Problem, Status, SubscriptionStatus, WorkspaceStatus } from '../ops/watch/status.js';
import { formatDuration } from '../kit/duration.js';
import { formatsFor, type Formats } from '../words/format.js';
import { problemText } from '../words/problems.js';
import { wordsFor, type Language, type Words } from '../words/words.js';
import { type Colours, cut, fitted, fittedTable, hanging, printable } from './text.js';

interface Page {
  nowMs: number;
  colours: Colours;
  columns: number;
  /** Also the counts of each sweep, the shortcuts, and errors that are over. */
  verbose: boolean;
  formats: Formats;
  t: Words['t'];
}

interface PageOptions {
  colours: Colours;
  columns?: number | undefined;
  verbose?: boolean;
  formats?: Formats | undefined;
}

type LastSweep = NonNullable<ListStatus['lastSweep']>;

/** With six lists and three subscriptions it fits on a terminal of 80 × 24 when all is well. */
export function statusText(
  status: Status,
  {
    colours,
    columns = Infinity,
    verbose = false,
    formats = formatsFor({ language: 'en', now: status.at }),
  }: PageOptions,
): string {
  const { t } = wordsFor(formats.language);
  const page = { nowMs: Date.parse(status.at), colours, columns, verbose, formats, t };
  return [
    problemsText(status.problems, page),
    subscriptionsText(status.subscriptions, page),
    ...status.workspaces.map((workspace) => workspaceText(workspace, page)),
    processesText(status.processes, page),
  ].join('\n\n');
}

function problemsText(
  problems: readonly Problem[],
  { nowMs, colours: { red, yellow, green, bold }, columns, t, formats }: Page,
): string {
  if (problems.length === 0) return green(t('status.well'));
  const lines = problems.map((problem) => {
    const since =
      problem.since === null
        ? ''
        : `${t('status.for', { time: formats.duration(nowMs - Date.parse(problem.since)) })}: `;
    const paint = isError(problem) ? red : yellow;
    const text = hanging(`  ${problem.kind}  ${since}${printable(problemText(problem, formats))}`, columns);
    return text.replace(problem.kind, paint(problem.kind));
  });
  return [bold(t('problems.many', { count: problems.length })), ...lines].join('\n');
}

/** Processes by role: a missing role and two versions are seen. */
function processesText(processes: readonly ProcessStatus[], page: Page): string {
  const { colours, t, formats } = page;
  const { yellow } = colours;
  if (processes.length === 0) return yellow(t('status.noProcess'));
  const rows = processes.map(({ pid, host, roles, startedAt, version }) => [
    roles.join(', '),
    version ?? t('status.unknown'),
    formats.duration(page.nowMs - Date.parse(startedAt)),
    t('status.process', { pid: String(pid), host }),
  ]);
  rows.sort(([one = ''], [other = '']) => one.localeCompare(other));
  const versions = new Set(processes.map(({ version }) => version));
  const mixed = versions.size < 2 ? [] : [yellow(t('status.versions', { count: versions.size }))];
  return [fittedTable(t('status.processHead').split('|'), () => rows, page), ...mixed].join('\n');
}

function workspaceText({ name, budget, logLength, lists: all }: WorkspaceStatus, page: Page): string {
  const { t, formats } = page;
  const { bold, yellow } = page.colours;
  const { requests, perSeconds, allowed, pausedMs, used: share } = budget;
  const lowered = allowed < requests ? yellow(t('status.lowered', { allowed })) : '';
  const paused = pausedMs > 0 ? yellow(t('status.paused', { time: formats.duration(pausedMs) })) : '';
  const used = share === 0 ? '' : t('status.used', { share: Math.round(share * 100) });
  const budgeted = t('status.budget', { count: formats.number(requests), seconds: perSeconds });
  const log = t('status.log', { count: formats.number(logLength) });
  const head = `${bold(t('status.workspace', { name }))}  ${budgeted}${used}${lowered}${paused}  ${log}`;
  const rowsIn = (colours: Colours): string[][] =>
    all.map((list) => [
      list.list,
      scheduleText(list, { ...page, colours }),
      formats.number(list.records),
      freshnessText(list, { ...page, colours }),
      lastSweepText(list, { ...page, colours }),
    ]);
  const lists = fittedTable(t('status.listHead').split('|'), rowsIn, page);
  const discarded = all.flatMap((list) => discardedText(list, page));
  const details = [lastErrorText, shortcutsText].flatMap((text) => all.flatMap((list) => text(list, page)));
  const more = page.verbose ? details : recentErrors(all, page);
  return [fitted(head, page.columns), lists, ...discarded, ...more].join('\n');
}

const RECENT_MS = 900_000;

function recentErrors(lists: readonly ListStatus[], { nowMs, columns, colours: { dim }, t, formats }: Page): string[] {
  const errors = lists.flatMap(({ list, failure, lastError }) =>
    failure === null && lastError !== null
      ? [{ list, code: lastError.code, agoMs: nowMs - Date.parse(lastError.at) }]
      : [],
  );
  const recent = errors.filter(({ agoMs }) => agoMs < RECENT_MS).sort((one, other) => one.agoMs - other.agoMs);
  const [last] = recent;
  if (last === undefined) return [];
  const codes = [...new Set(recent.map(({ code }) => code))].join(', ');
  const facts = {
    time: formats.duration(Math.max(0, last.agoMs)),
    codes,
    lists: recent.map(({ list }) => list).join(', '),
  };
  return [dim(cut(t('status.lastError', facts), columns))];
}

function discardedText({ list, discarded }: ListStatus, { columns, t, formats }: Page): string[] {
  if (discarded === 0) return [];
  return [fitted(`  ${t('status.discarded', { list, count: formats.number(discarded) })}`, columns)];
}

function shortcutsText({ list, shortcuts }: ListStatus, { columns, t, formats }: Page): string[] {
  const parts = Object.entries(shortcuts ?? {}).flatMap(([name, { used, useful, wrong }]) => {
    if (used === 0) return [];
    const count = formats.number(used);
    return [t(`status.shortcut.${name as 'last' | 'first' | 'aimed' | 'open'}`, { count, useful, wrong })];
  });
  return parts.length === 0 ? [] : [fitted(`  ${t('status.shortcuts', { list, found: parts.join('; ') })}`, columns)];
}

function scheduleText(list: ListStatus, { nowMs, verbose, colours, t, formats }: Page): string {
  const { cyan, yellow } = colours;
  const { enabled, dueAt, intervalMs, failure, sweeping } = list;
  if (!enabled) return t('status.off');
  if (dueAt === null) return '—';
  const leftMs = Date.parse(dueAt) - nowMs;
  const next = leftMs < 1_000 ? t('time.now') : t('status.in', { time: formats.duration(leftMs) });
  if (failure !== null) return colours.red(t('status.failingNext', { next }));
  if (sweeping?.running === true)
    return cyan(t(verbose ? 'status.sweepingPage' : 'status.sweeping', { page: formats.number(sweeping.pages) }));
  if (sweeping !== null) return yellow(t('status.interrupted', { page: formats.number(sweeping.pages) }));
  if (intervalMs === null) return t('status.continuously');
  return verbose ? t('status.every', { time: formats.duration(intervalMs), next }) : next;
}

function lastErrorText({ list, failure, lastError }: ListStatus, page: Page): string[] {
  const { nowMs, columns, colours, t, formats } = page;
  const { dim } = colours;
  if (lastError === null) return [];
  const { code, message } = lastError;
  const facts = { list, code, time: formats.duration(Math.max(0, nowMs - Date.parse(lastError.at))) };
  const { attempts } = failure ?? {};
  if (attempts !== undefined) return [dim(`  ${t('status.listFailing', { ...facts, count: attempts })}`)];
  return hanging(`  ${t('status.listFailed', { ...facts, message: printable(message) })}`, columns)
    .split('\n')
    .map(dim);
}

function freshnessText({ baselineAt, freshness, late }: ListStatus, { colours, t, formats }: Page): string {
  const age =
    freshness !== null
      ? t('time.ago', { time: formats.duration(freshness.ageMs) })
      : colours.yellow(t(baselineAt === null ? 'status.noBaseline' : 'status.unknown'));
  return late ? `${age}, ${colours.red(t('status.late'))}` : age;
}

function lastSweepText({ lastSweep, actors }: ListStatus, page: Page): string {
  const { verbose, t, formats } = page;
  if (lastSweep === null) return '—';
  const took = lastSweep.tookMs === null ? t('status.unknown') : formats.duration(lastSweep.tookMs);
  const by = actors === null ? '' : t('status.actors', { known: actors.known, count: actors.of });
  const { counts, muted } = lastSweep;
  if (verbose)
    return `${t('status.pages', { count: formats.number(lastSweep.pages), time: took })}: ${countsText({ counts, muted }, formats.language)}${by}`;
  const { created = 0, edited = 0, refreshed = 0, deleted = 0 } = counts;
  const number = created + edited + refreshed + deleted;
  const changes = number === 0 ? t('status.noChanges') : t('count.change', { count: formats.number(number) });
  return t('status.found', { changes, time: took });
}

interface Warned {
  held: ListStatus['held'];
  silence: ListStatus['silence'];
  unreadable: ListStatus['unreadable'];
}

export function warningTexts({ held, silence, unreadable }: Warned, nowMs: number): string[] {
  return [
    ...held.map((one) => `${heldText(one)} (changefeed held)`),
    ...(silence === null ? [] : [silenceText(silence, nowMs)]),
    ...(unreadable.length === 0 ? [] : [unreadableText(unreadable)]),
  ];
}

function unreadableText(unreadable: ListStatus['unreadable']): string {
  const named = unreadable
    .slice(0, 3)
    .map(({ id, page, reason }) => `${id === null ? 'one' : JSON.stringify(id)} on page ${page} (${reason})`);
  return `records that cannot be read are left as they were: ${named.join(', ')}; correct them in the CRM`;
}

function silenceText(silence: NonNullable<ListStatus['silence']>, nowMs: number): string {
  const silent = formatDuration(Math.max(0, nowMs - Date.parse(silence.since)));
  const what =
    silence.kind === 'empty'
      ? `no records for ${silent}`
      : `nothing has changed for ${silent}, the longest pause was ${formatDuration(silence.longestPauseMs)}`;
  return `${what}: is the token still allowed to see it?`;
}

type Counts = Pick<LastSweep, 'counts' | 'muted'>;

export function countsText({ counts, muted }: Counts, language: Language): string {
  const { t, word } = wordsFor(language);
  const { seen = 0, ...others } = counts;
  const parts = Object.entries({ seen, ...others }).filter(([kind, number]) => kind === 'seen' || number > 0);
  const rules = Object.entries(muted).map(([rule, number]) => `${rule} ×${number}`);
  const quiet = rules.length === 0 ? [] : [t('sweep.muted', { rules: rules.join(', ') })];
  return [...parts.map(([kind, count]) => t('sweep.count', { count, what: word('counted', kind) })), ...quiet].join(
    ', ',
  );
}

function subscriptionsText(subscriptions: readonly SubscriptionStatus[], page: Page): string {
  const { colours, t, formats } = page;
  if (subscriptions.length === 0) return colours.yellow(t('status.noSubscriptions'));
  const rowsIn = (colours: Colours): string[][] =>
    subscriptions.map((one) => [
      nameText(one, colours, page),
      one.handler,
      patternsText(one, page),
      ...(one.unreadable === null ? numbersOf(one, { ...page, colours }) : [t('status.unknown')]),
    ]);
  const head = t(page.verbose ? 'status.queueHead' : 'status.subscriptionHead').split('|');
  const table = fittedTable(head, rowsIn, page);
  const [oldest] = subscriptions.toSorted((one, other) => waitedSeconds(other) - waitedSeconds(one));
  if (oldest === undefined || (oldest.lagEvents ?? 0) === 0) return table;
  const time = formats.duration(waitedSeconds(oldest) * 1_000);
  return `${table}\n${t('status.oldest', { time, name: oldest.name })}`;
}

/** A subscription that has not begun to read the log is reported as a problem. */
const waitedSeconds = ({ lagSeconds }: SubscriptionStatus): number => lagSeconds ?? 0;

function patternsText({ on }: SubscriptionStatus, { verbose }: Page): string {
  const [first = '', ...others] = on;
  return verbose ? on.join(' ') : `${first}${others.length === 0 ? '' : ` +${others.length}`}`;
}

function numbersOf(
  { lagEvents, lagSeconds, waiting, active, delayed, dead }: SubscriptionStatus,
  page: Page,
): string[] {
  const { verbose, colours, t } = page;
  const { yellow, red } = colours;
  return [
    lagEvents === 0 ? t('status.none') : yellow(lagText(lagEvents, lagSeconds, page)),
    ...(verbose ? [String(waiting), String(active)] : []),
    String(delayed),
    dead === 0 ? '0' : red(String(dead)),
  ];
}

function lagText(events: number | null, seconds: number | null, { t, formats }: Page): string {
  if (events === null || seconds === null) return t('status.notBegun');
  return `${t('count.event', { count: formats.number(events) })}, ${formats.duration(seconds * 1_000)}`;
}

function nameText(
  { name, paused, failingSince, lateSince, unreadable }: SubscriptionStatus,
  { red, yellow }: Colours,
  { t }: Page,
): string {
  if (unreadable !== null) return `${name} ${red(`(${t('status.UNREADABLE')})`)}`;
  if (paused !== null)
    return `${name} ${paused.at === null ? yellow(`(${t('status.isPaused')})`) : red(`(${t('status.PAUSED')})`)}`;
  if (failingSince !== null) return `${name} ${yellow(`(${t('status.isFailing')})`)}`;
  return lateSince === null ? name : `${name} ${yellow(`(${t('status.late')})`)}`;
}
