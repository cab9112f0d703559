/** The log on a terminal that also shows events. It leaves out what would push the events off the screen, and what is there already. */
import { SUBSCRIPTION_DISABLED } from '../dispatch/circuit-breaker.js';
import { PROBLEM } from '../observability/sentinel.js';
import type { Log } from '../runtime/log.js';
import { isAboutSweeps } from './changefeed.js';

export function screenLog(log: Log): Log {
  /** Subjects of problems. */
  const disabledHere = new Set<unknown>();
  return {
    debug: (facts, message) => log.debug(facts, message),
    info: (facts, message) => (isAboutSweeps(message) ? undefined : log.info(facts, message)),
    warn: (facts, message) => log.warn(facts, message),
    error(facts, message) {
      if (message === SUBSCRIPTION_DISABLED && 'subscription' in facts)
        disabledHere.add(`subscription:${String(facts.subscription)}`);
      if (message === PROBLEM && isDisabling(facts) && disabledHere.has(facts.subject)) return;
      log.error(facts, message);
    },
    // A subscription's own lines are its handler's.
    child: (facts) => log.child(facts),
  };
}

function isDisabling(facts: object): facts is { subject: unknown } {
  return 'problem' in facts && facts.problem === 'subscription.disabled' && 'subject' in facts;
}
