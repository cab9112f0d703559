/** The status as a page for a terminal. */
import { heldText, isError } from '../observability/problems.js';
import type {
  ListStatus,
  Problem,
  ProcessStatus,
  Status,
  SubscriptionStatus,
  WorkspaceStatus,
} from '../observability/status.js';
import { formatDuration } from '../runtime/duration.js';
import { type Colours, count, cut, fitted, fittedTable, hanging, printable } from './text.js';

interface Page {
  nowMs: number;
  colours: Colours;
  columns: number;
  /** Also the counts of each sweep, the shortcuts, and errors that are over. */
  verbose: boolean;
}

/** With six lists and three subscriptions it fits on a terminal of 80 × 24 when all is well. */
export function statusText(
  status: Status,
  {
    colours,
    columns = Infinity,
    verbose = false,
  }: Pick<Page, 'colours'> & { columns?: number | undefined; verbose?: boolean },
): string {
  const page = { nowMs: Date.parse(status.at), colours, columns, verbose };
  return [
    problemsText(status.problems, page),
    subscriptionsText(status.subscriptions, page),
    ...status.workspaces.map((workspace) => workspaceText(workspace, page)),
    processesText(status.processes, page),
  ].join('\n\n');
}

function problemsText(
  problems: readonly Problem[],
  { nowMs, colours: { red, yellow, green, bold }, columns }: Page,
): string {
  if (problems.length === 0) return green('all is well');
  const lines = problems.map((problem) => {
    const since = problem.since === null ? '' : `for ${formatDuration(nowMs - Date.parse(problem.since))}: `;
    const paint = isError(problem) ? red : yellow;
    const text = hanging(`  ${problem.kind}  ${since}${printable(problem.message)}`, columns);
    return text.replace(problem.kind, paint(problem.kind));
  });
  return [bold(count(problems.length, 'problem')), ...lines].join('\n');
}

/** By role, so that what is missing and what runs in two versions is seen. */
function processesText(processes: readonly ProcessStatus[], page: Page): string {
  const { yellow } = page.colours;
  if (processes.length === 0) return yellow('no process runs: changefeed start');
  const rows = processes.map(({ pid, host, roles, startedAt, version }) => [
    roles.join(', '),
    version ?? 'unknown',
    formatDuration(page.nowMs - Date.parse(startedAt)),
    `${pid} on ${host}`,
  ]);
  rows.sort(([one = ''], [other = '']) => one.localeCompare(other));
  const versions = new Set(processes.map(({ version }) => version));
  const mixed = versions.size < 2 ? [] : [yellow(`${versions.size} versions run at the same time`)];
  return [fittedTable(['roles', 'version', 'up for', 'process'], () => rows, page), ...mixed].join('\n');
}

function workspaceText({ name, budget, logLength, lists: all }: WorkspaceStatus, page: Page): string {
  const { bold, yellow } = page.colours;
  const { requests, perSeconds, allowed, pausedMs, used: share } = budget;
  const lowered = allowed < requests ? yellow(`, ${allowed} allowed after a 429`) : '';
  const paused = pausedMs > 0 ? yellow(`, paused for ${formatDuration(pausedMs)} after a 429`) : '';
  const used = share === 0 ? '' : `, ${Math.round(share * 100)} % used`;
  const head = `${bold(`workspace ${name}`)}  budget ${count(requests, 'request')} per ${perSeconds} s${used}${lowered}${paused}  log ${count(logLength, 'event')}`;
  const rowsIn = (colours: Colours): string[][] =>
    all.map((list) => [
      list.list,
      scheduleText(list, { ...page, colours }),
      list.records.toLocaleString('en'),
      freshnessText(list, { ...page, colours }),
      lastSweepText(list, { ...page, colours }),
    ]);
  const lists = fittedTable(['list', 'swept', 'records', 'as of', 'last complete sweep'], rowsIn, page);
  const more = page.verbose ? detailLines(all, page) : recentErrors(all, page);
  return [fitted(head, page.columns), lists, ...more].join('\n');
}

