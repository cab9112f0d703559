/**
 * A log for a person who waits for one command: trouble of one kind is said once, however often it comes back. The
 * command's own summary tells how it ended.
 */
import type { Log } from '../runtime/log.js';

/** What makes two lines of the same message different kinds of trouble. */
const KIND = ['workspace', 'subscription', 'code', 'status'] as const;

export function sayOnce(log: Log, said = new Set<string>()): Log {
  const once = (level: 'warn' | 'error') => (facts: object, message: string) => {
    const known = facts as Readonly<Record<string, unknown>>;
    const kind = JSON.stringify([level, message, ...KIND.map((name) => known[name] ?? null)]);
    if (said.has(kind)) return;
    said.add(kind);
    log[level](facts, message);
  };
  return {
    debug: (facts, message) => log.debug(facts, message),
    info: (facts, message) => log.info(facts, message),
    warn: once('warn'),
    error: once('error'),
    child: (facts) => sayOnce(log.child(facts), said),
  };
}
