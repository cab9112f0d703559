/**
 * The log of a process: pino on standard error, so that standard output stays free for events. What may be a secret is
 * taken out here, whoever logs it; contents of records are nobody's to log.
 */
import { pino, stdTimeFunctions, type DestinationStream } from 'pino';
import { PinoPretty } from 'pino-pretty';
import { ChangefeedError, describe } from '../errors.js';
import type { Log } from '../runtime/log.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  /** @defaultValue 'info' */
  level?: LogLevel;
  /** Lines for people instead of JSON. @defaultValue false */
  pretty?: boolean;
  /** Only with `pretty`. @defaultValue as the terminal can */
  colour?: boolean | undefined;
  /** @defaultValue standard error, written at once: the last line before a crash is the one that matters */
  destination?: DestinationStream;
}

const SECRETS = ['token', 'authorization', 'Authorization', 'secret', 'password'];
/** At the top, one level down (headers, options) and two (cause, request). */
const PATHS = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
const STANDARD_ERROR = 2;

export function createLog({ level = 'info', pretty = false, colour, destination }: LogOptions = {}): Log {
  // On a terminal through the process's own stream: what keeps bars at the bottom of the screen has to see the lines.
  const sink = destination ?? (pretty ? process.stderr : pino.destination({ dest: STANDARD_ERROR, sync: true }));
  const options = {
    level,
    // Process id and host name say nothing that the supervisor's own log does not.
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: PATHS, censor: '[redacted]' },
  };
  return pino(options, pretty ? prettily(sink, colour) : sink);
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

function prettily(sink: DestinationStream, colour: boolean | undefined): DestinationStream {
  return PinoPretty({
    destination: sink as NodeJS.WritableStream & DestinationStream,
    sync: true,
    singleLine: true,
    ...(colour !== undefined && { colorize: colour }),
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
  });
}
