/** The status as a page for a terminal. */
import pc from 'picocolors';
import type { ListStatus, Status, SubscriptionStatus, WorkspaceStatus } from '../observability/status.js';
import { formatDuration } from '../runtime/duration.js';
import { table } from './table.js';

export function statusText(status: Status): string {
  const now = Date.parse(status.at);
  const workspaces = status.workspaces.map((workspace) => workspaceText(workspace, now));
  return [...workspaces, subscriptionsText(status.subscriptions)].join('\n\n');
}

function workspaceText({ name, budget, logLength, lists }: WorkspaceStatus, now: number): string {
  const paused = budget.pausedMs > 0 ? pc.yellow(`, paused for ${formatDuration(budget.pausedMs)} after a 429`) : '';
  const head = `${pc.bold(`workspace ${name}`)}  budget ${budget.requests} requests per ${budget.perSeconds} s${paused}  log ${logLength} events`;
  const rows = lists.map((list) => [
    list.list,
    list.enabled ? `every ${formatDuration(list.intervalMs)}` : 'off',
    String(list.records),
    freshness(list, now),
    lastSweepText(list),
    sweepingText(list),
  ]);
  return `${head}\n${table(['list', 'interval', 'records', 'fresh', 'last complete sweep', 'now'], rows)}`;
}

function freshness({ baselineAt, lastSweep }: ListStatus, now: number): string {
  if (baselineAt === null || lastSweep === null) return pc.yellow('no baseline yet');
  return `${formatDuration(now - Date.parse(lastSweep.completedAt))} ago`;
}

/** "0 events" must never look like a fault: what was seen stands beside what came of it. */
function lastSweepText({ lastSweep }: ListStatus): string {
  if (lastSweep === null) return '—';
  return `${lastSweep.pages} pages in ${formatDuration(lastSweep.tookMs)}: ${countsText(lastSweep.counts)}`;
}

export function countsText({ seen = 0, ...others }: Readonly<Record<string, number>>): string {
  const parts = Object.entries(others).filter(([, count]) => count > 0);
  return [`${seen} seen`, ...parts.map(([kind, count]) => `${count} ${kind}`)].join(', ');
}

function sweepingText({ sweeping }: ListStatus): string {
  if (sweeping === null) return '';
  const where = `page ${sweeping.pages}, ${sweeping.records} records`;
  return sweeping.running ? pc.cyan(`sweeping: ${where}`) : pc.yellow(`interrupted at ${where}`);
}

function subscriptionsText(subscriptions: readonly SubscriptionStatus[]): string {
  if (subscriptions.length === 0) return pc.yellow('no subscriptions: events go to the log only');
  const rows = subscriptions.map((one) => [
    one.name,
    one.handler,
    one.on.join(' '),
    one.lagEvents === 0 ? 'none' : pc.yellow(`${one.lagEvents} events, ${one.lagSeconds} s`),
    String(one.waiting),
    String(one.active),
    String(one.delayed),
    one.dead === 0 ? '0' : pc.red(String(one.dead)),
  ]);
  return table(['subscription', 'handler', 'on', 'lag', 'waiting', 'active', 'delayed', 'dead'], rows);
}
