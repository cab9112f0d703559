/** The logger that all code uses (pino implements it): a short fixed message, the facts as fields. */
export interface Log {
  /** Details that help to find a fault. */
  debug(facts: object, message: string): void;
  /** The usual work of a process. */
  info(facts: object, message: string): void;
  /** Something that a person should check. */
  warn(facts: object, message: string): void;
  /** Something that does not work. */
  error(facts: object, message: string): void;
  /** The same log, with these facts in each line. */
  child(facts: object): Log;
}

/** The default for library callers that pass no log. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};

type Level = Exclude<keyof Log, 'child'>;

/** A log that passes each line on at the level that `levelOf` gives; null leaves it out. */
export function filtered(log: Log, levelOf: (level: Level, facts: object, message: string) => Level | null): Log {
  const pass = (level: Level) => (facts: object, message: string) => {
    const at = levelOf(level, facts, message);
    if (at !== null) log[at](facts, message);
  };
  return {
    debug: pass('debug'),
    info: pass('info'),
    warn: pass('warn'),
    error: pass('error'),
    child: (facts) => filtered(log.child(facts), levelOf),
  };
}

/** The line for each decision of a person: on the page, by its API, or by a command. */
export const DECIDED = 'a person decided';
