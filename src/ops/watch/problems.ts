/** Finds what needs attention in the status; of subscriptions: `subscription-problems.ts`. Pure. */
import type { ProcessStatus } from '../../redis/process-registry.js';
import { isOften } from '../../feed/detect/restless.js';
import { isAsLongAsPages } from '../../crm/full-page.js';
import { REFUSED } from '../../redis/conditions.js';
import { isoTime } from '../../kit/clock.js';
import { knownMs, SKEW_MS } from '../../kit/stored-time.js';
import type { Held } from '../../feed/detect/held.js';
import type { Formats } from '../../words/format.js';
import { textOfHeld, type Facts } from '../../words/problems.js';
import { msBetween, problem, runsMs, sentence, type Observed } from './problem.js';
import type { ListStatus, Problem, WorkspaceStatus } from './status.js';
import { subscriptionProblems, unconfigured } from './subscription-problems.js';

/** While a process has just started, others may still be starting. */
const GRACE_MS = 30_000;
/** Failed turns of a loop over this time are no slip. The waits between them grow to half of it. */
const LOOP_FAILING_MS = 60_000;
/** Longer than a start, when all lists are due at once. */
const OVERLOADED_MS = 30_000;
/** A loop whose last failure is older runs again, in a turn that takes long. */
const LOOP_FAILED_MS = 120_000;

/**
 * @param redisIsJustBack processes may not have reported themselves since
 * @returns errors first. A problem that several lists share, such as a refused token, is in the result once
 */
