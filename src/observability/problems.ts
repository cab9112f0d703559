/**
 * Finds what needs attention in the status. Pure. The `status` command prints the problems, `status --check` fails when there are any,
 * and the sentinel logs them and reports them by events.
 */
import type { ListName } from '../events/lists.js';
import { formatDuration } from '../runtime/duration.js';
import type { ListStatus, Problem, Status, WorkspaceStatus } from './status.js';

type Facts = Omit<Status, 'problems'>;

/** While a process has just started, others may still be starting. */
const GRACE_MS = 30_000;

export function problemsOf(status: Facts): Problem[] {
  const found = [
    ...redisProblems(status),
    ...missingRoles(status),
    ...status.processes.flatMap(({ stalled, pid, host }) =>
      stalled.map(({ loop, since }): Problem => {
        const message = `The loop "${loop}" of process ${pid} on ${host} has made no progress since ${since}. It is started again; if the problem remains, restart the process.`;
        return {
          kind: 'loop.stalled',
          severity: 'error',
          subject: `loop:${loop}`,
          workspace: null,
          list: null,
          since,
          message,
        };
      }),
    ),
    ...status.workspaces.flatMap((workspace) => workspaceProblems(workspace, status)),
    ...disabledSubscriptions(status),
    ...failingSubscriptions(status),
  ];
  return [...found.filter(isError), ...found.filter((problem) => !isError(problem))];
}

export function isError({ severity }: Pick<Problem, 'severity'>): boolean {
  return severity === 'error';
}

function redisProblems({ redis: { evictionPolicy, mayEvict, refuses } }: Facts): Problem[] {
  const about = { severity: 'error', subject: 'redis', workspace: null, list: null, since: null } as const;
  const policy = `Redis has maxmemory-policy "${evictionPolicy ?? ''}" and may evict keys: polling and delivery pause. CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.`;
  const why =
    refuses === 'read-only'
      ? 'it is a read-only replica. Name the primary.'
      : 'its memory is full. Free memory or raise maxmemory.';
  return [
    ...(mayEvict ? [{ ...about, kind: 'redis.evicts' as const, message: policy }] : []),
    ...(refuses === null
      ? []
      : [{ ...about, kind: 'redis.refuses' as const, message: `Redis refuses writes: ${why}` }]),
  ];
}

/** What each role does, for a message about its absence. */
const NEEDED_FOR = {
  poll: 'no list is swept',
  dispatch: 'no event reaches a queue',
  handle: 'no handler runs',
} as const;

function missingRoles({ at, processes, subscriptions, workspaces }: Facts): Problem[] {
  const needed = subscriptions.length === 0 ? (['poll'] as const) : (['poll', 'dispatch', 'handle'] as const);
  const polled = workspaces.some(({ lists }) => lists.some(({ enabled }) => enabled));
  const oldest = processes.map(({ startedAt }) => startedAt).sort()[0];
  if (oldest !== undefined && Date.parse(at) - Date.parse(oldest) < GRACE_MS) return [];
  return needed.flatMap((role) => {
    // Other processes may share this Redis and run other workspaces.
    const isTaken = workspaces.every(({ name }) =>
      processes.some((one) => one.roles.includes(role) && one.workspaces.includes(name)),
    );
    if (isTaken || (role === 'poll' && !polled)) return [];
    const message = `No process has the role "${role}": ${NEEDED_FOR[role]}. Start one: changefeed start --only ${role}, or changefeed start for all roles.`;
    const where = { subject: `role:${role}`, workspace: null, list: null, since: null };
    return [{ kind: 'role.missing', severity: 'error', ...where, message }];
  });
}

function workspaceProblems({ name, lists }: WorkspaceStatus, { at, processes }: Facts): Problem[] {
  const polled = processes.some(
    ({ roles, workspaces, startedAt }) =>
      roles.includes('poll') && workspaces.includes(name) && Date.parse(at) - Date.parse(startedAt) >= GRACE_MS,
  );
  const enabled = lists.filter((list) => list.enabled);
  return enabled.flatMap((list) => {
    const where = { workspace: name, list: list.list, subject: `list:${list.list}` };
    return [
      ...failureOf(list).map((problem) => ({ ...where, ...problem })),
      ...(list.late && list.failure === null && polled ? [{ ...where, ...lateness(name, list, at) }] : []),
      ...warningsOf(name, list, at).map((problem) => ({ ...where, ...problem })),
    ];
  });
}

type About = Omit<Problem, 'workspace' | 'list' | 'subject'> &
  Partial<Pick<Problem, 'subject'>> & { list?: ListName | null };

