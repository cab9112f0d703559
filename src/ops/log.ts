/** pino on standard error: standard output is for events. Secrets are redacted; record contents are never logged. */
import pc from 'picocolors';
import { pino, stdTimeFunctions, type DestinationStream } from 'pino';
import { ChangefeedError, describe } from '../kit/errors.js';
import type { Clock } from '../kit/clock.js';
import { filtered, type Log } from '../kit/log.js';
import { printable } from '../kit/printable.js';

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

/** The log of the command: lines of JSON on standard error, with secrets redacted. */
export function createLog({ level = 'info', pretty = false, colour = false, destination }: LogOptions = {}): Log {
  // Not a stream of pino: the progress bar must see the lines, and the command line that nobody reads any more.
  const sink = destination ?? process.stderr;
  const options = {
    level,
    // The log of the supervisor has the process id and the host name.
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: PATHS, censor: '[redacted]' },
  };
  return pino(options, pretty ? { write: (line) => void sink.write(readableLine(line, colour)) } : sink);
}

/** @throws ChangefeedError CF_CONFIG_INVALID */
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

/** Facts that make two lines with the same message different kinds. */
const KIND: readonly string[] = ['workspace', 'subscription', 'code', 'status'];

/** Each kind of warning or error once, however often it occurs, such as a dead letter of each of 500 events. */
export function logOnce(log: Log): Log {
  const logged = new Set<string>();
  return filtered(log, (level, facts, message) => {
    if (level === 'debug' || level === 'info') return level;
    const kind = kindOf([level, message], facts, KIND);
    if (logged.has(kind)) return null;
    logged.add(kind);
    return level;
  });
}

/** Facts that make two lines of a service two causes. */
const CAUSE = [...KIND, 'list', 'loop', 'problem', 'subject'];
const REPEAT_MS = 1_000;
/** A bound of the memory: with more kinds, one may be logged twice in a second. */
const MOST_KINDS = 10_000;

/** Each kind of warning or error once a second, the others at the debug level. The children are of handlers, and not limited. */
export function limitRepeats(log: Log, clock: Clock): Log {
  const loggedMs = new Map<string, number>();
  const limited = filtered(log, (level, facts, message) => {
    if (level === 'debug' || level === 'info') return level;
    const [kind, nowMs] = [kindOf([level, message], facts, CAUSE), clock.monotonic()];
    if (nowMs - (loggedMs.get(kind) ?? -Infinity) < REPEAT_MS) return 'debug';
    if (loggedMs.size >= MOST_KINDS) loggedMs.clear();
    loggedMs.set(kind, nowMs);
    return level;
  });
  return { ...limited, child: (facts) => log.child(facts) };
}

function kindOf(line: readonly string[], facts: object, names: readonly string[]): string {
  const named = facts as Readonly<Record<string, unknown>>;
  return JSON.stringify([...line, ...names.map((name) => named[name] ?? null)]);
}

/** `16:02:24 WARN  Redis is away. workspace=acme seconds=12`; text that is no line of pino is unchanged. */
function readableLine(json: string, colour: boolean): string {
  let line: { level: string; time: string; msg?: string };
  try {
    line = JSON.parse(json) as typeof line;
  } catch {
    return json;
  }
  const { level, time, msg = '', ...facts } = line;
  const { dim, red, yellow, green } = pc.createColors(colour);
  const paint = { error: red, warn: yellow, info: green }[level] ?? dim;
  // Messages quote what an API answered, which could otherwise control the terminal.
  const shown = Object.entries(facts).map(([name, value]) => `${name}=${factText(value)}`);
  const clockTime = new Date(time).toTimeString().slice(0, 8);
  const parts = [dim(clockTime), paint(level.toUpperCase().padEnd(5)), printable(msg)];
  if (shown.length > 0) parts.push(dim(printable(shown.join(' '))));
  return `${parts.join(' ')}\n`;
}

function factText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
