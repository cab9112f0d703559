import { openService } from '../../app/process.js';
import { checkWorkspace } from '../arguments.js';
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
  { json = false, from = 'now', type, follow, workspace, config: path }: TailOptions,
  io: Io,
): Promise<number> {
  const { feed, config } = await openService(io, { path, quiet: true });
  try {
    checkWorkspace(workspace, config);
    const signal = AbortSignal.any([io.signal, feed.redisGone]);
    const options = { from, types: type, workspace, follow, signal };
    for await (const { event } of feed.tail(options)) {
      io.out(json ? JSON.stringify(event) : eventLine(event, { colours: io.colours.out, columns: io.columns }));
    }
    feed.redisGone.throwIfAborted();
  } finally {
    await feed.stop();
  }
  return 0;
}
