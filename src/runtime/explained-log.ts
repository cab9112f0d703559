/** A log for everything that uses Redis: failures that follow from trouble which was logged once go to the debug level. */
import type { Log } from './log.js';

export interface Failure {
  error: unknown;
  code: unknown;
  /** It is reported as over. */
  isOver: boolean;
}

export function explainedLog(log: Log, isExplained: (failure: Failure) => boolean): Log {
  const unlessExplained = (level: 'info' | 'warn' | 'error') => (facts: object, message: string) => {
    const { error, code } = facts as { error?: unknown; code?: unknown };
    const isFailure = error !== undefined || code !== undefined;
    log[isFailure && isExplained({ error, code, isOver: level === 'info' }) ? 'debug' : level](facts, message);
  };
  return {
    debug: (facts, message) => log.debug(facts, message),
    info: unlessExplained('info'),
    warn: unlessExplained('warn'),
    error: unlessExplained('error'),
    child: (facts) => explainedLog(log.child(facts), isExplained),
  };
}
