/** The status as a page for a terminal. */
import type { ListStatus, Status, SubscriptionStatus, WorkspaceStatus } from '../observability/status.js';
import { formatDuration } from '../runtime/duration.js';
import type { Colours } from './colours.js';
import { table } from './table.js';
import { count } from './text.js';

export function statusText(status: Status, colours: Colours): string {
  const nowMs = Date.parse(status.at);
  const workspaces = status.workspaces.map((workspace) => workspaceText(workspace, { nowMs, colours }));
  return [...workspaces, subscriptionsText(status.subscriptions, { nowMs, colours })].join('\n\n');
}

interface Page {
  nowMs: number;
  colours: Colours;
}

function workspaceText({ name, budget, logLength, lists }: WorkspaceStatus, page: Page): string {
  const { bold, yellow } = page.colours;
  const paused = budget.pausedMs > 0 ? yellow(`, paused for ${formatDuration(budget.pausedMs)} after a 429`) : '';
  const head = `${bold(`workspace ${name}`)}  budget ${count(budget.requests, 'request')} per ${budget.perSeconds} s${paused}  log ${count(logLength, 'event')}`;
  const rows = lists.map((list) => [
    list.list,
    list.enabled ? `every ${formatDuration(list.intervalMs)}` : 'off',
    String(list.records),
    freshness(list, page),
    lastSweepText(list, page.colours),
    sweepingText(list, page.colours),
  ]);
  return `${head}\n${table(['list', 'interval', 'records', 'fresh', 'last complete sweep', 'now'], rows, page.colours)}`;
}

function freshness({ baselineAt, lastSweep }: ListStatus, { nowMs, colours }: Page): string {
  if (baselineAt === null || lastSweep === null) return colours.yellow('no baseline yet');
  return `${formatDuration(nowMs - Date.parse(lastSweep.completedAt))} ago`;
}

/** "0 events" must never look like a fault: what was seen stands beside what came of it. */
function lastSweepText({ lastSweep, heldRemovals }: ListStatus, colours: Colours): string {
  if (lastSweep === null) return '—';
  return `${heldText(heldRemovals, colours)}${count(lastSweep.pages, 'page')} in ${formatDuration(lastSweep.tookMs)}: ${countsText(lastSweep.counts)}`;
}

function heldText(held: ListStatus['heldRemovals'], { yellow }: Colours): string {
  if (held === null) return '';
  return yellow(`${held.count} of ${held.of} records vanished at once and are held until accept-removals; `);
}

export function countsText({ seen = 0, ...others }: Readonly<Record<string, number>>): string {
  const parts = Object.entries(others).filter(([, number]) => number > 0);
  return [`${seen} seen`, ...parts.map(([kind, number]) => `${number} ${kind}`)].join(', ');
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

/** What a person has to know of one that delivers nothing, below the table: reasons are long. */
function troubleLines(
  subscriptions: readonly SubscriptionStatus[],
  { nowMs, colours: { red, yellow } }: Page,
): string[] {
  return subscriptions.flatMap(({ name, disabled, failingSince }) => {
    if (disabled !== null) {
      const { at, reason, missing } = disabled;
      const lost = missing ? ', it misses events that log.retention dropped' : '';
      return [red(`${name}: disabled since ${at}${lost} (changefeed enable ${name} has it go on): ${reason}`)];
    }
    if (failingSince === null) return [];
    return [yellow(`${name}: every try has failed for ${formatDuration(nowMs - Date.parse(failingSince))}`)];
  });
}
