/**
 * Finds what needs attention in the status. Pure. The `status` command prints the problems, `status --check` fails when one is an error,
 * and the sentinel logs them and reports them by events.
 */
import { formatDuration } from '../runtime/duration.js';
import type { ListStatus, Problem, Status, WorkspaceStatus } from './status.js';

type Facts = Omit<Status, 'problems'>;

/** While a process has just started, others may still be starting. */
const GRACE_MS = 30_000;
/** Long enough that the deployment of a receiver is no problem. */
const FAILING_MS = 45_000;

/** Errors first. A problem that several lists share, such as a refused token, is in the result once. */
export function problemsOf(status: Facts): Problem[] {
  const found = [
    ...redisProblems(status),
    ...missingRoles(status),
    ...stalledLoops(status),
    ...status.workspaces.flatMap((workspace) => workspaceProblems(workspace, status)),
    ...subscriptionProblems(status),
  ];
  const names = found.map(nameOf);
  const distinct = found.filter((one, index) => names.indexOf(nameOf(one)) === index);
  return [...distinct.filter(isError), ...distinct.filter((one) => !isError(one))];
}

export function isError({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error';
}

/** Two problems with the same name are the same problem. */
export function nameOf({ kind, workspace, subject }: Pick<Problem, 'kind' | 'workspace' | 'subject'>): string {
  return `${kind} ${workspace ?? ''} ${subject}`;
}

/** A problem of all workspaces, unless `facts` name one. */
function problem(
  severity: Problem['severity'],
  kind: Problem['kind'],
  facts: Pick<Problem, 'subject' | 'message'> & Partial<Problem>,
): Problem {
  return { kind, severity, workspace: null, list: null, since: null, ...facts };
}

function redisProblems({ redis: { evictionPolicy, mayEvict, refuses } }: Facts): Problem[] {
  const evicts = `Redis has maxmemory-policy "${evictionPolicy ?? ''}" and may evict keys: polling and delivery pause. CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.`;
  const why =
    refuses === 'read-only'
      ? 'it is a read-only replica. Name the primary.'
      : 'its memory is full. Free memory or raise maxmemory.';
  return [
    ...(mayEvict ? [problem('error', 'redis.evicts', { subject: 'redis', message: evicts })] : []),
    ...(refuses === null
      ? []
      : [problem('error', 'redis.refuses', { subject: 'redis', message: `Redis refuses writes: ${why}` })]),
  ];
}

/** What is missing without the role. */
const ROLE_EFFECTS = {
  poll: 'no list is swept',
  dispatch: 'no event reaches a queue',
  handle: 'no handler runs',
} as const;

function missingRoles({ at, processes, subscriptions, workspaces }: Facts): Problem[] {
  const needed = subscriptions.length === 0 ? (['poll'] as const) : (['poll', 'dispatch', 'handle'] as const);
  const isPolled = workspaces.some(({ lists }) => lists.some(({ enabled }) => enabled));
  const oldest = processes.map(({ startedAt }) => startedAt).sort()[0];
  if (oldest !== undefined && msBetween(oldest, at) < GRACE_MS) return [];
  return needed.flatMap((role) => {
    // Other processes may share this Redis and run other workspaces.
    const isTaken = workspaces.every(({ name }) =>
      processes.some((one) => one.roles.includes(role) && one.workspaces.includes(name)),
    );
    if (isTaken || (role === 'poll' && !isPolled)) return [];
    const message = `No process has the role "${role}": ${ROLE_EFFECTS[role]}. Start one: changefeed start --only ${role}, or changefeed start for all roles.`;
    return [problem('error', 'role.missing', { subject: `role:${role}`, message })];
  });
}

function stalledLoops({ processes }: Facts): Problem[] {
  return processes.flatMap(({ stalled, pid, host }) =>
    stalled.map(({ loop, since }) => {
      const message = `The loop "${loop}" of process ${pid} on ${host} has made no progress since ${since}. It is started again; if the problem remains, restart the process.`;
      return problem('error', 'loop.stalled', { subject: `loop:${loop}`, since, message });
    }),
  );
}

function workspaceProblems({ name, lists }: WorkspaceStatus, { at, processes }: Facts): Problem[] {
  const isPolled = processes.some(
    ({ roles, workspaces, startedAt }) =>
      roles.includes('poll') && workspaces.includes(name) && msBetween(startedAt, at) >= GRACE_MS,
  );
  return lists
    .filter(({ enabled }) => enabled)
    .flatMap((list) => [
      ...failureOf(name, list),
      ...(list.late && list.failure === null && isPolled ? [lateness(name, list, at)] : []),
      ...listWarnings(name, list, at),
    ]);
}

function failureOf(workspace: string, { list, failure }: ListStatus): Problem[] {
  if (failure === null) return [];
  const { code, message, since } = failure;
  // All lists use one token: a refused token is one problem of the workspace.
  if (code === 'CF_UNAUTHORISED')
    return [problem('error', 'token.refused', { workspace, subject: 'workspace', since, message })];
  const kind = code === 'CF_SOURCE_CHANGED' ? 'source.changed' : 'sweep.failed';
  return [problem('error', kind, { workspace, list, subject: `list:${list}`, since, message })];
}

function lateness(workspace: string, { list, dueAt }: ListStatus, at: string): Problem {
  const message = `Workspace "${workspace}", list "${list}": a sweep has been due for ${formatDuration(msBetween(dueAt ?? at, at))} and no process has started it. Check whether the polling process is stuck or runs another configuration.`;
  return problem('error', 'list.late', { workspace, list, subject: `list:${list}`, since: dueAt, message });
}

function listWarnings(
  workspace: string,
  { list, silence, heldRemovals, heldCreations }: ListStatus,
  at: string,
): Problem[] {
  const where = `Workspace "${workspace}", list "${list}"`;
  const subject = { workspace, list, subject: `list:${list}` };
  const warnings: Problem[] = [];
  if (silence !== null) {
    const { kind, since } = silence;
    const forText = formatDuration(Math.max(0, msBetween(since, at)));
    const what = kind === 'empty' ? `has shown no records for ${forText}` : `has not changed for ${forText}`;
    const message = `${where} ${what}. Check whether the token may still read it.`;
    warnings.push(problem('warning', 'list.silent', { ...subject, since, message }));
  }
  if (heldRemovals !== null) {
    const { count, of, since } = heldRemovals;
    const message = `${where}: ${count} of ${of} records are missing at once; their removals are held. Accept them: changefeed accept-removals ${list} --workspace ${workspace}.`;
    warnings.push(problem('warning', 'removals.held', { ...subject, since, message }));
  }
  if (heldCreations !== null) {
    const { count, of, since, known, replaced } = heldCreations;
    const why = replaced
      ? `only ${known.seen} of ${known.of} known records were seen. Check whether this is the token of another workspace, or a backup was restored.`
      : 'this is more than may appear at once.';
    const message = `${where}: ${count} of ${of} records are new and are held; ${why} Emit them: changefeed accept-creations ${list} --workspace ${workspace}. Accept them without events: changefeed resync ${list} --workspace ${workspace}.`;
    warnings.push(problem('warning', 'creations.held', { ...subject, since, message }));
  }
  return warnings;
}

/** Reported in each workspace, because each has its own log. */
function subscriptionProblems({ at, subscriptions, workspaces }: Facts): Problem[] {
  return subscriptions.flatMap(({ name, disabled, failingSince, unreadable }) => {
    const subject = `subscription:${name}`;
    if (unreadable !== null) {
      const message = `Subscription "${name}" cannot be read: ${unreadable}`;
      return workspaces.map((one) =>
        problem('error', 'subscription.failing', { workspace: one.name, subject, message }),
      );
    }
    if (disabled !== null) {
      const { at: since, reason } = disabled;
      const message = `Subscription "${name}" has been disabled since ${since}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'} Its events wait. Enable it: changefeed enable ${name}.`;
      return workspaces.map((one) =>
        problem('error', 'subscription.disabled', { workspace: one.name, subject, since, message }),
      );
    }
    if (failingSince === null || msBetween(failingSince, at) < FAILING_MS) return [];
    const message = `Subscription "${name}": every attempt has failed since ${failingSince}. Events are tried again as its "retry" says, then become dead letters (changefeed dead list --subscription ${name}).`;
    return workspaces.map((one) =>
      problem('warning', 'subscription.failing', { workspace: one.name, subject, since: failingSince, message }),
    );
  });
}

function msBetween(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}