function detailLines(lists: readonly ListStatus[], page: Page): string[] {
  return [...lists.flatMap((list) => lastErrorText(list, page)), ...lists.flatMap((list) => shortcutsText(list, page))];
}

const RECENT_MS = 900_000;

function recentErrors(lists: readonly ListStatus[], { nowMs, columns, colours: { dim } }: Page): string[] {
  const errors = lists.flatMap(({ list, failure, lastError }) =>
    failure === null && lastError !== null
      ? [{ list, code: lastError.code, agoMs: nowMs - Date.parse(lastError.at) }]
      : [],
  );
  const recent = errors.filter(({ agoMs }) => agoMs < RECENT_MS).sort((one, other) => one.agoMs - other.agoMs);
  const [last] = recent;
  if (last === undefined) return [];
  const codes = [...new Set(recent.map(({ code }) => code))].join(', ');
  const ago = formatDuration(Math.max(0, last.agoMs));
  return [dim(cut(`last error ${ago} ago, over: ${codes} (${recent.map(({ list }) => list).join(', ')})`, columns))];
}

const SHORTCUTS = {
  last: ['poll of the end', 'polls of the end'],
  first: ['poll of the start', 'polls of the start'],
  aimed: ['aimed fetch', 'aimed fetches'],
  open: ['read of open records', 'reads of open records'],
} as const;

function shortcutsText({ list, shortcuts }: ListStatus, { columns }: Page): string[] {
  const parts = Object.entries(shortcuts ?? {}).flatMap(([name, { used, useful, wrong }]) => {
    if (used === 0) return [];
    const [one, several] = SHORTCUTS[name as keyof typeof SHORTCUTS];
    const reads = count(used, one, several);
    return [`${reads}, ${useful} useful, ${wrong} wrong`];
  });
  return parts.length === 0 ? [] : [fitted(`  shortcuts of ${list}: ${parts.join('; ')}`, columns)];
}

function scheduleText(list: ListStatus, { nowMs, verbose, colours }: Page): string {
  const { cyan, yellow } = colours;
  const { enabled, dueAt, intervalMs, failure, sweeping } = list;
  if (!enabled) return 'off';
  if (dueAt === null) return '—';
  const leftMs = Date.parse(dueAt) - nowMs;
  const next = leftMs < 1_000 ? 'now' : `in ${formatDuration(leftMs)}`;
  if (failure !== null) return colours.red(`failing, again ${next}`);
  if (sweeping?.running === true)
    return cyan(verbose ? `sweeping: page ${sweeping.pages.toLocaleString('en')}` : 'sweeping');
  if (sweeping !== null) return yellow(`interrupted at page ${sweeping.pages.toLocaleString('en')}`);
  if (intervalMs === null) return 'continuously';
  return verbose ? `every ${formatDuration(intervalMs)}, ${next}` : next;
}

function lastErrorText({ list, failure, lastError }: ListStatus, { nowMs, columns, colours: { dim } }: Page): string[] {
  if (lastError === null) return [];
  const ago = formatDuration(Math.max(0, nowMs - Date.parse(lastError.at)));
  const { attempts } = failure ?? {};
  if (attempts !== undefined)
    return [dim(`  last error of ${list}: ${ago} ago, ${lastError.code}, ${count(attempts, 'attempt')} failed`)];
  return hanging(
    `  last error of ${list}: ${ago} ago, over: ${lastError.code} ${printable(lastError.message)}`,
    columns,
  )
    .split('\n')
    .map(dim);
}

function freshnessText({ baselineAt, freshness, late }: ListStatus, { colours }: Page): string {
  const age =
    freshness !== null
      ? `${formatDuration(freshness.ageMs)} ago`
      : colours.yellow(baselineAt === null ? 'no baseline yet' : 'unknown');
  return late ? `${age}, ${colours.red('late')}` : age;
}

