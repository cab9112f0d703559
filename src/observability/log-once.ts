/**
 * A log for a person who waits for one command: each kind of warning or error is logged once, however often it occurs, such as a
 * dead letter of each of 500 events. The command's own summary says how it ended.
 */
import type { Log } from '../runtime/log.js';

/** Facts that make two lines with the same message different kinds. */
const KIND = ['workspace', 'subscription', 'code', 'status'] as const;

export function logOnce(log: Log, logged = new Set<string>()): Log {
  const once = (level: 'warn' | 'error') => (facts: object, message: string) => {
    const named = facts as Readonly<Record<string, unknown>>;
    const kind = JSON.stringify([level, message, ...KIND.map((name) => named[name] ?? null)]);
    if (logged.has(kind)) return;
    logged.add(kind);
    log[level](facts, message);
  };
  return {
    debug: (facts, message) => log.debug(facts, message),
    info: (facts, message) => log.info(facts, message),
    warn: once('warn'),
    error: once('error'),
    child: (facts) => logOnce(log.child(facts), logged),
  };
}
