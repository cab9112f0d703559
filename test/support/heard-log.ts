/** A log whose lines a test reads. */
import { silentLog, type Log } from '../../src/kit/log.js';

export interface Heard {
  level: 'info' | 'warn' | 'error';
  message: string;
  facts: Readonly<Record<string, unknown>>;
}

/** @returns the log, and what it was given above debug: its children write there too */
export function heardLog(): { log: Log; heard: Heard[] } {
  const heard: Heard[] = [];
  const hears = (level: Heard['level']) => (facts: object, message: string) =>
    void heard.push({ level, message, facts: facts as Heard['facts'] });
  const log: Log = {
    ...silentLog,
    info: hears('info'),
    warn: hears('warn'),
    error: hears('error'),
    child: () => log,
  };
  return { log, heard };
}
