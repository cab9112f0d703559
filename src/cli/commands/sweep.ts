import pc from 'picocolors';
import type { ListSweep } from '../../app.js';
import { ChangefeedError, messageOf } from '../../errors.js';
import type { ListName } from '../../events/lists.js';
import { formatDuration } from '../../runtime/duration.js';
import { openService } from '../../service.js';
import type { GlobalOptions, Io } from '../io.js';
import { countsText } from '../print-status.js';
import { progressView } from '../progress.js';

export interface SweepOptions extends GlobalOptions {
  args: ListName[];
  workspace?: string;
  timeout: number;
  json?: boolean;
}

/** `changefeed sweep`: returns when every event found is handled or a dead letter; 1 when a list could not be completed. */
export async function sweep(
  { args, workspace, timeout, json = false, config: path }: SweepOptions,
  io: Io,
): Promise<number> {
  const { feed } = await openService(io, { path, quiet: true });
  const progress = progressView(io);
  try {
    await feed.start(['dispatch', 'handle']);
    const lists = args.length === 0 ? undefined : args;
    const sweeps = await feed.sweep({ lists, workspace, signal: io.signal, onProgress: (now) => progress.show(now) });
    progress.stop();
    await feed.waitUntilHandled({ timeoutMs: timeout, signal: io.signal });
    // Standard output may be a handler's: the summary of a person's command stands beside it.
    if (json) io.out(JSON.stringify(sweeps.map(asData), null, 2));
    else for (const one of sweeps) io.err(summaryLine(one));
    return sweeps.some(({ outcome }) => outcome === 'incomplete') ? 1 : 0;
  } finally {
    progress.stop();
    await feed.stop();
  }
}

function summaryLine(one: ListSweep): string {
  const name = one.list.padEnd(12);
  if (one.outcome === 'incomplete') return `${pc.red('✗')} ${name}  ${messageOf(one.error)}`;
  const { startedAt, completedAt, mode, pages, counts } = one.summary;
  const took = formatDuration(Date.parse(completedAt) - Date.parse(startedAt));
  const what = mode === 'baseline' ? 'baseline' : `${counts.created + counts.edited + counts.refreshed} events`;
  return `${pc.green('✓')} ${name}  ${what.padEnd(10)}  ${countsText({ ...counts })}  ${pc.dim(`(${pages} pages, ${took})`)}`;
}

function asData(one: ListSweep): object {
  const { workspace, list, outcome } = one;
  if (outcome === 'complete') return { workspace, list, outcome, ...one.summary };
  const code = one.error instanceof ChangefeedError ? one.error.code : undefined;
  return { workspace, list, outcome, code, error: messageOf(one.error) };
}
