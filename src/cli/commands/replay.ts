import { openService } from '../../app/process.js';
import { checkWorkspace } from '../arguments.js';
import type { GlobalOptions, Io } from '../io.js';
import { count } from '../text.js';

export interface ReplayOptions extends GlobalOptions {
  subscription: string;
  from: string;
  to?: string;
  workspace?: string;
  json?: boolean;
}

/**
 * `changefeed replay`: puts the events into the queue, where a process with the role `handle` finds them. What it has not
 * sent when it is told to stop, or is killed, is sent by the processes with the role `dispatch`.
 */
export async function replay(
  { subscription, from, to, workspace, json = false, config: path }: ReplayOptions,
  io: Io,
): Promise<number> {
  const { feed, config } = await openService(io, { path, quiet: true });
  try {
    checkWorkspace(workspace, config);
    const result = await feed.replay({ subscription, from, to, workspace, signal: io.signal });
    if (json) io.out(JSON.stringify(result));
    else io.out(`${count(result.events, 'event')} sent to "${subscription}" again${whereItEnded(result)}`);
    return result.interrupted ? 1 : 0;
  } finally {
    await feed.stop();
  }
}

function whereItEnded({ interrupted, reached }: { interrupted: boolean; reached: Readonly<Record<string, string>> }) {
  const places = Object.entries(reached).map(([workspace, logId]) => `${workspace} up to ${logId}`);
  if (!interrupted) return '';
  const far = places.length === 0 ? '' : ` (${places.join(', ')})`;
  return ` so far${far}; the running service, or the next one, sends the rest`;
}
