/**
 * The log of a process: pino on standard error, because standard output is for events. Fields that may hold a secret are redacted here,
 * for every caller. Contents of records must never be logged.
 */
import pc from 'picocolors';
import { pino, stdTimeFunctions, type DestinationStream } from 'pino';
import { ChangefeedError, describe } from '../errors.js';
import type { Log } from '../runtime/log.js';
import { printable } from '../runtime/printable.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  /** @defaultValue 'info' */
  level?: LogLevel;
  /** Readable lines instead of JSON. @defaultValue false */
  pretty?: boolean;
  /** Only with `pretty`. @defaultValue false */
  colour?: boolean;
  /** @defaultValue standard error, written synchronously: the last line before a crash is the one that matters */
  destination?: DestinationStream;
}

const SECRETS = ['token', 'authorization', 'Authorization', 'secret', 'password'];
/** At the top level, one level down (headers, options) and two levels down (cause, request). */
const PATHS = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

export function createLog({ level = 'info', pretty = false, colour = false, destination }: LogOptions = {}): Log {
  // `process.stderr` and not a stream of pino: the progress bar at the bottom of a terminal must see the lines, and the command line
  // that nobody reads them any more.
  const sink = destination ?? process.stderr;
  const options = {
    level,
    // Without process id and host name: the supervisor's log has them.
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: PATHS, censor: '[redacted]' },
  };
  return pino(options, pretty ? { write: (line) => void sink.write(readableLine(line, colour)) } : sink);
}

/**
 * Reads `LOG_LEVEL`.
 * @throws ChangefeedError CF_CONFIG_INVALID
 */
export function parseLogLevel(text: string | undefined): LogLevel {
  if (text === undefined || text.trim() === '') return 'info';
  const wanted = text.trim().toLowerCase();
  const level = LOG_LEVELS.find((one) => one === wanted);
  if (level !== undefined) return level;
  const found = text.length <= 16 ? JSON.stringify(text) : describe(text);
  throw new ChangefeedError('CF_CONFIG_INVALID', {
    message: `LOG_LEVEL: found ${found}; allowed: ${LOG_LEVELS.join(', ')}.`,
  });
}

interface Line {
  level: string;
  /** ISO 8601 */
  time: string;
  msg?: string;
  [fact: string]: unknown;
}

/**
 * A line as a person reads it: `16:02:24 WARN  Redis is away. workspace=acme seconds=12`.
 * @param json one line as pino writes it; any other text is returned unchanged
 */
function readableLine(json: string, colour: boolean): string {
  let line: Line;
  try {
    line = JSON.parse(json) as Line;
  } catch {
    return json;
  }
  const { level, time, msg = '', ...facts } = line;
  const { dim, red, yellow, green } = pc.createColors(colour);
  const paint = level === 'error' ? red : level === 'warn' ? yellow : level === 'info' ? green : dim;
  // Messages quote what an API answered, which could otherwise control the terminal.
  const shown = Object.entries(facts).map(([name, value]) => `${name}=${factText(value)}`);
  const parts = [dim(clockTime(time)), paint(level.toUpperCase().padEnd(5)), printable(msg)];
  if (shown.length > 0) parts.push(dim(printable(shown.join(' '))));
  return `${parts.join(' ')}\n`;
}

/** Texts without spaces stand as they are, everything else as JSON. */
function factText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

/** In the time zone of the terminal. */
function clockTime(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8);
}
