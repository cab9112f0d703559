/** Finds what needs attention in the status. Pure. */
import { isOften } from '../detect/restless.js';
import { isAsLongAsPages } from '../crm/full-page.js';
import { rewoundMessage } from '../events/notices.js';
import { REFUSED } from '../redis/conditions.js';
import { formatDuration } from '../runtime/duration.js';
import { isoTime } from '../runtime/clock.js';
import { agoMs, knownMs, SKEW_MS } from '../runtime/stored-time.js';
import type { Held } from '../sweep/store.js';
import type { ListStatus, Problem, ProcessStatus, Status, SubscriptionStatus, WorkspaceStatus } from './status.js';

type Observed = Omit<Status, 'problems'>;

/** While a process has just started, others may still be starting. */
const GRACE_MS = 30_000;
/** Long enough that the deployment of a receiver is no problem. */
const FAILING_MS = 45_000;
/** One failed attempt says nothing about the next. */
const FAILING_ATTEMPTS = 2;
/** A receiver that is away for longer needs a person, although the events are still tried again. */
const FAILING_BADLY_MS = 600_000;
/** So many are no slip of one record. */
const MANY_DEAD = 10;
/** Failed turns of a loop over this time are no slip. The waits between them grow to half of it. */
const LOOP_FAILING_MS = 60_000;
/** Longer than a start, when all lists are due at once. */
const OVERLOADED_MS = 30_000;
/** A subscription that is new begins within seconds. */
const UNREAD_MS = 60_000;
/** A loop whose last failure is older runs again, in a turn that takes long. */
const LOOP_FAILED_MS = 120_000;

