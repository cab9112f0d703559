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
import { type Colours, count, table } from './text.js';

type HeldCreations = Omit<NonNullable<ListStatus['heldCreations']>, 'since'>;

interface Warned {
  heldRemovals: { count: number; of: number } | null;
  heldCreations: HeldCreations | null;
  silence: ListStatus['silence'];
}

export function statusText(status: Status, colours: Colours): string {
  const nowMs = Date.parse(status.at);
  const page = { nowMs, colours };
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
}

/** One line per problem, the most severe first. */
function problemsText(problems: readonly Problem[], { nowMs, colours: { red, yellow, bold } }: Page): string {
  const lines = problems.map((problem) => {
    const since = problem.since === null ? '' : `for ${formatDuration(nowMs - Date.parse(problem.since))}: `;
    const paint = isError(problem) ? red : yellow;
    return `  ${paint(problem.kind)}  ${since}${problem.message}`;
  });
  return [bold(count(problems.length, 'problem')), ...lines].join('\n');
}

function processesText(processes: readonly ProcessStatus[], { nowMs, colours: { yellow } }: Page): string {
  if (processes.length === 0) return yellow('no process runs: changefeed start');
  return processes
    .map(({ pid, host, roles, startedAt }) => {
      return `process ${pid} on ${host}: ${roles.join(', ')}, up ${formatDuration(nowMs - Date.parse(startedAt))}`;
    })
    .join('\n');
}

function workspaceText({ name, budget, advice, logLength, lists: all }: WorkspaceStatus, page: Page): string {
  const { bold, yellow } = page.colours;
  const paused = budget.pausedMs > 0 ? yellow(`, paused for ${formatDuration(budget.pausedMs)} after a 429`) : '';
  const lowered = budget.allowed < budget.requests ? yellow(`, ${budget.allowed} allowed after a 429`) : '';
  const head = `${bold(`workspace ${name}`)}  budget ${count(budget.requests, 'request')} per ${budget.perSeconds} s${lowered}${paused}  log ${count(logLength, 'event')}`;
  const rows = all.map((list) => [
    list.list,
    scheduleText(list),
    String(list.records),
    freshnessText(list, page),
    lastSweepText(list, page),
    sweepingText(list, page.colours),
  ]);
  const lists = table(['list', 'swept', 'records', 'as of', 'last complete sweep', 'now'], rows, page.colours);
  const use = budget.lastMinute.requests === 0 ? [] : [useText(budget)];
  const used = all.flatMap((list) => shortcutsText(list, page));
  return [head, lists, ...used, ...use, ...(advice === null ? [] : [`to halve the delay: ${advice}`])].join('\n');
}

const SHORTCUTS = { last: 'polls of the end', first: 'polls of the start', aimed: 'aimed fetches' } as const;

/** One line per list whose shortcuts are used. */
function shortcutsText({ list, shortcuts }: ListStatus, { nowMs, colours: { yellow } }: Page): string[] {
  const parts = Object.entries(shortcuts ?? {}).flatMap(([name, { used, useful, wrong, pausedUntil }]) => {
    if (used === 0 && wrong === 0) return [];
    const paused =
      pausedUntil === null ? '' : yellow(`, paused for ${formatDuration(Date.parse(pausedUntil) - nowMs)}`);
    return [`${used} ${SHORTCUTS[name as keyof typeof SHORTCUTS]}, ${useful} useful, ${wrong} wrong${paused}`];
  });
  return parts.length === 0 ? [] : [`  shortcuts of ${list}: ${parts.join('; ')}`];
}

function scheduleText({ enabled, scheduling, intervalMs, idleMs }: ListStatus): string {
  if (!enabled) return 'off';
  if (scheduling === 'fixed') return `every ${formatDuration(intervalMs ?? 0)}`;
  return scheduling === 'idle' ? `automatic, idle ${formatDuration(idleMs ?? 0)}` : 'automatic';
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
function lastSweepText(list: ListStatus, { nowMs, colours: { yellow } }: Page): string {
  const { lastSweep } = list;
  if (lastSweep === null) return '—';
  const warnings = warningTexts(list, nowMs).map((warning) => yellow(`${warning}; `));
  return `${warnings.join('')}${count(lastSweep.pages, 'page')} in ${formatDuration(lastSweep.tookMs)}: ${countsText(lastSweep)}`;
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

function sweepingText({ sweeping }: ListStatus, { cyan, yellow }: Colours): string {
  if (sweeping === null) return '';
  const where = `page ${sweeping.pages}, ${count(sweeping.records, 'record')}`;
  return sweeping.running ? cyan(`sweeping: ${where}`) : yellow(`interrupted at ${where}`);
}

function subscriptionsText(subscriptions: readonly SubscriptionStatus[], page: Page): string {
  const { colours } = page;
  const { yellow, red } = colours;
  if (subscriptions.length === 0) return yellow('no subscriptions: events go to the log only');
  const rows = subscriptions.map((one) => [
    nameText(one, colours),
    one.handler,
    one.on.join(' '),
    one.lagEvents === 0
      ? 'none'
      : yellow(`${count(one.lagEvents, 'event')}, ${formatDuration(one.lagSeconds * 1_000)}`),
    String(one.waiting),
    String(one.active),
    String(one.delayed),
    one.dead === 0 ? '0' : red(String(one.dead)),
  ]);
  const heads = ['subscription', 'handler', 'on', 'lag', 'waiting', 'active', 'delayed', 'dead'];
  return [table(heads, rows, colours), ...troubleLines(subscriptions, page)].join('\n');
}

function nameText({ name, paused, disabled, failingSince }: SubscriptionStatus, { red, yellow }: Colours): string {
  if (disabled !== null) return `${name} ${red('(DISABLED)')}`;
  if (paused) return `${name} ${yellow('(paused)')}`;
  return failingSince === null ? name : `${name} ${yellow('(failing)')}`;
}

/** Subscriptions that deliver nothing, with the reason; below the table because reasons are long. */
function troubleLines(
  subscriptions: readonly SubscriptionStatus[],
  { nowMs, colours: { red, yellow } }: Page,
): string[] {
  return subscriptions.flatMap(({ name, disabled, failingSince }) => {
    if (disabled !== null) {
      const { at, reason, missing } = disabled;
      const lost = missing ? ', it misses events that log.retention dropped' : '';
      return [red(`${name}: disabled since ${at}${lost} (changefeed enable ${name} continues it): ${reason}`)];
    }
    if (failingSince === null) return [];
    return [yellow(`${name}: every attempt has failed for ${formatDuration(nowMs - Date.parse(failingSince))}`)];
  });
}
