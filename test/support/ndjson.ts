/** What the handler `ndjson` has written so far. A line that is being written is left out. */
import { existsSync, readFileSync } from 'node:fs';
import type { ChangeEvent } from '../../src/events/types.js';

export function eventsIn(file: string): ChangeEvent[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.slice(0, -1).map((line) => JSON.parse(line) as ChangeEvent);
}
