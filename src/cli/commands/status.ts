import { openService } from '../../service.js';
import type { GlobalOptions, Io } from '../io.js';
import { statusText } from '../print-status.js';

export interface StatusOptions extends GlobalOptions {
  json?: boolean;
}

/** `changefeed status`: looks, and changes nothing. */
export async function status({ json = false, config: path }: StatusOptions, io: Io): Promise<number> {
  const { feed } = await openService(io, { path, quiet: true });
  try {
    const now = await feed.status();
    io.out(json ? JSON.stringify(now, null, 2) : statusText(now, io.colours.out));
  } finally {
    await feed.stop();
  }
  return 0;
}
