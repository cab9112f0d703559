import { openService } from '../../app/process.js';
import { isError } from '../../observability/problems.js';
import type { GlobalOptions, Io } from '../io.js';
import { statusText } from '../print-status.js';

export interface StatusOptions extends GlobalOptions {
  json?: boolean;
  check?: boolean;
}

/** `changefeed status`: reads, and changes nothing. With `--check` it exits 1 when a problem is an error. */
export async function status({ json = false, check = false, config: path }: StatusOptions, io: Io): Promise<number> {
  const { feed } = await openService(io, { path, quiet: true });
  try {
    const now = await feed.status();
    io.out(json ? JSON.stringify(now, null, 2) : statusText(now, io.colours.out));
    return check && now.problems.some(isError) ? 1 : 0;
  } finally {
    await feed.stop();
  }
}
