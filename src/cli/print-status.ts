/** The status as a page for a terminal. */
import { shares } from '../observability/budget-use.js';
import { isError } from '../observability/problems.js';
import type {
  ListStatus,
  Problem,
  ProcessStatus,
  Status,
  SubscriptionStatus,
  WorkspaceStatus,
} from '../observability/status.js';
import { formatDuration } from '../runtime/duration.js';
import { type Colours, count, fitted, fittedTable, hanging } from './text.js';

type HeldCreations = Omit<NonNullable<ListStatus['heldCreations']>, 'since'>;

interface Warned {
  heldRemovals: { count: number; of: number } | null;
  heldCreations: HeldCreations | null;
  silence: ListStatus['silence'];
}

/** @param columns width of the terminal; tables and sentences that are wider are continued on further lines */
export function statusText(status: Status, colours: Colours, columns = Infinity): string {
  const nowMs = Date.parse(status.at);
  const page = { nowMs, colours, columns };
  return [
    ...(status.problems.length === 0 ? [] : [problemsText(status.problems, page)]),
    ...status.workspaces.map((workspace) => workspaceText(workspace, page)),
    subscriptionsText(status.subscriptions, page),
    processesText(status.processes, page),
  ].join('\n\n');
}

interface Page {
  nowMs: number;
  colours: Colours;
  columns: number;
}