/** Errors first. A problem that several lists share, such as a refused token, is in the result once. */
export function problemsOf(status: Observed): Problem[] {
  const found = [
    ...redisProblems(status),
    ...missingRoles(status),
    ...stalledLoops(status),
    ...failingLoops(status),
    ...overload(status),
    ...clockSteps(status),
    ...awayApis(status.workspaces),
    ...status.workspaces.flatMap((workspace) => workspaceProblems(workspace, status)),
    ...subscriptionProblems(status),
    ...unconfigured(status),
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

function redisProblems({ redis: { evictionPolicy, mayEvict, refuses } }: Observed): Problem[] {
  const evicts = `Redis has maxmemory-policy "${evictionPolicy ?? ''}" and may evict keys: polling and delivery pause. CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.`;
  return [
    ...(mayEvict ? [problem('error', 'redis.evicts', { subject: 'redis', message: evicts })] : []),
    ...(refuses === null
      ? []
      : [
          problem('error', 'redis.refuses', {
            subject: 'redis',
            message: `Redis refuses writes: ${REFUSED[refuses].error}.`,
          }),
        ]),
  ];
}

const ROLE_EFFECTS = {
  poll: 'no list is swept',
  dispatch: 'no event reaches a queue',
  handle: 'no handler runs',
} as const;

function missingRoles({ at, processes, subscriptions, workspaces }: Observed): Problem[] {
  const needed = subscriptions.length === 0 ? (['poll'] as const) : (['poll', 'dispatch', 'handle'] as const);
  const isPolled = workspaces.some(({ lists }) => lists.some(({ enabled }) => enabled));
  if (processes.length > 0 && processes.every((one) => runsMs(one, at) < GRACE_MS)) return [];
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

function stalledLoops({ processes }: Observed): Problem[] {
  return processes.flatMap(({ stalled, pid, host }) =>
    stalled.map(({ loop, since }) => {
      const message = `The loop "${loop}" of process ${pid} on ${host} has made no progress since ${since}. It is started again; if the problem remains, restart the process.`;
      return problem('error', 'loop.stalled', { subject: `loop:${loop}`, since, message });
    }),
  );
}

function failingLoops({ at: now, processes }: Observed): Problem[] {
  return processes.flatMap(({ failing, pid, host }) =>
    failing
      .filter(({ since, at }) => msBetween(since, at) >= LOOP_FAILING_MS && msBetween(at, now) < LOOP_FAILED_MS)
      .map(({ loop, since, error }) => {
        const message = `The loop "${loop}" of process ${pid} on ${host} has failed in every turn since ${since}, and what it does is not done. It is tried again at least every 30 s. Last error: ${sentence(error)}`;
        return problem('error', 'loop.failing', { subject: `loop:${loop}`, since, message });
      }),
  );
}

/** Once: all processes share the lists, and the answer is the same. */
function overload({ processes }: Observed): Problem[] {
  const [worst] = processes.toSorted((one, other) => (other.waiting?.forMs ?? 0) - (one.waiting?.forMs ?? 0));
  if (worst?.waiting === undefined || worst.waiting.forMs < OVERLOADED_MS) return [];
  const { pid, host, waiting, workspaces } = worst;
  const message = `Process ${pid} on ${host} has too little processor for ${workspaces.length} workspaces: ${waiting.lists} lists are due and wait for their turn, the first for ${formatDuration(waiting.forMs)}. Nothing is lost, and changes are noticed late. Start further processes with the role "poll", give it more processor, or set intervals.`;
  return [problem('warning', 'process.overloaded', { subject: 'role:poll', message })];
}

/** The clock of a process was set or is wrong, or a stored time says that one was. Once: one cause, one remedy. */
function clockSteps({ at, redis, processes, workspaces }: Observed): Problem[] {
  const nowMs = Date.parse(at);
  const of = ({ pid, host }: ProcessStatus): string => `The clock of process ${pid} on ${host}`;
  const remedy =
    'Nothing waits for it. Times of events, due todos and signatures of webhooks follow the clock: keep it right with a time server.';
  const say = (message: string, since: string | null = null): Problem =>
    problem('warning', 'clock.stepped', { subject: 'clock', since, message: `${message} ${remedy}` });
  const apart = (whose: string, ms: number): Problem =>
    say(`${whose} and that of Redis are ${formatDuration(Math.abs(ms))} apart.`);
  const lists = workspaces.flatMap(({ name, lists }) => lists.map((list) => ({ name, ...list })));
  return [
    ...processes.flatMap((one) => {
      const { byMs, agoMs } = one.clock?.stepped ?? { byMs: 0, agoMs: 0 };
      const how = `was set ${byMs < 0 ? 'back' : 'forward'} by ${formatDuration(Math.abs(byMs))}${byMs < 0 ? '' : ', or the machine was suspended'}`;
      return byMs === 0 ? [] : [say(`${of(one)} ${how}.`, isoTime(nowMs - agoMs))];
    }),
    ...(Math.abs(redis.clockApartMs) > SKEW_MS ? [apart('The clock of this machine', redis.clockApartMs)] : []),
    ...processes.flatMap((one) =>
      Math.abs(one.clock?.apartMs ?? 0) > SKEW_MS ? [apart(of(one), one.clock?.apartMs ?? 0)] : [],
    ),
    ...lists.flatMap(({ name, list, lastSweep, failure }) => {
      const time = [lastSweep?.completedAt, failure?.at].find(
        (one) => one !== undefined && knownMs(one, nowMs) === null,
      );
      const what = `Workspace "${name}", list "${list}": the stored time ${time} lies in the future, so a clock was ahead, or is behind now.`;
      return time === undefined ? [] : [say(what)];
    }),
  ];
}

function rewindOf({ name: workspace, stateRewound, lists }: WorkspaceStatus, at: number): Problem[] {
  if (stateRewound === null) return [];
  const { to: since } = stateRewound;
  // A sweep that began before may have been resumed behind the pages that were read before.
  const isOver = lists.every(({ enabled, lastSweep }) => {
    if (!enabled) return true;
    return lastSweep !== null && Date.parse(lastSweep.completedAt) - (lastSweep.tookMs ?? 0) > Date.parse(since);
  });
  if (isOver || knownMs(since, at) === null) return [];
  const message = rewoundMessage(workspace, stateRewound);
  return [problem('error', 'state.rewound', { workspace, subject: 'workspace', since, message })];
}

function workspaceProblems(workspace: WorkspaceStatus, { at, processes }: Observed): Problem[] {
  const { name, lists } = workspace;
  // Where lists wait for their turn, a late one is no news.
  const isPolled = processes.some(
    (one) => one.roles.includes('poll') && one.workspaces.includes(name) && !one.waiting && runsMs(one, at) >= GRACE_MS,
  );
  const ofLists = lists
    .filter(({ enabled }) => enabled)
    .flatMap((list) => [
      ...failureOf(name, list),
      ...(list.late && list.failure === null && isPolled ? [lateness(name, list, at)] : []),
      ...listWarnings(name, list, at),
      ...cutShort(name, list, lists),
    ]);
  return [...rewindOf(workspace, Date.parse(at)), ...ofLists];
}

function failureOf(workspace: string, { list, failure }: ListStatus): Problem[] {
  if (failure === null) return [];
  const { code, message, since, shared } = failure;
  const ofAll = { workspace, subject: 'workspace', since };
  // All lists use one token: a refused token is one problem of the workspace.
  if (code === 'CF_UNAUTHORISED') {
    const remedy =
      'put the newest token into the configuration. Issuing a new token in the CRM makes the old one invalid.';
    const text = shared === undefined ? message : `Workspace "${workspace}": ${shared}: ${remedy}`;
    return [problem('error', 'token.refused', { ...ofAll, message: text })];
  }
  if (shared !== undefined) return [];
  const kind = code === 'CF_SOURCE_CHANGED' ? 'source.changed' : 'sweep.failed';
  return [problem('error', kind, { workspace, list, subject: `list:${list}`, since, message })];
}

/** An API that answers none of the lists is one problem, of all workspaces that have it. */
function awayApis(workspaces: readonly WorkspaceStatus[]): Problem[] {
  const away = new Map<string, { names: Set<string>; since: string }>();
  for (const { name, lists } of workspaces)
    for (const { enabled, failure } of lists) {
      if (!enabled || failure?.shared === undefined || failure.code === 'CF_UNAUTHORISED') continue;
      const { names, since } = away.get(failure.shared) ?? { names: new Set(), since: failure.since };
      away.set(failure.shared, { names: names.add(name), since: since < failure.since ? since : failure.since });
    }
  return [...away].map(([shared, { names, since }]) => {
    const [first = '', ...others] = names;
    const of = others.length === 0 ? `Workspace "${first}"` : `${names.size} workspaces, among them "${first}"`;
    const message = `${of}: ${shared}. No list can be read until it answers; each is tried again at least every 30 s.`;
    const concerned = {
      workspace: others.length === 0 ? first : null,
      subject: others.length === 0 ? 'workspace' : `workspaces:${first}`,
    };
    return problem('error', 'api.away', { ...concerned, since, message });
  });
}

function lateness(workspace: string, { list, dueAt }: ListStatus, at: string): Problem {
  const message = `Workspace "${workspace}", list "${list}": a sweep has been due for ${formatDuration(msBetween(dueAt ?? at, at))} and no process has started it. Check whether the polling process is stuck or runs another configuration.`;
  return problem('error', 'list.late', { workspace, list, subject: `list:${list}`, since: dueAt, message });
}

function listWarnings(workspace: string, { list, silence, restless, held }: ListStatus, at: string): Problem[] {
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
  const often = restless.filter(isOften).sort((one, other) => (one.since < other.since ? -1 : 1));
  const [first] = often;
  if (first !== undefined) {
    const { since } = first;
    const fields = often.slice(0, FIELDS_NAMED).map((one) => `"${one.field}" (${restlessText(one)})`);
    const further = often.length > FIELDS_NAMED ? ` and ${often.length - FIELDS_NAMED} more` : '';
    const message = `${where}: most rows are edited again and again in ${fields.join(', ')}${further}. If nobody edits these by hand, name them under "refreshed" or "ignore" of the list.`;
    warnings.push(problem('warning', 'list.restless', { ...subject, since, message }));
  }
  for (const one of held) {
    const { what, since } = one;
    const message = `${where}: ${heldText(one)} ${whatToDo(what, `${list} --workspace ${workspace}`)}`;
    warnings.push(problem('warning', `${what}.held`, { ...subject, since, message }));
  }
  return warnings;
}

const FIELDS_NAMED = 3;

function restlessText({ times, share }: ListStatus['restless'][number]): string {
  return `${times} times, last on ${Math.round(100 * share)} % of the rows`;
}

/** A cursor that is not found ends a list after its first page, without an error. */
function cutShort(workspace: string, { list, lastSweep }: ListStatus, lists: readonly ListStatus[]): Problem[] {
  if (lastSweep?.pages !== 1) return [];
  const { longestPage, completedAt } = lastSweep;
  const others = lists.flatMap((one) =>
    one.lastSweep !== null && one.lastSweep.pages > 1 ? [one.lastSweep.longestPage] : [],
  );
  if (!isAsLongAsPages(longestPage, others)) return [];
  const message = `Workspace "${workspace}", list "${list}": its only page has ${longestPage} records, as many as whole pages have, and names no cursor. If the CRM shows more records, the cursor has another name now, and nothing behind the first page is read.`;
  return [problem('warning', 'list.cut', { workspace, list, subject: `list:${list}`, since: completedAt, message })];
}

function whatToDo(what: Held['what'], where: string): string {
  const accept = `Accept them: changefeed accept ${where}.`;
  return what === 'removals' ? accept : `${accept} Take them without events: changefeed resync ${where}.`;
}

export function heldText({ what, why, count, of, known }: Held): string {
  if (what === 'removals') return `${count} of ${of} records are missing and their removals are held; ${REASONS[why]}`;
  const isReplaced = why === 'replaced' && known !== undefined;
  const seen = isReplaced ? `only ${known.seen} of ${known.of} known records were seen. ${OTHER_SOURCE}` : TOO_MANY;
  return `${count} of ${of} records are new and are held; ${seen}`;
}

const TOO_MANY = 'this is more than may change at once.';
const OTHER_SOURCE = 'Check whether this is the token of another workspace, or a backup was restored.';
const REASONS: Record<Held['why'], string> = {
  'too many': TOO_MANY,
  replaced: 'the list shows other records than before.',
  creations: 'new records are held too, and the list may be another one.',
};

/** Once for all workspaces: a receiver that is away is one cause. */
function subscriptionProblems({ at, subscriptions, processes }: Observed): Problem[] {
  const dispatching = processes.filter(({ roles }) => roles.includes('dispatch'));
  const dispatchedMs = dispatching.length === 0 ? 0 : Math.min(...dispatching.map((one) => runsMs(one, at)));
  return subscriptions.flatMap((one) =>
    troublesOf(one, { at, dispatchedMs }).map(({ severity, kind, ...facts }) =>
      problem(severity, kind, { subject: `subscription:${one.name}`, ...facts }),
    ),
  );
}

function unconfigured({ unconfigured: found }: Observed): Problem[] {
  const [first] = found;
  if (first === undefined) return [];
  const each = found.map(({ subscription, waiting, dead }) => `"${subscription}" (${waiting} waiting, ${dead} dead)`);
  const message = `No process has these subscriptions in its configuration, and their events are delivered to nobody: ${each.join(', ')}. Give a renamed one its events: changefeed subscriptions rename ${first.subscription} <new name>. Remove what is left of one: changefeed subscriptions forget ${first.subscription}.`;
  return [problem('warning', 'subscription.unconfigured', { subject: 'subscriptions', message })];
}

type Trouble = Pick<Problem, 'severity' | 'kind' | 'message'> & Partial<Pick<Problem, 'since'>>;

interface Report {
  at: string;
  /** How long all processes with the role `dispatch` have run; 0 without one. */
  dispatchedMs: number;
}

function troublesOf(subscription: SubscriptionStatus, report: Report): Trouble[] {
  const { name, disabled, unreadable } = subscription;
  if (unreadable !== null) {
    const message = `Subscription "${name}" cannot be read: ${unreadable}`;
    return [{ severity: 'error', kind: 'subscription.failing', message }];
  }
  if (disabled !== null) {
    const { at: since, reason, missing } = disabled;
    const waiting = missing ? 'Its events wait, but log.retention has dropped some of them.' : 'Its events wait.';
    const message = `Subscription "${name}" has been disabled since ${since}: ${sentence(reason)} ${waiting} Enable it: changefeed enable ${name}.`;
    return [{ severity: 'error', kind: 'subscription.disabled', since, message }];
  }
  const fails = failing(subscription, report);
  // Everything is late where the receiver is away.
  return [
    ...fails,
    ...(fails.length > 0 ? [] : late(subscription)),
    ...dead(subscription),
    ...unread(subscription, report),
  ];
}

function failing({ name, failingSince, failures, lastError }: SubscriptionStatus, { at }: Report): Trouble[] {
  const failsMs = failingSince === null || failures < FAILING_ATTEMPTS ? 0 : msBetween(failingSince, at);
  if (failsMs < FAILING_MS) return [];
  const said = lastError === null ? '' : ` Last error: ${sentence(lastError.message)}`;
  const message = `Subscription "${name}": all ${failures} attempts since ${failingSince ?? ''} have failed.${said} Events are tried again as its "retry" says, then become dead letters (changefeed dead list --subscription ${name}).`;
  const severity = failsMs >= FAILING_BADLY_MS ? 'error' : 'warning';
  return [{ severity, kind: 'subscription.failing', since: failingSince, message }];
}

function late({ name, lateSince: since, lagEvents, active, waiting, delayed, paused }: SubscriptionStatus): Trouble[] {
  if (since === null) return [];
  const wait = `${lagEvents ?? 0} events wait: ${active} are handled now, ${waiting} are in the queue, ${delayed} wait for a retry.`;
  const remedy = paused
    ? `Its queue is paused: changefeed enable ${name}.`
    : 'Where handlers are too slow, raise "concurrency", or start further processes with the role "handle".';
  const message = `Subscription "${name}": its oldest event has waited since ${since}. ${wait} ${remedy}`;
  return [{ severity: 'warning', kind: 'delivery.late', since, message }];
}

function dead({ name, dead: letters, lastError }: SubscriptionStatus): Trouble[] {
  if (letters === 0) return [];
  const said = lastError === null ? '' : ` Last error: ${sentence(lastError.message)}`;
  const message = `Subscription "${name}": ${letters === 1 ? '1 dead letter waits' : `${letters} dead letters wait`} for a decision.${said} Correct the cause, then: changefeed dead retry --all --subscription ${name}; or drop them: changefeed dead drop.`;
  return [{ severity: letters >= MANY_DEAD ? 'error' : 'warning', kind: 'delivery.dead', message }];
}

function unread({ name, lagEvents }: SubscriptionStatus, { dispatchedMs }: Report): Trouble[] {
  if (lagEvents !== null || dispatchedMs < UNREAD_MS) return [];
  const message = `Subscription "${name}" has not begun to read the log: no process with the role "dispatch" has it in its configuration, or the log of that process says why it cannot begin.`;
  return [{ severity: 'error', kind: 'delivery.late', message }];
}

/** With a full stop. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** How long a process has run; Infinity where a clock that has stepped does not say it. */
function runsMs({ startedAt }: ProcessStatus, at: string): number {
  return agoMs(startedAt, Date.parse(at)) ?? Infinity;
}

function msBetween(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}