function lastSweepText({ lastSweep, actors }: ListStatus, { verbose }: Page): string {
  if (lastSweep === null) return '—';
  const took = lastSweep.tookMs === null ? 'unknown time' : formatDuration(lastSweep.tookMs);
  const by = actors === null ? '' : `, who made them known of ${actors.known} of ${count(actors.of, 'edit')}`;
  if (verbose) return `${count(lastSweep.pages, 'page')} in ${took}: ${countsText(lastSweep)}${by}`;
  return `${changesText(lastSweep)} in ${took}`;
}

function changesText({ counts }: Pick<NonNullable<ListStatus['lastSweep']>, 'counts'>): string {
  const { created = 0, edited = 0, refreshed = 0, deleted = 0 } = counts;
  const changes = created + edited + refreshed + deleted;
  return changes === 0 ? 'no changes' : count(changes, 'change');
}

export function warningTexts(
  { held, silence, unreadable }: Pick<ListStatus, 'held' | 'silence' | 'unreadable'>,
  nowMs: number,
): string[] {
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

export function countsText({ counts, muted }: Pick<NonNullable<ListStatus['lastSweep']>, 'counts' | 'muted'>): string {
  const { seen = 0, ...others } = counts;
  const parts = Object.entries(others).filter(([, number]) => number > 0);
  const rules = Object.entries(muted).map(([rule, number]) => `${rule} ×${number}`);
  const quiet = rules.length === 0 ? [] : [`muted by ${rules.join(', ')}`];
  return [`${seen} seen`, ...parts.map(([kind, number]) => `${number} ${kind}`), ...quiet].join(', ');
}

function subscriptionsText(subscriptions: readonly SubscriptionStatus[], page: Page): string {
  const { colours } = page;
  if (subscriptions.length === 0) return colours.yellow('no subscriptions: events go to the log only');
  const rowsIn = (colours: Colours): string[][] =>
    subscriptions.map((one) => [
      nameText(one, colours),
      one.handler,
      patternsText(one, page),
      ...(one.unreadable === null ? numbersOf(one, { ...page, colours }) : ['unknown']),
    ]);
  const queue = page.verbose ? ['waiting', 'active'] : [];
  const table = fittedTable(['subscription', 'handler', 'on', 'lag', ...queue, 'delayed', 'dead'], rowsIn, page);
  const [oldest] = subscriptions.toSorted((one, other) => waitedSeconds(other) - waitedSeconds(one));
  if (oldest === undefined || (oldest.lagEvents ?? 0) === 0) return table;
  return `${table}\noldest waiting event: ${formatDuration(waitedSeconds(oldest) * 1_000)}, of ${oldest.name}`;
}

/** A subscription that has not begun to read the log is reported as a problem. */
const waitedSeconds = ({ lagSeconds }: SubscriptionStatus): number => lagSeconds ?? 0;

function patternsText({ on }: SubscriptionStatus, { verbose }: Page): string {
  const [first = '', ...others] = on;
  return verbose ? on.join(' ') : `${first}${others.length === 0 ? '' : ` +${others.length}`}`;
}

function numbersOf(
  { lagEvents, lagSeconds, waiting, active, delayed, dead }: SubscriptionStatus,
  { verbose, colours: { yellow, red } }: Page,
): string[] {
  return [
    lagEvents === 0 ? 'none' : yellow(lagText(lagEvents, lagSeconds)),
    ...(verbose ? [String(waiting), String(active)] : []),
    String(delayed),
    dead === 0 ? '0' : red(String(dead)),
  ];
}

function lagText(events: number | null, seconds: number | null): string {
  if (events === null || seconds === null) return 'not begun';
  return `${count(events, 'event')}, ${formatDuration(seconds * 1_000)}`;
}

function nameText(
  { name, paused, failingSince, lateSince, unreadable }: SubscriptionStatus,
  { red, yellow }: Colours,
): string {
  if (unreadable !== null) return `${name} ${red('(UNREADABLE)')}`;
  if (paused !== null) return `${name} ${paused.at === null ? yellow('(paused)') : red('(PAUSED)')}`;
  if (failingSince !== null) return `${name} ${yellow('(failing)')}`;
  return lateSince === null ? name : `${name} ${yellow('(late)')}`;
}