/** The most severe first. */
function problemsText(problems: readonly Problem[], { nowMs, colours: { red, yellow, bold }, columns }: Page): string {
  const lines = problems.map((problem) => {
    const since = problem.since === null ? '' : `for ${formatDuration(nowMs - Date.parse(problem.since))}: `;
    const paint = isError(problem) ? red : yellow;
    const text = hanging(`  ${problem.kind}  ${since}${problem.message}`, columns);
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

function workspaceText({ name, budget, advice, logLength, lists: all }: WorkspaceStatus, page: Page): string {
  const { bold, yellow } = page.colours;
  const paused = budget.pausedMs > 0 ? yellow(`, paused for ${formatDuration(budget.pausedMs)} after a 429`) : '';
  const lowered = budget.allowed < budget.requests ? yellow(`, ${budget.allowed} allowed after a 429`) : '';
  const head = `${bold(`workspace ${name}`)}  budget ${count(budget.requests, 'request')} per ${budget.perSeconds} s${lowered}${paused}  log ${count(logLength, 'event')}`;
  const rowsIn = (colours: Colours): string[][] =>
    all.map((list) => [
      list.list,
      scheduleText(list, { ...page, colours }),
      list.records.toLocaleString('en'),
      freshnessText(list, { ...page, colours }),
      lastSweepText(list, { ...page, colours }),
    ]);
  const lists = fittedTable(['list', 'swept', 'records', 'as of', 'last complete sweep'], rowsIn, page);
  const errors = all.flatMap((list) => lastErrorText(list, page));
  const use = budget.lastMinute.requests === 0 ? [] : [hanging(useText(budget), page.columns)];
  const used = all.flatMap((list) => shortcutsText(list, page));
  return [head, lists, ...errors, ...used, ...use, ...(advice === null ? [] : [`to halve the delay: ${advice}`])].join(
    '\n',
  );
}

/** Singular and plural. */
const SHORTCUTS = {
  last: ['poll of the end', 'polls of the end'],
  first: ['poll of the start', 'polls of the start'],
  aimed: ['aimed fetch', 'aimed fetches'],
} as const;

/** One line per list whose shortcuts are used. */
function shortcutsText({ list, shortcuts }: ListStatus, { nowMs, columns, colours: { yellow } }: Page): string[] {
  const parts = Object.entries(shortcuts ?? {}).flatMap(([name, { used, useful, wrong, pausedUntil }]) => {
    if (used === 0 && wrong === 0) return [];
    const paused =
      pausedUntil === null ? '' : yellow(`, paused for ${formatDuration(Date.parse(pausedUntil) - nowMs)}`);
    const [one, several] = SHORTCUTS[name as keyof typeof SHORTCUTS];
    const reads = count(used, one, several);
    return [`${reads}, ${useful} useful, ${wrong} wrong${paused}`];
  });
  return parts.length === 0 ? [] : [fitted(`  shortcuts of ${list}: ${parts.join('; ')}`, columns)];
}

/** How often, and when next. */
function scheduleText(list: ListStatus, { nowMs, colours: { cyan, yellow } }: Page): string {
  const { enabled, dueAt, scheduling, intervalMs, idleMs, failure, sweeping } = list;
  if (!enabled) return 'off';
  if (dueAt === null) return '—';
  if (sweeping?.running === true) return cyan(`sweeping: page ${sweeping.pages.toLocaleString('en')}`);
  if (sweeping !== null) return yellow(`interrupted at page ${sweeping.pages.toLocaleString('en')}`);
  const leftMs = Date.parse(dueAt) - nowMs;
  const next = leftMs < 1_000 ? 'now' : `in ${formatDuration(leftMs)}`;
  if (failure !== null) return `again ${next}`;
  if (scheduling === 'fixed') return `every ${formatDuration(intervalMs ?? 0)}, ${next}`;
  return scheduling === 'idle' ? `every ${formatDuration(idleMs ?? 0)} if idle, ${next}` : 'continuously';
}

/** The last error, with its time. Of a list that is failing, the problem above says what it is. */
function lastErrorText({ list, failure, lastError }: ListStatus, { nowMs, columns, colours: { dim } }: Page): string[] {
  if (lastError === null) return [];
  const ago = formatDuration(Math.max(0, nowMs - Date.parse(lastError.at)));
  const { attempts } = failure ?? {};
  if (attempts !== undefined)
    return [dim(`  last error of ${list}: ${ago} ago, ${lastError.code}, ${count(attempts, 'attempt')} failed`)];
  return hanging(`  last error of ${list}: ${ago} ago, over: ${lastError.code} ${lastError.message}`, columns)
    .split('\n')
    .map(dim);
}

/** `budget used in the last minute: 470 requests (98 %): walk 400, tail 70; people 61 %, todo 39 %` */
function useText({ lastMinute: { requests, share, spent } }: WorkspaceStatus['budget']): string {
  const kinds = shares(spent, requests, ({ kind }) => kind).map((one) => `${one.name} ${one.requests}`);
  const lists = shares(spent, requests, ({ list }) => list).map((one) => `${one.name} ${percent(one.share)}`);
  const parts = `${kinds.join(', ')}; ${lists.join(', ')}`;
  return `budget used in the last minute: ${count(requests, 'request')} (${percent(share)}): ${parts}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function freshnessText({ baselineAt, freshness, failure, late }: ListStatus, { nowMs, colours }: Page): string {
  const age =
    baselineAt === null || freshness === null
      ? colours.yellow('no baseline yet')
      : `${formatDuration(freshness.ageMs)} ago`;
  if (failure !== null)
    return `${age}, ${colours.red(`failing for ${formatDuration(nowMs - Date.parse(failure.since))}`)}`;
  return late ? `${age}, ${colours.red('late')}` : age;
}

/** "0 events" alone would read like a fault, so the number of records seen is shown with it. */
function lastSweepText(list: ListStatus, { nowMs, columns, colours: { yellow } }: Page): string {
  const { lastSweep } = list;
  if (lastSweep === null) return '—';
  const warnings = warningTexts(list, nowMs).map((warning) => yellow(`${warning}; `));
  return `${warnings.join('')}${count(lastSweep.pages, 'page')} in ${formatDuration(lastSweep.tookMs)}: ${columns < ROOMY ? changesText(lastSweep) : countsText(lastSweep)}`;
}

/** From this width on, all counts of a sweep fit into its cell. */
const ROOMY = 120;

function changesText({
  counts: { seen: _, unchanged: __, ...changes },
}: Pick<NonNullable<ListStatus['lastSweep']>, 'counts'>): string {
  const parts = Object.entries(changes).filter(([, number]) => number > 0);
  return parts.length === 0 ? 'no changes' : parts.map(([kind, number]) => `${number} ${kind}`).join(', ');
}

/** What a person should decide or check about a list. */
export function warningTexts({ heldRemovals, heldCreations, silence }: Warned, nowMs: number): string[] {
  return [
    ...(heldRemovals === null
      ? []
      : [`${heldRemovals.count} of ${heldRemovals.of} records vanished at once and are held until accept-removals`]),
    ...(heldCreations === null ? [] : [heldCreationsText(heldCreations)]),
    ...(silence === null ? [] : [silenceText(silence, nowMs)]),
  ];
}

function heldCreationsText({ count: fresh, of, known, replaced }: HeldCreations): string {
  if (!replaced) return `${fresh} of ${of} records are new at once and are held until accept-creations`;
  return `${fresh} new records are held: only ${known.seen} of ${known.of} known records were seen; is this the token of another workspace, or was a backup restored? (accept-creations reports them, resync takes them quietly)`;
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
      one.on.join(' '),
      ...(one.unreadable === null ? numbersOf(one, colours) : ['unknown']),
    ]);
  const heads = ['subscription', 'handler', 'on', 'lag', 'waiting', 'active', 'delayed', 'dead'];
  return [fittedTable(heads, rowsIn, page), ...troubleLines(subscriptions, page)].join('\n');
}

function numbersOf(
  { lagEvents, lagSeconds, waiting, active, delayed, dead }: SubscriptionStatus,
  { yellow, red }: Colours,
): string[] {
  return [
    lagEvents === 0 ? 'none' : yellow(`${count(lagEvents, 'event')}, ${formatDuration(lagSeconds * 1_000)}`),
    String(waiting),
    String(active),
    String(delayed),
    dead === 0 ? '0' : red(String(dead)),
  ];
}

function nameText(
  { name, paused, disabled, failingSince, unreadable }: SubscriptionStatus,
  { red, yellow }: Colours,
): string {
  if (unreadable !== null) return `${name} ${red('(UNREADABLE)')}`;
  if (disabled !== null) return `${name} ${red('(DISABLED)')}`;
  if (paused) return `${name} ${yellow('(paused)')}`;
  return failingSince === null ? name : `${name} ${yellow('(failing)')}`;
}

/** Subscriptions that deliver nothing, with the reason; below the table because reasons are long. */
function troubleLines(
  subscriptions: readonly SubscriptionStatus[],
  { nowMs, columns, colours: { red, yellow } }: Page,
): string[] {
  return subscriptions.flatMap(({ name, disabled, failingSince }) => {
    if (disabled !== null) {
      const { at, reason, missing } = disabled;
      const lost = missing ? ', it misses events that log.retention dropped' : '';
      const text = `${name}: disabled since ${at}${lost} (changefeed enable ${name} continues it): ${reason}`;
      return fitted(text, columns).split('\n').map(red);
    }
    if (failingSince === null) return [];
    return [yellow(`${name}: every attempt has failed for ${formatDuration(nowMs - Date.parse(failingSince))}`)];
  });
}
