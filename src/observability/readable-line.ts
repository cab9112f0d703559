/** A line of the log as a person reads it: `16:02:24 WARN  Redis is away. workspace=acme seconds=12`. */
import pc from 'picocolors';
import { printable } from '../runtime/printable.js';

interface Line {
  level: string;
  /** ISO 8601 */
  time: string;
  msg?: string;
  [fact: string]: unknown;
}

/** @param json one line as pino writes it; any other text is returned unchanged */
export function readableLine(json: string, colour: boolean): string {
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
