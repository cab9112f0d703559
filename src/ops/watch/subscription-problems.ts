/** Finds what needs attention in the subscriptions. Pure. */
import type { Facts } from '../../words/problems.js';
import { incompleteFacts } from './incomplete.js';
import { msBetween, problem, runsMs, sentence, type Observed } from './problem.js';
import type { Problem, SubscriptionStatus } from './status.js';

/** Long enough that the deployment of a receiver is no problem. */
const FAILING_MS = 45_000;
/** One failed attempt says nothing about the next. */
const FAILING_ATTEMPTS = 2;
/** A receiver that is away for longer needs a person, although the events are still tried again. */
const FAILING_BADLY_MS = 600_000;
/** What waits for so many times `lateAfter` needs a person. */
const BADLY_LATE = 12;
/** So many are no slip of one record. */
const MANY_DEAD = 10;
/** A subscription that is new begins within seconds. */
const UNREAD_MS = 60_000;

/** Once for all workspaces: a receiver that is away is one cause. */
export function subscriptionProblems({ at, subscriptions, processes }: Observed): Problem[] {
  const dispatching = processes.filter(({ roles }) => roles.includes('dispatch'));
  const dispatchedMs = dispatching.length === 0 ? 0 : Math.min(...dispatching.map((one) => runsMs(one, at)));
  return subscriptions.flatMap((one) => troublesOf(one, { at, dispatchedMs }));
}

function trouble(
  { name, title }: SubscriptionStatus,
  severity: Problem['severity'],
  kind: Problem['kind'],
  facts: Facts,
  since: string | null = null,
): Problem {
  return problem(severity, kind, {
    subject: `subscription:${name}`,
    since,
    facts: { name, called: title ?? name, ...facts },
  });
}

export function unconfigured({ unconfigured: found }: Observed): Problem[] {
  const [first] = found;
  if (first === undefined) return [];
  const names = found.map(({ subscription }) => `"${subscription}"`).join(', ');
  const sum = (of: 'waiting' | 'dead'): number => found.reduce((all, one) => all + one[of], 0);
  const unread = `unread.${found.some((one) => one.unread) ? 'some' : 'none'}`;
  const facts = { name: first.subscription, names, waiting: sum('waiting'), dead: sum('dead'), unread };
  return [problem('warning', 'subscription.unconfigured', { subject: 'subscriptions', facts })];
}

interface Report {
  at: string;
  /** How long all processes with the role `dispatch` have run; 0 without one. */
  dispatchedMs: number;
}

function troublesOf(subscription: SubscriptionStatus, report: Report): Problem[] {
  const { paused, unreadable } = subscription;
  if (unreadable !== null) {
    const facts = { text: 'subscription.unreadable', error: unreadable };
    return [trouble(subscription, 'error', 'subscription.failing', facts)];
  }
  if (paused !== null && paused.at !== null) {
    const { at: since, reason, missing } = paused;
    const facts = { reason: sentence(reason), waiting: missing ? 'waiting.some' : 'waiting.all' };
    return [trouble(subscription, 'error', 'subscription.disabled', facts, since)];
  }
  const fails = failing(subscription, report);
  // Everything is late where the receiver is away.
  return [
    ...fails,
    ...(fails.length > 0 ? [] : late(subscription, report)),
    ...dead(subscription),
    ...incomplete(subscription),
    ...wrongCopy(subscription),
    ...unread(subscription, report),
  ];
}

function failing(subscription: SubscriptionStatus, { at }: Report): Problem[] {
  const { failingSince, failures, lastError, digest, consumer } = subscription;
  const failsMs = failingSince === null || failures < FAILING_ATTEMPTS ? 0 : msBetween(failingSince, at);
  if (failsMs < FAILING_MS) return [];
  const then = consumer !== null ? 'failing.pull' : digest ? 'failing.digest' : 'failing.events';
  const facts = { count: failures, then, ...lastErrorFacts(lastError) };
  const severity = failsMs >= FAILING_BADLY_MS ? 'error' : 'warning';
  return [trouble(subscription, severity, 'subscription.failing', facts, failingSince)];
}

function lastErrorFacts(lastError: SubscriptionStatus['lastError']): Facts {
  return lastError === null ? {} : { last: 'last.error', error: sentence(lastError.message) };
}

function late(subscription: SubscriptionStatus, { at }: Report): Problem[] {
  const { lateSince, lateAfterSeconds, lagEvents, active, waiting, delayed, paused, consumer } = subscription;
  if (lateSince === null) return [];
  const severity = msBetween(lateSince, at) > BADLY_LATE * lateAfterSeconds * 1_000 ? 'error' : 'warning';
  if (consumer !== null) {
    const { askedAt, underWay } = consumer;
    const asked = { asked: askedAt === null ? 'asked.never' : 'asked.last', ...(askedAt !== null && { askedAt }) };
    const found = { text: 'delivery.unasked', count: lagEvents ?? 0, underWay, ...asked };
    return [trouble(subscription, severity, 'delivery.late', found, lateSince)];
  }
  const counts = { count: lagEvents ?? 0, active, queued: waiting, delayed };
  const facts = { ...counts, remedy: paused !== null ? 'late.paused' : 'late.slow' };
  return [trouble(subscription, severity, 'delivery.late', facts, lateSince)];
}

function dead(subscription: SubscriptionStatus): Problem[] {
  const { dead: count, lastError } = subscription;
  if (count === 0) return [];
  const facts = { count, ...lastErrorFacts(lastError) };
  return [trouble(subscription, count >= MANY_DEAD ? 'error' : 'warning', 'delivery.dead', facts)];
}

function incomplete(subscription: SubscriptionStatus): Problem[] {
  const subject = `subscription:${subscription.name}`;
  return incompleteFacts(subscription).map((of) => problem('warning', 'snapshot.incomplete', { subject, ...of }));
}

/** A person who compares a copy by hand sees what was found. */
function wrongCopy(subscription: SubscriptionStatus): Problem[] {
  const { verified } = subscription;
  if (verified === null || !verified.nightly || verified.wrong === 0) return [];
  const { wrong: count, behind, missing, extra, at } = verified;
  return [trouble(subscription, 'error', 'copy.wrong', { count, behind, missing, extra }, at)];
}

function unread(subscription: SubscriptionStatus, { dispatchedMs }: Report): Problem[] {
  if (subscription.lagEvents !== null || dispatchedMs < UNREAD_MS) return [];
  return [trouble(subscription, 'error', 'delivery.late', { text: 'delivery.unread' })];
}
