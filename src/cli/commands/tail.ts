import { ChangefeedError } from '../../errors.js';
import { openService } from '../../service.js';
import type { GlobalOptions, Io } from '../io.js';
import { eventLine } from '../print-event.js';

export interface TailOptions extends GlobalOptions {
  json?: boolean;
  from?: string;
  type?: string[];
  workspace?: string;
  follow: boolean;
}

/** `changefeed tail`: the log as it grows, until it is told to stop. */
export async function tail(
  { json = false, from, type, follow, workspace, config: path }: TailOptions,
  io: Io,
): Promise<number> {
  const { feed } = await openService(io, { path, quiet: true });
  try {
    const options = { from: placeOf(from), types: type, workspace, follow, signal: io.signal };
    for await (const { event } of feed.tail(options)) io.out(json ? JSON.stringify(event) : eventLine(event));
  } finally {
    await feed.stop();
  }
  return 0;
}

/** A log id as it stands, a time as the log id of its millisecond. */
function placeOf(text: string | undefined): string {
  if (text === undefined || text === 'now') return 'now';
  if (text === 'beginning') return '0';
  if (/^\d+-\d+$/.test(text)) return text;
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return `${ms}-0`;
  throw new ChangefeedError('CF_USAGE', {
    message: `--from: "${text}" is neither a log id (1700000000000-0), nor a time (2026-03-01T09:00:00Z), nor "beginning".`,
  });
}