function failureOf({ failure }: ListStatus): About[] {
  if (failure === null) return [];
  const { code, message, since } = failure;
  // All lists use one token: a refused token is one problem of the workspace.
  if (code === 'CF_UNAUTHORISED')
    return [{ kind: 'token.refused', severity: 'error', since, message, subject: 'workspace', list: null }];
  if (code === 'CF_SOURCE_CHANGED') return [{ kind: 'source.changed', severity: 'error', since, message }];
  return [{ kind: 'sweep.failed', severity: 'error', since, message }];
}

function lateness(workspace: string, { list, dueAt }: ListStatus, at: string): About {
  const forMs = Date.parse(at) - Date.parse(dueAt ?? at);
  const message = `Workspace "${workspace}", list "${list}": a sweep has been due for ${formatDuration(forMs)} and no process has started it. Check whether the polling process is stuck or runs another configuration.`;
  return { kind: 'list.late', severity: 'error', since: dueAt, message };
}

function warningsOf(
  workspace: string,
  { list, silence, heldRemovals, heldCreations }: ListStatus,
  at: string,
): About[] {
  const where = `Workspace "${workspace}", list "${list}"`;
  const warnings: About[] = [];
  if (silence !== null) {
    const forText = formatDuration(Math.max(0, Date.parse(at) - Date.parse(silence.since)));
    const what = silence.kind === 'empty' ? `has shown no records for ${forText}` : `has not changed for ${forText}`;
    const message = `${where} ${what}. Check whether the token may still read it.`;
    warnings.push({ kind: 'list.silent', severity: 'warning', since: silence.since, message });
  }
  if (heldRemovals !== null) {
    const { count, of, since } = heldRemovals;
    const message = `${where}: ${count} of ${of} records are missing at once; their removals are held. Accept them: changefeed accept-removals ${list} --workspace ${workspace}.`;
    warnings.push({ kind: 'removals.held', severity: 'warning', since, message });
  }
  if (heldCreations !== null) {
    const { count, of, since, known, replaced } = heldCreations;
    const why = replaced
      ? `only ${known.seen} of ${known.of} known records were seen. Check whether this is the token of another workspace, or a backup was restored.`
      : 'this is more than may appear at once.';
    const message = `${where}: ${count} of ${of} records are new and are held; ${why} Emit them: changefeed accept-creations ${list} --workspace ${workspace}. Accept them without events: changefeed resync ${list} --workspace ${workspace}.`;
    warnings.push({ kind: 'creations.held', severity: 'warning', since, message });
  }
  return warnings;
}

function disabledSubscriptions({ subscriptions, workspaces }: Facts): Problem[] {
  return subscriptions.flatMap(({ name, disabled }) => {
    if (disabled === null) return [];
    const message = `Subscription "${name}" has been disabled since ${disabled.at}: ${disabled.reason} Its events wait. Enable it: changefeed enable ${name}.`;
    const about = { kind: 'subscription.disabled', severity: 'error', subject: `subscription:${name}` } as const;
    return workspaces.map((workspace) => {
      return { ...about, workspace: workspace.name, list: null, since: disabled.at, message };
    });
  });
}

/** Long enough that the deployment of a receiver is no problem. */
const FAILING_MS = 45_000;

function failingSubscriptions({ at, subscriptions, workspaces }: Facts): Problem[] {
  return subscriptions.flatMap(({ name, disabled, failingSince: since }) => {
    if (disabled !== null || since === null || Date.parse(at) - Date.parse(since) < FAILING_MS) return [];
    const message = `Subscription "${name}": every attempt has failed since ${since}. Events are tried again as its "retry" says, then become dead letters (changefeed dead list --subscription ${name}).`;
    const about = { kind: 'subscription.failing', severity: 'warning', subject: `subscription:${name}` } as const;
    return workspaces.map((workspace) => ({ ...about, workspace: workspace.name, list: null, since, message }));
  });
}

/** A problem that several lists share, such as a refused token, is kept once. */
export function distinct(problems: readonly Problem[]): Problem[] {
  const byName = new Map<string, Problem>();
  for (const problem of problems) {
    const name = nameOf(problem);
    if (!byName.has(name)) byName.set(name, problem);
  }
  return [...byName.values()];
}

/** Two problems with the same name are the same problem. */
export function nameOf({ kind, workspace, subject }: Pick<Problem, 'kind' | 'workspace' | 'subject'>): string {
  return `${kind} ${workspace ?? ''} ${subject}`;
}