export function problemsOf(status: Observed, { redisIsJustBack = false } = {}): Problem[] {
  const found = [
    ...redisProblems(status),
    ...(redisIsJustBack ? [] : missingRoles(status)),
    ...stalledLoops(status),
    ...failingLoops(status),
    ...overload(status),
    ...differingRules(status),
    ...missingRules(status),
    ...refusedFiles(status),
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

export function isError({ severity }: Problem): boolean {
  return severity === 'error';
}

/** Two problems with the same name are the same problem. */
export function nameOf({ kind, workspace, subject }: Problem): string {
  return `${kind} ${workspace ?? ''} ${subject}`;
}

function redisProblems({ redis: { evictionPolicy, mayEvict, refuses, forbids } }: Observed): Problem[] {
  const subject = 'redis';
  const problems: Problem[] = [];
  if (mayEvict) problems.push(problem('error', 'redis.evicts', { subject, facts: { policy: evictionPolicy ?? '' } }));
  if (refuses === null) return problems;
  const facts = { why: `refused.${refuses}`, error: REFUSED[refuses].error, command: forbids ?? '' };
  return [...problems, problem('error', 'redis.refuses', { subject, facts })];
}

function missingRoles({ at, redis, processes, subscriptions, workspaces }: Observed): Problem[] {
  // Where nothing is written, processes cannot report themselves; and in a new state they have not done so yet.
  const isNew = ({ stateSince }: WorkspaceStatus): boolean =>
    stateSince !== null && msBetween(stateSince, at) < GRACE_MS;
  if (redis.refuses !== null || redis.mayEvict || workspaces.some(isNew)) return [];
  const handled = subscriptions.some(({ consumer }) => consumer === null) ? (['handle'] as const) : [];
  const needed = subscriptions.length === 0 ? (['poll'] as const) : (['poll', 'dispatch', ...handled] as const);
  const isPolled = workspaces.some(({ lists }) => lists.some(({ enabled }) => enabled));
  if (processes.length > 0 && processes.every((one) => runsMs(one, at) < GRACE_MS)) return [];
  return needed.flatMap((role) => {
    // Other processes may share this Redis and run other workspaces.
    const isTaken = workspaces.every(({ name }) =>
      processes.some((one) => one.roles.includes(role) && one.workspaces.includes(name)),
    );
    if (isTaken || (role === 'poll' && !isPolled)) return [];
    return [problem('error', 'role.missing', { subject: `role:${role}`, facts: { role, effect: `effect.${role}` } })];
  });
}

function stalledLoops({ processes }: Observed): Problem[] {
  return processes.flatMap(({ stalled, pid, host }) =>
    stalled.map(({ loop, since }) =>
      problem('error', 'loop.stalled', { subject: `loop:${loop}`, since, facts: { loop, host, pid: String(pid) } }),
    ),
  );
}

function failingLoops({ at: now, processes }: Observed): Problem[] {
  return processes.flatMap(({ failing, pid, host }) =>
    failing
      .filter(({ since, at }) => msBetween(since, at) >= LOOP_FAILING_MS && msBetween(at, now) < LOOP_FAILED_MS)
      .map(({ loop, since, error }) => {
        const facts = { loop, host, pid: String(pid), error: sentence(error) };
        return problem('error', 'loop.failing', { subject: `loop:${loop}`, since, facts });
      }),
  );
}

/** Once: all processes share the lists, and the answer is the same. */
function overload({ processes }: Observed): Problem[] {
  const [worst] = processes.toSorted((one, other) => (other.waiting?.forMs ?? 0) - (one.waiting?.forMs ?? 0));
  if (worst?.waiting === undefined || worst.waiting.forMs < OVERLOADED_MS) return [];
  const { pid, host, waiting, workspaces } = worst;
  const facts = { host, pid: String(pid), count: workspaces.length, lists: waiting.lists, forMs: waiting.forMs };
  return [problem('warning', 'process.overloaded', { subject: 'role:poll', facts })];
}

/** Each process reads the file from where it runs. After a change they read it within seconds of each other. */
function differingRules({ at, processes }: Observed): Problem[] {
  const [first, ...others] = processes.filter(
    ({ rules, rulesSince, startedAt }) => rules !== undefined && msBetween(rulesSince ?? startedAt, at) >= GRACE_MS,
  );
  const other = others.find(({ rules }) => rules !== first?.rules);
  if (first === undefined || other === undefined) return [];
  const of = ({ pid, host }: ProcessStatus): string => `${pid} (${host})`;
  return [problem('warning', 'rules.differ', { subject: 'rules', facts: { one: of(first), other: of(other) } })];
}

/** Once: where several processes miss them, those that run without them are worse off. */
function missingRules({ processes }: Observed): Problem[] {
  const found = processes.flatMap(({ rulesMissing }) => rulesMissing ?? []);
  const worst = found.find(({ run }) => !run) ?? found[0];
  if (worst === undefined) return [];
  const { rules: count, since, file, run } = worst;
  const facts = { count, file, text: run ? 'rules.missing' : 'rules.begun without' };
  return [problem('error', 'rules.missing', { subject: 'rules', since, facts })];
}

/** What ran goes on. After the next start of its process it would not. */
function refusedFiles({ processes }: Observed): Problem[] {
  return processes.flatMap(({ refused = [], pid, host }) =>
    refused.map(({ what, since, error }) => {
      const facts = { what: `refused.${what}`, pid: String(pid), host, error: sentence(error) };
      return problem('warning', 'configuration.refused', { subject: what, since, facts });
    }),
  );
}

/** The clock of a process was set or is wrong, or a stored time says that one was. Once: one cause, one remedy. */
function clockSteps({ at, redis, processes, workspaces }: Observed): Problem[] {
  const nowMs = Date.parse(at);
  const say = (what: string, facts: Facts, since: string | null = null): Problem =>
    problem('warning', 'clock.stepped', { subject: 'clock', since, facts: { what: `clock.${what}`, ...facts } });
  const of = ({ pid, host }: ProcessStatus): Facts => ({ host, pid: String(pid) });
  const lists = workspaces.flatMap(({ name, lists }) => lists.map((list) => ({ name, ...list })));
  return [
    ...processes.flatMap((one) => {
      const { byMs, agoMs } = one.clock?.stepped ?? { byMs: 0, agoMs: 0 };
      const facts = { ...of(one), byMs: Math.abs(byMs) };
      return byMs === 0 ? [] : [say(byMs < 0 ? 'back' : 'forward', facts, isoTime(nowMs - agoMs))];
    }),
    ...(Math.abs(redis.clockApartMs) > SKEW_MS ? [say('here', { byMs: Math.abs(redis.clockApartMs) })] : []),
    ...processes.flatMap((one) => {
      const byMs = Math.abs(one.clock?.apartMs ?? 0);
      return byMs > SKEW_MS ? [say('apart', { ...of(one), byMs })] : [];
    }),
    ...lists.flatMap(({ name, list, lastSweep, failure }) => {
      const time = [lastSweep?.completedAt, failure?.at].find(
        (one) => one !== undefined && knownMs(one, nowMs) === null,
      );
      return time === undefined ? [] : [say('future', { workspace: name, list, time })];
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
  return [problem('error', 'state.rewound', { workspace, subject: 'workspace', since, facts: stateRewound })];
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
  // All lists use one token: a refused token is one problem of the workspace.
  if (code === 'CF_UNAUTHORISED') {
    const remedy =
      'give the workspace the newest token, by its option "token". Issuing a new token in the CRM makes the old one invalid.';
    const error = shared === undefined ? message : `Workspace "${workspace}": ${shared}: ${remedy}`;
    return [problem('error', 'workspace.unauthorized', { workspace, subject: 'workspace', since, facts: { error } })];
  }
  if (shared !== undefined) return [];
  const kind = code === 'CF_SOURCE_CHANGED' ? 'source.changed' : 'sweep.failed';
  const facts = { error: message, code, why: `failure.${code}` };
  return [problem('error', kind, { workspace, list, subject: `list:${list}`, since, facts })];
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
    const isOne = others.length === 0;
    const facts = { who: isOne ? 'away.one' : 'away.several', workspace: first, count: names.size, error: shared };
    const concerned = isOne
      ? { workspace: first, subject: 'workspace' }
      : { workspace: null, subject: `workspaces:${first}` };
    return problem('error', 'api.away', { ...concerned, since, facts });
  });
}

function lateness(workspace: string, { list, dueAt }: ListStatus, at: string): Problem {
  const facts = { forMs: msBetween(dueAt ?? at, at) };
  return problem('error', 'list.late', { workspace, list, subject: `list:${list}`, since: dueAt, facts });
}

function listWarnings(
  workspace: string,
  { list, silence, restless, unmatched, held }: ListStatus,
  at: string,
): Problem[] {
  const subject = { workspace, list, subject: `list:${list}` };
  const warnings: Problem[] = [];
  if (silence !== null) {
    const { kind, since } = silence;
    const facts = { what: `silent.${kind}`, forMs: Math.max(0, msBetween(since, at)) };
    warnings.push(problem('warning', 'list.silent', { ...subject, since, facts }));
  }
  const often = restless.filter(isOften).sort((one, other) => (one.since < other.since ? -1 : 1));
  const [first] = often;
  if (first !== undefined) {
    const { since } = first;
    const fields = often.slice(0, FIELDS_NAMED).map((one) => `"${one.field}" (${restlessText(one)})`);
    const facts = { fields: `${fields.join(', ')}${andMore(often)}` };
    warnings.push(problem('warning', 'list.restless', { ...subject, since, facts }));
  }
  if (unmatched.length > 0) {
    const opens = unmatched.some(({ option }) => option === 'mask');
    const fields = unmatched.slice(0, FIELDS_NAMED).map(({ option, pattern }) => `${option} "${pattern}"`);
    const facts = {
      fields: `${fields.join(', ')}${andMore(unmatched)}`,
      effect: opens ? 'misnamed.mask' : 'misnamed.other',
    };
    warnings.push(problem('warning', 'list.misnamed', { ...subject, facts }));
  }
  for (const one of held) {
    const { what, since } = one;
    warnings.push(problem('warning', `${what}.held`, { ...subject, since, facts: heldFacts(one) }));
  }
  return warnings;
}

const FIELDS_NAMED = 3;
const andMore = ({ length }: readonly unknown[]): string => (length > FIELDS_NAMED ? ` +${length - FIELDS_NAMED}` : '');

function restlessText({ times, share }: ListStatus['restless'][number]): string {
  return `${times}×, ${Math.round(100 * share)} %`;
}

/** A cursor that is not found ends a list after its first page, without an error. */
function cutShort(workspace: string, { list, lastSweep }: ListStatus, lists: readonly ListStatus[]): Problem[] {
  if (lastSweep?.pages !== 1) return [];
  const { longestPage, completedAt } = lastSweep;
  const others = lists.flatMap((one) =>
    one.lastSweep !== null && one.lastSweep.pages > 1 ? [one.lastSweep.longestPage] : [],
  );
  if (!isAsLongAsPages(longestPage, others)) return [];
  const facts = { count: longestPage };
  return [problem('warning', 'list.cut', { workspace, list, subject: `list:${list}`, since: completedAt, facts })];
}

function heldFacts({ what, why, count, of, known }: Held): Facts {
  const isReplaced = why === 'replaced' && known !== undefined;
  const reason = what === 'removals' || isReplaced ? why : 'too many';
  return { held: `held.${what}.${reason}`, count, of, ...(isReplaced && { seen: known.seen, known: known.of }) };
}

/** Why records are held. @param formats of the language. @defaultValue English, as in the log */
export function heldText(held: Held, formats?: Formats): string {
  return textOfHeld(heldFacts(held), formats);
}
